"""Measures one case after the other, both programs in turns, in a temporary folder."""

import argparse
import os
import shutil
import statistics
from pathlib import Path
from typing import List

import versus_cases as cases
from versus_cases import Case
from versus_output import Failed, os_error, printable, tell
from versus_programs import MeanLosses, Peer, Tapeline, Times
from versus_table import Result

LOSS_TOLERANCE = 1e-4  # nats
TEXT_WINDOWS = 40  # of training, in the text of the checkpoint: enough for every block that it is cut into


class Comparison:
    def __init__(self, chosen: argparse.Namespace, folder: Path) -> None:
        self.chosen = chosen
        self.folder = folder
        self.tapeline = Tapeline(chosen.tapeline.resolve(), chosen.threads, folder)
        self.memory_limit = chosen.memory_share * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")

    def run(self, case: Case, encoding: str) -> Result:
        result = Result(
            case.name, encoding, "training" if case.training else "evaluation", case.layers, case.width,
            case.heads, case.length, case.batch, self.chosen.threads, self.chosen.rounds, case.repeats,
            case.torch_repeats, torch_keeps_heap=self.chosen.keep_heap,
        )
        folder = self.folder / "case"
        try:
            folder.mkdir()
            self.measure(case, result, folder)
        except Failed as failure:
            result.status, result.reason = "failed", printable(str(failure))
        except OSError as error:  # a full disk; the next case may have room
            result.status, result.reason = "failed", printable(os_error(error))
        shutil.rmtree(folder, ignore_errors=True)
        return result

    def measure(self, case: Case, result: Result, folder: Path) -> None:
        config, text, tokens = folder / "case.toml", folder / "text.txt", folder / "tokens.txt"
        config.write_text(cases.config_text(case, result.encoding, self.chosen.threads), encoding="ascii")
        result.torch_estimated_bytes = cases.estimated_peak_bytes(case, result.encoding)
        if result.torch_estimated_bytes > self.memory_limit:
            result.status = "not started"
            result.reason = (
                f"PyTorch was not started: it would take about {result.torch_estimated_bytes / 1e9:.1f} GB, "
                f"more than {self.memory_limit / 1e9:.1f} GB ({self.chosen.memory_share:.0%} of the memory)"
            )
            self.time_alone(case, config, result)
            return
        made_up = cases.made_up_text(max(TEXT_WINDOWS * case.trained_length, case.tokens + 1))
        text.write_text(made_up, encoding="ascii")
        tokens.write_text(made_up[: case.tokens + 1], encoding="ascii")
        checkpoint = self.tapeline.make_checkpoint(config, text, folder / "run")
        files = {"checkpoint": str(checkpoint), "tokens": str(tokens)}
        settings = {**cases.peer_settings(case, result.encoding, self.chosen.threads), **files}
        with Peer(settings, folder, self.chosen.keep_heap) as peer:
            about = peer.ask("about")
            result.torch_version, result.torch_blas = about["torch"].text(), about["blas"].text()
            if case.training:
                result.torch_step_peak_bytes = peer.ask("warm_up")["step_peak_bytes"].bytes_or_none()
            compare_losses(self.tapeline.loss(checkpoint, tokens, case), peer, result)
            if result.status == "ok":
                self.take_turns(case, config, peer, result)

    def time_alone(self, case: Case, config: Path, result: Result) -> None:
        times = [self.tapeline.time(config, case, self.chosen.floor) for _ in range(self.chosen.rounds)]
        set_tapeline(result, case, times)

    def take_turns(self, case: Case, config: Path, peer: Peer, result: Result) -> None:
        ours: List[Times] = []
        theirs: List[float] = []
        work = "step" if case.training else "pass"
        for number in range(self.chosen.rounds):
            tell(f"{case.name} {result.encoding}: round {number + 1} of {self.chosen.rounds}")
            ours.append(self.tapeline.time(config, case, self.chosen.floor))
            answers = peer.ask("time", work, case.torch_repeats)["seconds"].items(case.torch_repeats)
            theirs.append(statistics.median(answer.seconds() for answer in answers))
        set_tapeline(result, case, ours)
        result.torch_seconds = statistics.median(theirs)
        result.torch_tokens_per_second = case.tokens / result.torch_seconds
        ratios = [their / our.seconds for our, their in zip(ours, theirs)]
        result.ratio = result.torch_seconds / statistics.median(our.seconds for our in ours)
        result.lowest_ratio, result.highest_ratio = min(ratios), max(ratios)
        if result.floor_seconds is not None:
            result.ratio_at_floor = result.torch_seconds / result.floor_seconds
        if result.tapeline_step_peak_bytes and result.torch_step_peak_bytes:
            result.memory_ratio = result.tapeline_step_peak_bytes / result.torch_step_peak_bytes


def compare_losses(ours: MeanLosses, peer: Peer, result: Result) -> None:
    """The mean over all tokens, and those of every position near the begin of a window and of ranges of
    later ones: a wrong position shows there long before it shows in the mean."""
    theirs = peer.ask("loss", ours.ranges)
    result.tapeline_loss, result.torch_loss = ours.all, theirs["loss"].loss()
    result.torch_peak_bytes = theirs["peak_bytes"].bytes_or_none()
    pairs = [(result.tapeline_loss, result.torch_loss)]
    pairs += [(our, mean.loss()) for our, mean in zip(ours.means, theirs["means"].items(len(ours.means)))]
    result.loss_difference = max(abs(our - their) for our, their in pairs)
    if result.loss_difference > LOSS_TOLERANCE:
        result.status = "losses differ"
        result.reason = (
            f"the losses differ by up to {result.loss_difference:.2g}, in the mean tapeline's is "
            f"{ours.all:.6f} and PyTorch's {result.torch_loss:.6f}: not the same work, and not timed"
        )


def set_tapeline(result: Result, case: Case, times: List[Times]) -> None:
    result.tapeline_seconds = statistics.median(time.seconds for time in times)
    result.tapeline_tokens_per_second = case.tokens / result.tapeline_seconds
    floors = [time.floor_seconds for time in times if time.floor_seconds is not None]
    if floors:
        result.floor_seconds = statistics.median(floors)
        result.floor_ratio = result.tapeline_seconds / result.floor_seconds
    peaks = [time.step_peak_bytes for time in times if time.step_peak_bytes is not None]
    if peaks:
        result.tapeline_step_peak_bytes = statistics.median(peaks)
