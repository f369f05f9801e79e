"""Standard output and standard error, without Python's buffers: what cannot be written is known at once, and not
tried again when Python ends."""

import os

OUTPUT, ERROR = 1, 2


class Failed(Exception):
    """One line for standard error."""


class ReaderLeft(Exception):
    """Nobody reads standard output any longer (`| head -1`): enough was seen, and that is no failure."""


def hold_standard_streams() -> None:
    """A closed one would be the number of the next file that is opened. In its place stands one that cannot be
    written to."""
    while True:
        descriptor = os.open(os.devnull, os.O_RDONLY)
        if descriptor > ERROR:
            os.close(descriptor)
            return


def os_error(error: OSError) -> str:
    what = error.strerror or str(error)
    return what if error.filename is None else f'cannot use "{os.fsdecode(error.filename)}": {what}'


def write(descriptor: int, text: str) -> None:
    left = text.encode("utf-8", "replace")
    while left:
        left = left[os.write(descriptor, left) :]


def print_out(text: str) -> None:
    try:
        write(OUTPUT, text)
    except BrokenPipeError:
        raise ReaderLeft from None
    except OSError as error:
        raise Failed(f"standard output: cannot be written: {error.strerror}") from None


def check_output() -> None:
    """A closed standard output is known before minutes of measuring."""
    try:
        os.write(OUTPUT, b"")
    except OSError as error:
        raise Failed(f"standard output: cannot be written: {error.strerror}") from None


def print_error(text: str) -> None:
    """Where standard error takes nothing there is nobody to tell."""
    try:
        write(ERROR, text)
    except OSError:
        pass


def printable(text: str, most: int = 600) -> str:
    """One line, whatever stands in it."""
    return "".join(letter if letter.isprintable() else "?" for letter in text[:most])


def complain(text: str) -> None:
    print_error(f"versus_pytorch: {printable(text)}\n")


def tell(text: str) -> None:
    """A line that the next one replaces, for someone who watches."""
    if os.isatty(ERROR):
        print_error(f"\r\x1b[K{text}")
