"""The command line of versus_pytorch."""

import argparse
import os
import re
import sys
from pathlib import Path
from typing import Any, Callable, List, NoReturn

import versus_cases as cases
from versus_output import complain, print_out

EXIT_DONE, EXIT_FAILED, EXIT_USAGE, EXIT_STOPPED, EXIT_UNMET = range(5)
MOST_THREADS = 1024  # of tapeline's train.threads
CHECKOUT = Path(__file__).resolve().parents[2]


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        complain(f"{message}; see --help")
        sys.exit(EXIT_USAGE)

    def _print_message(self, message: str, file: Any = None) -> None:
        print_out(message)


def whole_number(most: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        number = int(text) if re.fullmatch("[0-9]{1,9}", text, re.ASCII) else 0
        if not 1 <= number <= most:
            raise argparse.ArgumentTypeError(f'"{text[:40]}" must be a whole number from 1 to {most}')
        return number

    return read


def share(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1
    if not 0 <= number <= 1:
        raise argparse.ArgumentTypeError(f'"{text[:40]}" must be a number from 0 to 1')
    return number


def names_among(known: List[str], what: str) -> Callable[[str], List[str]]:
    """What is named twice is measured once."""

    def read(text: str) -> List[str]:
        names = text.split(",")
        for name in names:
            if name not in known:
                there_are = ", ".join(known)
                raise argparse.ArgumentTypeError(f'there is no {what} "{name[:40]}"; there are {there_are}')
        return list(dict.fromkeys(names))

    return read


def file_name(text: str) -> str:
    if not text:
        raise argparse.ArgumentTypeError("a file is expected, or - for standard output")
    return text


def granted_threads() -> int:
    """More than these OpenMP gives neither program, and tapeline refuses to begin."""
    limit = os.environ.get("OMP_THREAD_LIMIT", "").strip()
    return int(limit) if re.fullmatch("0*[1-9][0-9]{0,8}", limit, re.ASCII) else MOST_THREADS


def command_line(description: str) -> argparse.Namespace:
    parser = Parser(
        prog="versus_pytorch",
        description=description,
        epilog="exit status: 0 done; 1 failed, a case too (the others are measured and shown all the same); 2 a "
        "wrong command line; 3 stopped by a signal (what was finished is shown); 4 losses differ. "
        "example: experiments/bench/versus_pytorch --cases 4x128,6x256 --encodings rope,alibi",
        allow_abbrev=False,
    )
    add = parser.add_argument
    case_names = [case.name for case in cases.CASES + cases.SMALL_CASES]
    default_cases = [case.name for case in cases.CASES]
    encodings = list(cases.ENCODINGS)
    add("--cases", metavar="LIST", type=names_among(case_names, "case"), default=default_cases,
        help=f"which, between commas: {', '.join(case_names)}; default: all but the tiny ones")
    add("--encodings", metavar="LIST", type=names_among(encodings, "encoding"), default=encodings,
        help=f"which, between commas; default: {','.join(encodings)}")
    add("--rounds", metavar="N", type=whole_number(10000), default=5, help="how often the two take turns; default 5")
    add("--threads", metavar="N", type=whole_number(MOST_THREADS), default=2,
        help="threads of each program; default 2")
    add("--json", metavar="FILE", type=file_name,
        help="one JSON object a case, one a line, written when all are measured; -: standard output, as "
        "they come, the table then goes to standard error")
    add("--tapeline", metavar="PATH", type=Path, default=CHECKOUT / "build/release/tapeline",
        help="the program; default: build/release/tapeline of this checkout")
    add("--floor", action="store_true",
        help="measure tapeline's matrix products alone as well, in the same rounds: what its time could fall to "
        "at best; takes about twice as long")
    add("--keep-heap", action="store_true",
        help="PyTorch's heap keeps what it frees (glibc's MALLOC_ variables), faster than as it comes")
    add("--memory-share", metavar="S", type=share, default=0.6,
        help="PyTorch is not started on a case that would take more of the machine's memory; default 0.6")
    chosen = parser.parse_args()
    if chosen.threads > granted_threads():
        parser.error(
            f"--threads: {chosen.threads} were asked for, and OMP_THREAD_LIMIT grants {granted_threads()}; ask "
            "for fewer, or unset it"
        )
    return chosen
