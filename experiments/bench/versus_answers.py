"""What a program answers in JSON, read with care: it may be of another version, or another program altogether."""

import json
import math
from typing import Any, List, Optional

from versus_output import Failed, printable

SHOWN = 80  # characters of what was found


class Answer:
    """A value, with what was run and where in its answer the value stands, for the message when it is not what
    was expected."""

    def __init__(self, value: Any, run: str, place: str = "") -> None:
        self.value, self.run, self.place = value, run, place

    def wrong(self, expected: str) -> Failed:
        try:
            found = json.dumps(self.value, allow_nan=False)
        except (ValueError, RecursionError):  # not finite, or nested too deep
            found = f"a {type(self.value).__name__} that JSON does not have"
        found = printable(found if len(found) <= SHOWN else found[:SHOWN] + "…")
        what = f"{found} as {self.place}" if self.place else found
        return Failed(f'"{self.run}" answered {what}; expected {expected}')

    def __getitem__(self, name: str) -> "Answer":
        if not isinstance(self.value, dict) or name not in self.value:
            raise self.wrong(f'an object with "{name}"')
        return Answer(self.value[name], self.run, f"{self.place}.{name}".lstrip("."))

    def items(self, count: Optional[int] = None) -> List["Answer"]:
        """Of a list that has some, or just so many."""
        if not isinstance(self.value, list) or not self.value or count not in (None, len(self.value)):
            raise self.wrong("a list of one or more" if count is None else f"a list of {count}")
        place = self.place or "item "
        return [Answer(value, self.run, f"{place}[{i}]") for i, value in enumerate(self.value)]

    def only(self) -> "Answer":
        """Of a list of one."""
        if not isinstance(self.value, list) or len(self.value) != 1:
            raise self.wrong("a list of one")
        return self.items()[0]

    def number(self, least: float, most: float, what: str) -> float:
        """bool is an int for Python, and is none here."""
        known = type(self.value) in (int, float) and (type(self.value) is int or math.isfinite(self.value))
        if not known or not least <= self.value <= most:
            raise self.wrong(f"{what}, a number from {least:g} to {most:g}")
        return float(self.value)

    def seconds(self) -> float:
        """Within bounds that no step or pass leaves, and inside which every quotient is finite."""
        return self.number(1e-9, 1e7, "seconds")

    def loss(self) -> float:
        return self.number(0, 1e6, "a mean loss in nats")

    def bytes_or_none(self) -> Optional[float]:
        return None if self.value is None else self.number(0, 1e18, "bytes or null")

    def whole(self, least: int, most: int, what: str) -> int:
        if type(self.value) is not int or not least <= self.value <= most:
            numbers = f"from {least} to {most}" if least < most else f"that is {least}"
            raise self.wrong(f"{what}, a whole number {numbers}")
        return self.value

    def text(self) -> str:
        if not isinstance(self.value, str):
            raise self.wrong("text")
        return printable(self.value, 200)


def shown(output: bytes) -> str:
    """The begin of what was printed, for a message."""
    if not output.strip():
        return "nothing"
    text = output[: 4 * SHOWN].decode("utf-8", "replace")
    text = " ".join(text.split())
    return '"' + printable(text if len(text) <= SHOWN else text[:SHOWN] + "…") + '"'


def read_answer(output: bytes, run: str) -> Answer:
    try:
        return Answer(json.loads(output.decode("utf-8")), run)
    except (ValueError, RecursionError):
        raise Failed(f'"{run}" printed {shown(output)}; expected JSON') from None
