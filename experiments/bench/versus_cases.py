"""What versus_pytorch measures: models and lengths, for either program, and the memory PyTorch needs."""

import random
from dataclasses import dataclass
from typing import Any, Dict, List

ENCODINGS = ("learned", "sinusoidal", "rope", "alibi")
VOCABULARY = 256  # bytes
OPTIMIZER: Dict[str, Any] = {
    "betas": [0.9, 0.99],
    "eps": 1e-8,
    "weight_decay": 0.1,
    "clip": 1.0,
}
LIBRARY_BYTES = 280e6  # Python and PyTorch alone


@dataclass(frozen=True)
class Case:
    """Head width is 32 up to width 128 and 64 above."""

    name: str
    layers: int
    width: int
    heads: int
    length: int  # of the measured windows
    batch: int  # windows of a step or pass
    repeats: int  # steps or passes a round, of tapeline: the median counts
    torch_repeats: int  # the same of PyTorch, which stays warm between the rounds
    training: bool = True
    checkpoint_steps: int = 8

    @property
    def tokens(self) -> int:
        """Of a step or pass."""
        return self.batch * self.length

    @property
    def lr(self) -> float:
        """With these rates the few steps of a checkpoint lead to weights at which positions matter: pairs of
        RoPE or slopes of ALiBi mixed up change a loss by 5e-3 and more somewhere in the window."""
        return 2e-3 if self.width <= 128 else 5e-4

    @property
    def trained_length(self) -> int:
        """Long windows are only evaluated: the checkpoint learns from shorter ones."""
        return self.length if self.training else min(self.length, 128)


CASES = (
    Case("4x128", 4, 128, 4, 128, 16, 10, 10),
    Case("6x256", 6, 256, 4, 256, 8, 3, 3),
    Case("6x384", 6, 384, 6, 256, 8, 3, 3),
    Case("4x128-t2048", 4, 128, 4, 2048, 1, 3, 3),
    Case("eval-4096", 4, 128, 4, 4096, 1, 3, 1, training=False),
    Case("eval-16384", 4, 128, 4, 16384, 1, 3, 1, training=False),
)
# Only by name: whether everything works, in seconds.
SMALL_CASES = (
    Case("tiny", 1, 16, 2, 16, 4, 2, 2, checkpoint_steps=400),
    Case("tiny-eval", 1, 16, 2, 64, 1, 3, 1, training=False, checkpoint_steps=200),
)


def config_text(case: Case, encoding: str, threads: int) -> str:
    """The configuration of tapeline, everything that matters written out."""
    windows = case.batch if case.training else 16
    rows = f"\n[positional.learned]\nrows = {case.length}\n" if encoding == "learned" else ""
    return f"""[model]
layers = {case.layers}
width = {case.width}
heads = {case.heads}
feed_forward = 4
norm = "layer"
norm_epsilon = 1e-5
activation = "gelu"
bias = true
tied = true
dropout = 0

[positional]
kind = "{encoding}"
{rows}
[data]
tokenizer = "bytes"
validation_share = 0
test_share = 0

[train]
length = {case.trained_length}
tokens_per_step = {windows * case.trained_length}
micro_batch = {windows}
steps = {case.checkpoint_steps}
threads = {threads}

[optimizer]
kind = "adamw"
lr = {case.lr}
betas = {OPTIMIZER["betas"]}
eps = {OPTIMIZER["eps"]}
weight_decay = {OPTIMIZER["weight_decay"]}
clip = {OPTIMIZER["clip"]}

[schedule]
kind = "constant"

[evaluate]
lengths = ["1x"]
"""


def peer_settings(case: Case, encoding: str, threads: int) -> Dict[str, Any]:
    """The same for pytorch_peer.py."""
    return {
        "layers": case.layers,
        "width": case.width,
        "heads": case.heads,
        "encoding": encoding,
        "length": case.length,
        "rows": case.length,
        "batch": case.batch,
        "threads": threads,
        "optimizer": {"lr": case.lr, **OPTIMIZER},
    }


def made_up_text(size: int) -> str:
    """Words of a small made-up language, the same ones at every run; the more frequent, the shorter."""
    choice = random.Random(1)
    words = ["".join(choice.choices("etaoinshrdlu", k=1 + number // 12)) for number in range(96)]
    weights = [1 / (1 + number) for number in range(len(words))]
    return " ".join(choice.choices(words, weights, k=size))[:size]


def estimated_peak_bytes(case: Case, encoding: str) -> float:
    """What the PyTorch process takes at its highest.

    Arrays of B H T T numbers: evaluation holds the scores and their softmax at once; training keeps one
    softmax a layer for the backward pass, which holds three more of its own at a time. The mask is T T
    numbers, with ALiBi H T T. Rows of training, in numbers a token: 16 C a layer (inputs of the two norms 2,
    their results 2, q k v 3, what they mix 1, the inner layer before and after GELU 8) and 3 V of the head;
    of one layer at work, in the backward pass as in evaluation, 12 C. Weights stand once, in training with
    gradients and two moments.

    Measured, 4 layers of width 128: evaluation at T 1024, 2048, 4096 within 6, 3, 1 % of it, training at
    T 2048 4 to 7 % below; in training with arrays of a few MB the heap has gaps, and takes up to 17 % more.
    """
    attention = case.batch * case.heads * case.length**2
    mask = case.length**2 * (case.heads if encoding == "alibi" else 1)
    parameters = 12 * case.layers * case.width**2 + (VOCABULARY + case.length) * case.width
    arrays, rows, copies = 2, 12 * case.width, 1
    if case.training:
        arrays = case.layers + 3
        rows += 16 * case.width * case.layers + 3 * VOCABULARY
        copies = 4
    numbers = arrays * attention + mask + rows * case.tokens + copies * parameters
    return LIBRARY_BYTES + 4.0 * numbers


def named_cases(names: List[str]) -> List[Case]:
    """Raises KeyError with the first name that is unknown."""
    known = {case.name: case for case in CASES + SMALL_CASES}
    return [known[name] for name in names]
