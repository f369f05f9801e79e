"""One model in PyTorch, timed on demand: a process of its own, so that memory and threads are its own.

Run by versus_pytorch with one argument, the settings as JSON. It answers every line on standard input, a JSON
array of a word and its arguments, by one line of JSON, and sleeps in between.
"""

import json
import os
import sys
import time
from typing import Any, Dict, List, Set, Tuple

import h5py
import torch
from torch import Tensor, nn

from pytorch_model import VOCABULARY, Transformer

WARM_UP_STEPS = 3


def memory_of_process(key: str) -> int:
    """VmRSS or VmHWM in bytes."""
    with open("/proc/self/status", encoding="ascii") as status:
        for line in status:
            if line.startswith(key + ":"):
                return 1024 * int(line.split()[1])
    raise RuntimeError(f"/proc/self/status does not tell {key}")


def forget_peak_memory() -> None:
    with open("/proc/self/clear_refs", "w", encoding="ascii") as clear:
        clear.write("5")


def loaded_blas() -> str:
    """The file that matrix products come from, symbolic links resolved."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        for line in maps:
            if "blas" in os.path.basename(line.rstrip()) and "/" in line:
                return os.path.realpath(line[line.index("/") :].rstrip())
    return "unknown"


class Peer:
    def __init__(self, settings: Dict[str, Any]) -> None:
        self.settings = settings
        self.length: int = settings["length"]
        sizes = settings["layers"], settings["width"], settings["heads"]
        self.model = Transformer(*sizes, settings["encoding"], self.length, settings["rows"])
        decaying = self.load_weights()
        with open(settings["tokens"], "rb") as file:
            tokens = torch.tensor(list(file.read()))
        self.inputs, self.targets = (part.view(-1, self.length) for part in (tokens[:-1], tokens[1:]))
        self.made_up = torch.randint(VOCABULARY, (4 * settings["batch"] * self.length + 1,))
        self.parameters = list(self.model.parameters())
        self.optimizer = self.make_optimizer(decaying)

    def load_weights(self) -> Set[nn.Parameter]:
        """Returns the parameters that decay. A dataset too many or too few is an error."""
        decaying: Set[nn.Parameter] = set()
        with h5py.File(self.settings["checkpoint"], "r") as file, torch.no_grad():
            left: Set[str] = set()
            file["model"].visititems(lambda name, item: left.add(name) if hasattr(item, "shape") else None)
            for stored in self.model.stored():
                values = torch.from_numpy(file["model"][stored.path][()])
                stored.parameter[stored.first_row :][: len(values)].copy_(values)
                if file["model"][stored.path].attrs["weight_decay"]:
                    decaying.add(stored.parameter)
                left.discard(stored.path)
        if left:
            raise RuntimeError(f"the checkpoint holds what this model has not: {', '.join(sorted(left))}")
        return decaying

    def make_optimizer(self, decaying: Set[nn.Parameter]) -> torch.optim.AdamW:
        chosen = self.settings["optimizer"]
        groups = [
            {"params": [p for p in self.parameters if p in decaying], "weight_decay": chosen["weight_decay"]},
            {"params": [p for p in self.parameters if p not in decaying], "weight_decay": 0.0},
        ]
        # foreach takes a third longer on a processor for the larger models, and as long for the small ones.
        return torch.optim.AdamW(
            groups, lr=chosen["lr"], betas=chosen["betas"], eps=chosen["eps"], foreach=False
        )

    def next_batch(self) -> Tuple[Tensor, Tensor]:
        """Windows of the made-up tokens, begun at random."""
        begins = torch.randint(len(self.made_up) - self.length, (self.settings["batch"],)).tolist()
        windows = torch.stack([self.made_up[begin : begin + self.length + 1] for begin in begins])
        return windows[:, :-1], windows[:, 1:]

    def step(self) -> None:
        """Sampling, forward, backward, clipping and update."""
        inputs, targets = self.next_batch()
        self.optimizer.zero_grad(set_to_none=True)
        self.model(inputs, targets).backward()
        nn.utils.clip_grad_norm_(self.parameters, self.settings["optimizer"]["clip"])
        self.optimizer.step()

    def pass_over_tokens(self) -> float:
        """The mean loss of the given tokens but the first, in windows side by side."""
        with torch.inference_mode():
            return self.model(self.inputs, self.targets).item()

    def warm_up(self) -> Dict[str, Any]:
        """The first steps, and how far they raise the memory of the process."""
        before = memory_of_process("VmRSS")
        try:
            forget_peak_memory()
        except OSError:  # not everywhere allowed
            before = 0
        for _ in range(WARM_UP_STEPS):
            self.step()
        return {"step_peak_bytes": memory_of_process("VmHWM") - before if before else None}

    def loss(self, ranges: List[Tuple[int, int]]) -> Dict[str, Any]:
        """The mean at the weights of the checkpoint, which steps have changed, and the means of ranges of
        positions in the windows, first and last counted from 1."""
        self.load_weights()
        with torch.inference_mode():
            losses = self.model(self.inputs, self.targets, reduction="none").view(-1, self.length)
        means = [losses[:, first - 1 : last].mean().item() for first, last in ranges]
        return {"loss": losses.mean().item(), "means": means, "peak_bytes": memory_of_process("VmHWM")}

    def time(self, work: str, count: int) -> Dict[str, Any]:
        """Seconds of each of `count` steps or passes."""
        run = self.step if work == "step" else self.pass_over_tokens
        if work == "step":
            run()  # the other program has left the caches as it likes
        seconds: List[float] = []
        for _ in range(count):
            begin = time.perf_counter()
            run()
            seconds.append(time.perf_counter() - begin)
        return {"seconds": seconds}


def about() -> Dict[str, Any]:
    return {"torch": torch.__version__, "threads": torch.get_num_threads(), "blas": loaded_blas()}


def main() -> None:
    settings = json.loads(sys.argv[1])
    torch.set_flush_denormal(True)  # before there are threads, which take it over
    torch.set_num_threads(settings["threads"])
    torch.manual_seed(1)
    peer = Peer(settings)
    commands = {"about": about, "warm_up": peer.warm_up, "loss": peer.loss, "time": peer.time}
    for line in sys.stdin:
        word, *arguments = json.loads(line)
        print(json.dumps(commands[word](*arguments)), flush=True)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(3)
