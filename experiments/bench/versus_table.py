"""The result of one case of versus_pytorch, and all of them as a table."""

import textwrap
from dataclasses import asdict, dataclass
from typing import Any, Dict, List, Optional

WIDTH = 100
NOTE = """\
ratio: PyTorch's time over tapeline's, medians of {rounds} in turns; range: of the single rounds.
{speed}
memory: tapeline's over PyTorch's, what training steps take above the weights at their peak.
loss: the largest difference of mean losses at the same weights and tokens, over all of them and by
position in the window; {tolerance:g} is allowed.
"""
TOKENS_NOTE = "t/s: tokens a second."
FLOOR_NOTE = """\
floor: tapeline's matrix products alone, by the fastest library, in turns with its steps or passes.
/floor: ours over it. at floor: PyTorch's over it, the ratio if tapeline did nothing but the products."""


@dataclass
class Result:
    """One JSON line. None: does not apply, or could not be measured. Times are seconds of a step or pass."""

    case: str
    encoding: str
    work: str  # "training" | "evaluation"
    layers: int
    width: int
    heads: int
    length: int
    batch: int
    threads: int
    rounds: int
    tapeline_repeats: int  # steps or passes a round
    torch_repeats: int
    status: str = "ok"  # "ok" | "not started" (PyTorch, for its memory) | "losses differ" | "failed"
    reason: Optional[str] = None
    tapeline_seconds: Optional[float] = None
    torch_seconds: Optional[float] = None
    ratio: Optional[float] = None
    lowest_ratio: Optional[float] = None
    highest_ratio: Optional[float] = None
    floor_seconds: Optional[float] = None  # tapeline's products alone
    floor_ratio: Optional[float] = None  # tapeline's time over it
    ratio_at_floor: Optional[float] = None  # PyTorch's time over it
    tapeline_tokens_per_second: Optional[float] = None
    torch_tokens_per_second: Optional[float] = None
    tapeline_step_peak_bytes: Optional[float] = None
    torch_step_peak_bytes: Optional[float] = None
    memory_ratio: Optional[float] = None
    tapeline_loss: Optional[float] = None
    torch_loss: Optional[float] = None
    loss_difference: Optional[float] = None  # the largest, of the mean and of means by position
    torch_estimated_bytes: Optional[float] = None  # the whole process
    torch_peak_bytes: Optional[float] = None  # the whole process, where no later step hides it
    torch_keeps_heap: bool = False
    torch_version: Optional[str] = None
    torch_blas: Optional[str] = None

    def json(self) -> Dict[str, Any]:
        return asdict(self)


def figure(value: Optional[float], form: str, factor: float = 1) -> str:
    return "" if value is None else format(value * factor, form)


def short(value: Optional[float]) -> str:
    """123, 45.6k, 1.2M."""
    if value is None:
        return ""
    for least, letter in ((1e6, "M"), (1e3, "k")):
        if value >= least:
            return f"{value / least:.3g}{letter}" if value < 1000 * least else f"{value / least:.0f}{letter}"
    return f"{value:.3g}"


def speed_cells(result: Result, floor: bool) -> List[str]:
    """Beside the ratio: what it could be at best, or tokens a second."""
    if floor:
        return [
            figure(result.floor_seconds, ".1f", 1e3),
            figure(result.floor_ratio, ".2f"),
            figure(result.ratio_at_floor, ".2f"),
        ]
    return [short(result.tapeline_tokens_per_second), short(result.torch_tokens_per_second)]


def cells(result: Result, floor: bool) -> List[str]:
    torch_time = figure(result.torch_seconds, ".1f", 1e3)
    if result.status == "not started":
        torch_time = f"~{figure(result.torch_estimated_bytes, '.1f', 1e-9)} GB"
    elif result.status != "ok":
        torch_time = result.status
    spread = ""
    if result.lowest_ratio is not None:
        spread = f"{result.lowest_ratio:.2f}-{result.highest_ratio:.2f}"
    return [
        result.case,
        result.encoding,
        figure(result.tapeline_seconds, ".1f", 1e3),
        torch_time,
        figure(result.ratio, ".2f"),
        spread,
        *speed_cells(result, floor),
        figure(result.memory_ratio, ".2f"),
        figure(result.loss_difference, ".0e"),
    ]


def header(floor: bool) -> List[str]:
    speeds = ["floor ms", "/floor", "at floor"] if floor else ["ours t/s", "torch t/s"]
    return ["case", "encoding", "ours ms", "torch ms", "ratio", "range", *speeds, "memory", "loss"]


WORDS = 2  # columns of words, aligned to the left


def table(results: List[Result], rounds: int, tolerance: float, floor: bool) -> str:
    rows = [header(floor)] + [cells(result, floor) for result in results]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = []
    for row in rows:
        fitted = [
            cell.ljust(width) if column < WORDS else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths))
        ]
        lines.append("  ".join(fitted).rstrip())
    lines.insert(1, "-" * max(len(line) for line in lines))
    lines.append("")
    for result in results:
        if result.reason:
            lines += textwrap.wrap(f"{result.case} {result.encoding}: {result.reason}", WIDTH) + [""]
    counted = f"{rounds} round{'' if rounds == 1 else 's'}"
    speed = FLOOR_NOTE if floor else TOKENS_NOTE
    return "\n".join(lines) + "\n" + NOTE.format(rounds=counted, speed=speed, tolerance=tolerance)
