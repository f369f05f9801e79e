"""The two programs that versus_pytorch compares, as child processes."""

import glob
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, Dict, List

from versus_cases import Case

PEER = Path(__file__).with_name("pytorch_peer.py")
OPENBLAS = "/usr/lib/*/openblas-openmp/libblas.so.3"


class Failed(Exception):
    """One line for standard error."""


def last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return re.sub(r"[^\x20-\x7e]", "?", lines[-1])[:400] if lines else "it said nothing"


def clean_environment(threads: int, cache: Path) -> Dict[str, str]:
    """Without what would change tapeline's configuration or either program's threads."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TAPELINE_")}
    for name in ("OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "MKL_NUM_THREADS", "PYTHONPATH"):
        kept.pop(name, None)
    return {**kept, "OMP_NUM_THREADS": str(threads), "XDG_CACHE_HOME": str(cache)}


def openblas_folder() -> str:
    """Of the OpenMP flavour: with another one PyTorch's and OpenBLAS's threads would fight for the cores."""
    found = sorted(glob.glob(OPENBLAS))
    if not found:
        raise Failed(f"PyTorch's best library is missing ({OPENBLAS}); apt-get install libopenblas0-openmp")
    return os.path.dirname(found[0])


class Child:
    """A process that ends with the block that it was started in. In a session of its own: Ctrl-C reaches the
    driver alone, which then ends it."""

    def __init__(self, command: List[str], environment: Dict[str, str], errors: Path) -> None:
        self.errors = errors
        with open(errors, "wb") as standard_error:
            self.process = subprocess.Popen(
                command,
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=standard_error,
                text=True,
                start_new_session=True,
            )

    def __enter__(self) -> "Child":
        return self

    def __exit__(self, *_: Any) -> None:
        self.process.kill()
        self.process.communicate()

    def last_error(self) -> str:
        return last_line(self.errors.read_text(encoding="utf-8", errors="replace"))


class Tapeline:
    def __init__(self, program: Path, threads: int, folder: Path) -> None:
        self.program = program
        self.threads = threads
        self.folder = folder
        self.version = (self.run("--version").splitlines() or ["tapeline"])[0]

    def run(self, *words: str) -> str:
        environment = clean_environment(self.threads, self.folder / "cache")
        with Child([str(self.program), *words], environment, self.folder / "tapeline.err") as child:
            output, _ = child.process.communicate()
            if child.process.returncode != 0:
                command = " ".join(["tapeline", *words[:2]])
                ended = f'"{command} …" ended with {child.process.returncode}'
                raise Failed(f"{ended}: {child.last_error()}")
        return output

    def json_of(self, *words: str) -> Dict[str, Any]:
        output = self.run(*words, "--json")
        try:
            return json.loads(output)
        except ValueError:
            printed = last_line(output)
            raise Failed(f'"tapeline {words[0]}" was to print JSON and printed: {printed}') from None

    def make_checkpoint(self, config: Path, text: Path, run: Path) -> Path:
        """Trains a few steps; returns the checkpoint's file."""
        self.run("train", str(config), "--text", str(text), "--out", str(run), "--quiet")
        latest = run / "checkpoints" / "latest"
        return latest.with_name(latest.read_text(encoding="utf-8").strip())

    def loss(self, checkpoint: Path, tokens: Path, case: Case) -> Dict[str, Any]:
        """The mean loss of the tokens but the first, in windows side by side: "nll"; by position in them:
        "positions", each with "first", "last" (from 1 on) and "nll"."""
        windows = ["--lengths", str(case.length), "--protocol", "nonoverlapping", "--scored", "all"]
        answer = self.json_of("evaluate", str(checkpoint), "--text", str(tokens), *windows)
        (result,) = answer["results"]
        if result["scored_tokens"] != case.tokens:
            raise Failed(f"tapeline scored {result['scored_tokens']} tokens; expected {case.tokens}")
        return result

    def time(self, config: Path, case: Case, floor: bool) -> Dict[str, Any]:
        """Median seconds of a step or pass, and with `floor` of its products alone in turns with it, which
        take about as long; of a step, where it is told, the memory too."""
        options = ["--repeats", str(case.repeats), *([] if floor else ["--no-floor"])]
        if case.training:
            answer = self.json_of("bench", "step", str(config), *options)
            seconds, peak = answer["step_seconds"], answer["step_peak_rss_bytes"]
        else:
            lengths = ["--lengths", str(case.length)]
            (answer,) = self.json_of("bench", "evaluate", str(config), *lengths, *options)["lengths"]
            seconds, peak = answer["seconds"], None
        floor_seconds = answer["floor_seconds"] if floor else None
        return {"seconds": seconds, "step_peak_bytes": peak, "floor_seconds": floor_seconds}


# glibc gives large arrays back to the system whenever they are freed; every step then faults them in anew.
KEPT_HEAP = {
    "MALLOC_MMAP_THRESHOLD_": "10000000000",
    "MALLOC_TRIM_THRESHOLD_": "10000000000",
    "MALLOC_TOP_PAD_": "200000000",
}


class Peer(Child):
    """The model in PyTorch. It sleeps while it is not asked."""

    def __init__(self, settings: Dict[str, Any], folder: Path, keep_heap: bool) -> None:
        environment = clean_environment(settings["threads"], folder / "cache")
        paths = [openblas_folder(), environment.get("LD_LIBRARY_PATH", "")]
        environment["LD_LIBRARY_PATH"] = os.pathsep.join(path for path in paths if path)
        environment["PYTHONDONTWRITEBYTECODE"] = "1"
        if keep_heap:
            environment.update(KEPT_HEAP)
        super().__init__([sys.executable, str(PEER), json.dumps(settings)], environment, folder / "peer.err")

    def __enter__(self) -> "Peer":
        return self

    def answer(self) -> Dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            ended = self.process.wait()
            how = f"was ended by signal {-ended}" if ended < 0 else f"ended with {ended}"
            raise Failed(f"the PyTorch process {how}: {self.last_error()}")
        return json.loads(line)

    def ask(self, word: str, *arguments: Any) -> Dict[str, Any]:
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(json.dumps([word, *arguments]) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # the answer tells why
        return self.answer()
