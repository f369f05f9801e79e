// Stands in front of OpenBLAS in a test, and answers as its pthread flavour would.
extern "C" {
[[gnu::visibility("default")]] int openblas_get_parallel() { return 1; }
[[gnu::visibility("default")]] char* openblas_get_config() {
  static char text[] = "OpenBLAS 0.3.21 stand-in";
  return text;
}
}
