"""A child process with all that it starts: it ends with the block that it was started in."""

import os
import re
import select
import signal
import subprocess
import time
from pathlib import Path
from typing import Any, Dict, List

import versus_signals
from versus_output import Failed

MOST_OUTPUT = 1 << 24  # bytes; an answer has a few thousand
GROUP_SECONDS = 0.2  # that what was killed may take to be gone; an orphan may stay a zombie for ever


def last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return re.sub(r"[^\x20-\x7e]", "?", lines[-1][:300]) if lines else "it said nothing"


class Child:
    """In a session, and so in a process group, of its own: Ctrl-C reaches the driver alone, which then ends the
    whole group."""

    def __init__(self, command: List[str], environment: Dict[str, str], errors: Path, asked: bool) -> None:
        """`errors` takes standard error. Only one that is `asked` has something on standard input."""
        versus_signals.check()
        self.errors = errors
        with open(errors, "wb") as standard_error:
            try:
                self.process = subprocess.Popen(
                    command,
                    env=environment,
                    stdin=subprocess.PIPE if asked else subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=standard_error,
                    start_new_session=True,
                    bufsize=0,
                )
            except OSError as error:
                raise Failed(f'"{command[0]}" cannot be run: {error.strerror}') from None
        assert self.process.stdout is not None
        self.output = self.process.stdout.fileno()

    def __enter__(self) -> "Child":
        return self

    def __exit__(self, *_: Any) -> None:
        self.kill()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()
        patience = time.monotonic() + GROUP_SECONDS
        while self.signal_group(0) and time.monotonic() < patience:
            time.sleep(0.005)

    def kill(self) -> None:
        """The group before the wait, which gives its number free."""
        if self.process.returncode is None:
            self.signal_group(signal.SIGKILL)
            self.process.wait()

    def signal_group(self, number: int) -> bool:
        """Whether there still is one."""
        try:
            os.killpg(self.process.pid, number)
        except OSError:
            return False
        return True

    def has_ended(self) -> bool:
        """Leaves it a zombie, so that its number still means its group and no other."""
        return os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None

    def read(self, until_line: bool) -> bytes:
        """All output, or up to the end of a line; what it holds when the child itself has ended, even though
        something that it started may hold the pipe open."""
        parts: List[bytes] = []
        size = 0
        while True:
            ended = self.has_ended()  # asked first: what it wrote is in the pipe by then
            while select.select([self.output], [], [], 0)[0]:
                part = os.read(self.output, 1 << 16)
                parts.append(part)
                size += len(part)
                if size > MOST_OUTPUT:
                    raise Failed(f'"{self.process.args[0]}" printed more than {MOST_OUTPUT >> 20} MiB')
                if until_line and part.endswith(b"\n"):
                    return b"".join(parts)
                if not part:
                    break
            closed = bool(parts) and not parts[-1]
            if ended or (closed and until_line):
                return b"".join(parts)
            # A closed pipe would always be ready to read.
            versus_signals.wait_for(*([] if closed else [self.output]))

    def end(self) -> str:
        """Waits; returns how it ended by itself, and what it said last."""
        while not self.has_ended():
            versus_signals.wait_for()
        self.kill()
        code = self.process.returncode
        how = f"was ended by {signal_name(-code)}" if code < 0 else f"ended with {code}"
        with open(self.errors, "rb") as file:
            file.seek(max(0, os.path.getsize(self.errors) - 4096))
            return f"{how}: {last_line(file.read().decode('utf-8', 'replace'))}"


def signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # real-time signals have no name
        return f"signal {number}"
