"""The two programs that versus_pytorch compares, as child processes."""

import glob
import json
import os
import re
import sys
from pathlib import Path
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

from versus_answers import Answer, read_answer, shown
from versus_cases import Case
from versus_child import Child
from versus_output import Failed

PEER = Path(__file__).with_name("pytorch_peer.py")
VERSION = re.compile(rb"tapeline [!-~][ -~]{0,60}(?=\n)")
OPENBLAS = "/usr/lib/*/openblas-openmp/libblas.so.3"


def clean_environment(threads: int, cache: Path) -> Dict[str, str]:
    """Without what would change tapeline's configuration or either program's threads; OMP_DYNAMIC and the like
    would make PyTorch's OpenBLAS wait for threads that never come."""
    changing = ("TAPELINE_", "OMP_", "GOMP_", "KMP_", "OPENBLAS_", "GOTO_", "MKL_", "PYTHONPATH")
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(changing) or name in ("OMP_THREAD_LIMIT", "OMP_WAIT_POLICY")
    }
    return {**kept, "OMP_NUM_THREADS": str(threads), "XDG_CACHE_HOME": str(cache)}


def openblas_folder() -> str:
    """Of the OpenMP flavour: with another one PyTorch's and OpenBLAS's threads would fight for the cores."""
    found = sorted(glob.glob(OPENBLAS))
    if not found:
        raise Failed(f"PyTorch's best library is missing ({OPENBLAS}); apt-get install libopenblas0-openmp")
    return os.path.dirname(found[0])


def command_words(words: Sequence[str]) -> str:
    """The command without its files and options, for messages."""
    return " ".join(words[: 2 if words[0] == "bench" else 1])


class MeanLosses(NamedTuple):
    """In nats: of all tokens, and of ranges of positions in a window, first and last counted from 1."""

    all: float
    ranges: List[Tuple[int, int]]
    means: List[float]


class Times(NamedTuple):
    seconds: float
    step_peak_bytes: Optional[float]  # of a training step, where it can be told
    floor_seconds: Optional[float]


class Tapeline:
    def __init__(self, program: Path, threads: int, folder: Path) -> None:
        self.program = program
        self.threads = threads
        self.folder = folder
        printed = self.run("--version")
        version = VERSION.match(printed)
        if version is None:
            raise Failed(
                f'"{program} --version" printed {shown(printed)}; expected a line like "tapeline 1.2.3"'
            )
        self.version = version[0].decode("ascii")

    def run(self, *words: str) -> bytes:
        environment = clean_environment(self.threads, self.folder / "cache")
        errors = self.folder / "tapeline.err"
        with Child([str(self.program), *words], environment, errors, asked=False) as child:
            output = child.read(until_line=False)
            ended = child.end()
            if child.process.returncode != 0:
                raise Failed(f'"{self.program} {command_words(words)}" {ended}')
        return output

    def json_of(self, *words: str) -> Answer:
        output = self.run(*words, "--json")
        return read_answer(output, f"{self.program} {command_words(words)}")

    def make_checkpoint(self, config: Path, text: Path, run: Path) -> Path:
        """Trains a few steps; returns the checkpoint's file."""
        self.run("train", str(config), "--text", str(text), "--out", str(run), "--quiet")
        latest = run / "checkpoints" / "latest"
        try:
            name = os.fsdecode(latest.read_bytes().strip())
            checkpoint = latest.with_name(name)  # ValueError: no name of a file
            if not checkpoint.is_file():
                raise ValueError(f'"{name}" is no file')
        except (OSError, ValueError) as error:
            found = error.strerror if isinstance(error, OSError) else str(error)
            raise Failed(
                f'"{self.program} train" ended with 0 and left no checkpoint: checkpoints/latest in the folder '
                f"of --out must name one; found: {found}"
            ) from None
        return checkpoint

    def loss(self, checkpoint: Path, tokens: Path, case: Case) -> MeanLosses:
        """Of the tokens but the first, in windows side by side."""
        windows = ["--lengths", str(case.length), "--protocol", "nonoverlapping", "--scored", "all"]
        answer = self.json_of("evaluate", str(checkpoint), "--text", str(tokens), *windows)
        result = answer["results"].only()
        result["scored_tokens"].whole(case.tokens, case.tokens, "the tokens that were scored")
        ranges, means = [], []
        for part in result["positions"].items():
            first = part["first"].whole(1, case.length, "a position")
            ranges.append((first, part["last"].whole(first, case.length, "a position")))
            means.append(part["nll"].loss())
        return MeanLosses(result["nll"].loss(), ranges, means)

    def time(self, config: Path, case: Case, floor: bool) -> Times:
        """Medians of a step or pass, and with `floor` of its products alone in turns with it, which take about
        as long."""
        options = ["--repeats", str(case.repeats), *([] if floor else ["--no-floor"])]
        if case.training:
            answer = self.json_of("bench", "step", str(config), *options)
            seconds, peak = answer["step_seconds"].seconds(), answer["step_peak_rss_bytes"].bytes_or_none()
        else:
            lengths = ["--lengths", str(case.length)]
            answer = self.json_of("bench", "evaluate", str(config), *lengths, *options)["lengths"].only()
            seconds, peak = answer["seconds"].seconds(), None
        return Times(seconds, peak, answer["floor_seconds"].seconds() if floor else None)


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
        command = [sys.executable, str(PEER), json.dumps(settings)]
        super().__init__(command, environment, folder / "peer.err", asked=True)

    def __enter__(self) -> "Peer":
        return self

    def ask(self, word: str, *arguments: Any) -> Answer:
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(json.dumps([word, *arguments]).encode("ascii") + b"\n")
        except BrokenPipeError:
            pass  # the answer tells why
        line = self.read(until_line=True)
        if not line.endswith(b"\n"):
            raise Failed(f"the PyTorch process {self.end()}")
        return read_answer(line, f"{PEER.name} {word}")
