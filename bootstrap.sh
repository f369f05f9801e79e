#!/usr/bin/env bash
# From a bare Debian 12 to a result: installs what is missing, builds, and runs the demo or the tests.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

# Everything the project needs to be built, run and tested. Nothing is installed by any other line.
packages=(
  bible-kjv
  bible-kjv-text
  cmake
  doctest-dev
  g++
  gnuplot-nox
  libcli11-dev
  libdnnl-dev
  libfmt-dev
  libhdf5-dev
  libhwy-dev
  libopenblas-openmp-dev
  librandom123-dev
  libspdlog-dev
  libssl-dev
  libtomlplusplus-dev
  ninja-build
  nlohmann-json3-dev
)

# What tests read checkpoints with, beside the program's own reader.
test_packages=(
  hdf5-tools
  python3-h5py
)

usage() {
  cat <<'TEXT'
usage: ./bootstrap.sh demo|test

  demo   installs missing packages, builds the program, trains four positional encodings on short windows of
         the King James text, evaluates them on long ones, prints the table and the path of the report
  test   installs missing packages, builds everything and runs all tests
TEXT
}

say() { printf 'bootstrap: %s\n' "$*"; }
stop() {
  printf 'bootstrap: %s\n' "$*" >&2
  exit 1
}

installed() { dpkg-query -W -f='${db:Status-Status}\n' "$1" 2>/dev/null | grep -qx installed; }

install_missing() {
  if ! command -v dpkg-query >/dev/null; then
    say "no dpkg on this system: taking for granted what these Debian packages hold: ${packages[*]}"
    return
  fi
  local missing=() package
  for package in "${packages[@]}"; do
    installed "$package" || missing+=("$package")
  done
  if [ ${#missing[@]} -eq 0 ]; then
    say "all ${#packages[@]} packages are installed"
    return
  fi

  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null || ! sudo -n true 2>/dev/null; then
      stop "these packages are missing and neither root nor sudo without a password is at hand; run as root:" \
        "apt-get install --no-install-recommends ${missing[*]}"
    fi
    as_root=(sudo -n)
  fi
  say "installing ${#missing[@]} of ${#packages[@]} packages: ${missing[*]}"
  local apt=(${as_root[@]+"${as_root[@]}"} env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300)
  "${apt[@]}" update </dev/null || stop "apt-get update failed: is there a network, and a mirror in /etc/apt?"
  "${apt[@]}" install -y --no-install-recommends "${missing[@]}" </dev/null \
    || stop "apt-get could not install: ${missing[*]}"
}

build() {
  say "building $1 in build/release ($(nproc) at a time)"
  cmake --preset release
  cmake --build --preset release --parallel "$(nproc)" --target "$2"
}

if [ $# -ne 1 ]; then
  usage >&2
  exit 2
fi
case "$1" in
  demo)
    install_missing
    build "the program" tapeline
    say "training learned, sinusoidal, rope and alibi at 64 bytes, evaluating up to 1,024; stop with Ctrl-C and"
    say "run the same command to go on"
    exec build/release/tapeline compare --preset toy --text kjv --out runs/demo \
      --encodings learned,sinusoidal,rope,alibi --seeds 1
    ;;
  test)
    packages+=("${test_packages[@]}")
    install_missing
    build "everything" all
    say "running all tests"
    exec ctest --preset release
    ;;
  -h | --help)
    usage
    ;;
  *)
    printf 'bootstrap: unknown argument "%s"\n' "$1" >&2
    usage >&2
    exit 2
    ;;
esac
