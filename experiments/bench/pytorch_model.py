"""The model of tapeline in PyTorch 1.13: a decoder-only pre-norm Transformer with attention written out.

Everything that depends on positions stands in `Positions`; the formulas are those of layers/positional/.
"""

import math
from typing import List, NamedTuple, Optional, Tuple

import torch
from torch import Tensor, nn
from torch.nn import functional

VOCABULARY = 256
NORM_EPSILON = 1e-5
INITIAL_DEVIATION = 0.02  # of token rows, which sinusoidal rows equal in size
BASE = 10000.0  # of RoPE and of the sinusoids


def alibi_slopes(heads: int) -> Tensor:
    """2^(-8h/H); H not a power of two: those of the power below, then every other one of the power above."""
    power = 1 << (heads.bit_length() - 1)
    slopes = [2.0 ** (-8.0 * head / power) for head in range(1, power + 1)]
    slopes += [2.0 ** (-8.0 * (2 * rest + 1) / (2 * power)) for rest in range(heads - power)]
    return torch.tensor(slopes, dtype=torch.float32)


def angles(length: int, width: int) -> Tensor:
    """t * base^(-2p/width) for positions t and pairs p: [length, ceil(width / 2)], in double precision."""
    pairs = torch.arange((width + 1) // 2, dtype=torch.float64)
    frequencies = BASE ** (-pairs / (width / 2))
    return torch.arange(length, dtype=torch.float64)[:, None] * frequencies


def sinusoids(length: int, width: int) -> Tensor:
    """Sines and cosines in turn, as large as fresh token rows: [length, width]."""
    turns = angles(length, width)
    rows = torch.empty(length, width, dtype=torch.float64)
    rows[:, 0::2] = turns.sin()
    rows[:, 1::2] = turns.cos()[:, : width // 2]
    return (rows * (INITIAL_DEVIATION * math.sqrt(2.0))).float()


def score_mask(heads: int, length: int, biased: bool) -> Tensor:
    """What is added to the scores: -infinity at later keys, with ALiBi -m_h (i - j) at earlier ones.

    [length, length], or [heads, length, length]; made in place, since at long lengths it is gigabytes.
    """
    if not biased:
        return torch.full((length, length), -math.inf).triu_(1)
    position = torch.arange(length, dtype=torch.float32)
    mask = torch.empty(heads, length, length)
    for rows, slope in zip(mask, alibi_slopes(heads).tolist()):
        torch.sub(position[None, :], position[:, None], out=rows)
        rows.mul_(slope)
        rows.masked_fill_(rows > 0, -math.inf)
    return mask


def rotate(heads: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
    """RoPE on pairs (p, p + width/2) of the last axis."""
    first, second = heads.chunk(2, dim=-1)
    return torch.cat((first * cosine - second * sine, second * cosine + first * sine), dim=-1)


class Stored(NamedTuple):
    """A dataset below /model of a checkpoint, and the parameter whose rows from `first_row` on it holds."""

    path: str
    parameter: nn.Parameter
    first_row: int = 0


def stored_linear(path: str, linear: nn.Linear, first_row: int = 0) -> List[Stored]:
    return [
        Stored(f"{path}/weight", linear.weight, first_row),
        Stored(f"{path}/bias", linear.bias, first_row),
    ]


def stored_norm(path: str, norm: nn.LayerNorm) -> List[Stored]:
    return [Stored(f"{path}/gain", norm.weight), Stored(f"{path}/shift", norm.bias)]


class Positions(nn.Module):
    """All that an encoding adds, made once for one length."""

    def __init__(self, encoding: str, width: int, heads: int, length: int, rows: int) -> None:
        super().__init__()
        self.table: Optional[nn.Parameter] = None
        self.added: Optional[Tensor] = None
        self.turn: Optional[Tuple[Tensor, Tensor]] = None
        if encoding == "learned":
            self.table = nn.Parameter(torch.empty(rows, width))
        elif encoding == "sinusoidal":
            self.added = sinusoids(length, width)
        elif encoding == "rope":
            turns = angles(length, width // heads)
            self.turn = (turns.cos().float(), turns.sin().float())
        elif encoding not in ("alibi", "none"):
            raise ValueError(f'there is no encoding "{encoding}"')
        self.mask = score_mask(heads, length, encoding == "alibi")

    def add_to_input(self, hidden: Tensor) -> Tensor:
        if self.table is not None:
            return hidden + self.table[: hidden.shape[1]]
        return hidden if self.added is None else hidden + self.added


class SelfAttention(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.scale = 1.0 / math.sqrt(width / heads)
        self.query_key_value = nn.Linear(width, 3 * width)
        self.output = nn.Linear(width, width)

    def forward(self, hidden: Tensor, positions: Positions) -> Tensor:
        batch, length, width = hidden.shape
        joint = self.query_key_value(hidden).view(batch, length, 3, self.heads, width // self.heads)
        joint = joint.permute(2, 0, 3, 1, 4)  # [3, B, H, T, D]
        if positions.turn is None:
            query, key, value = joint.unbind(0)
        else:
            query, key = rotate(joint[:2], *positions.turn).unbind(0)
            value = joint[2]
        scores = (query * self.scale) @ key.transpose(-2, -1)
        scores += positions.mask
        scores = scores.softmax(dim=-1)  # the same name: the array before it is free at once
        mixed = scores @ value  # [B, H, T, D]
        return self.output(mixed.transpose(1, 2).reshape(batch, length, width))


class Block(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.attention_norm = nn.LayerNorm(width, eps=NORM_EPSILON)
        self.attention = SelfAttention(width, heads)
        self.feed_forward_norm = nn.LayerNorm(width, eps=NORM_EPSILON)
        self.inner = nn.Linear(width, 4 * width)
        self.output = nn.Linear(4 * width, width)

    def forward(self, hidden: Tensor, positions: Positions) -> Tensor:
        hidden = hidden + self.attention(self.attention_norm(hidden), positions)
        inner = functional.gelu(self.inner(self.feed_forward_norm(hidden)))
        return hidden + self.output(inner)


class Transformer(nn.Module):
    """`length`: of the windows; `rows`: of a learned table."""

    def __init__(
        self, layers: int, width: int, heads: int, encoding: str, length: int, rows: int
    ) -> None:
        super().__init__()
        self.embedding = nn.Parameter(torch.empty(VOCABULARY, width))
        self.positions = Positions(encoding, width, heads, length, rows)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.final_norm = nn.LayerNorm(width, eps=NORM_EPSILON)

    def forward(self, tokens: Tensor, targets: Tensor, reduction: str = "mean") -> Tensor:
        """The mean loss of [B, T] tokens in nats; "none": the loss of each, [B T]."""
        hidden = self.positions.add_to_input(functional.embedding(tokens, self.embedding))
        for block in self.blocks:
            hidden = block(hidden, self.positions)
        logits = functional.linear(self.final_norm(hidden), self.embedding)  # the head is the token table
        rows = logits.view(-1, VOCABULARY)
        return functional.cross_entropy(rows, targets.reshape(-1), reduction=reduction)

    def stored(self) -> List[Stored]:
        """All parameters by their names in a checkpoint."""
        stored = [Stored("embedding/weight", self.embedding)]
        if self.positions.table is not None:
            stored.append(Stored("positional/learned/table", self.positions.table))
        for number, block in enumerate(self.blocks):
            path = f"blocks/{number}"
            stored += stored_norm(f"{path}/attention_norm", block.attention_norm)
            joint = block.attention.query_key_value
            for part, name in enumerate(("query", "key", "value")):
                first = part * (joint.out_features // 3)
                stored += stored_linear(f"{path}/attention/{name}", joint, first)
            stored += stored_linear(f"{path}/attention/output", block.attention.output)
            stored += stored_norm(f"{path}/feed_forward_norm", block.feed_forward_norm)
            stored += stored_linear(f"{path}/feed_forward/inner", block.inner)
            stored += stored_linear(f"{path}/feed_forward/output", block.output)
        return stored + stored_norm("final_norm", self.final_norm)
