"""Signals that stop versus_pytorch. They are noted at once and looked at only where nothing is half made, so that
every child that was started and every file that was made is known and can be ended or removed."""

import _signal as signal  # the part inside Python itself: it takes no time to load

NAMES = {signal.SIGINT: "SIGINT", signal.SIGTERM: "SIGTERM", signal.SIGHUP: "SIGHUP"}
noted = []  # names; the first is what stops, later ones change nothing: the work is ending already


def note(number, _):
    if number in NAMES:
        noted.append(NAMES[number])


for stopping in NAMES:
    if signal.getsignal(stopping) != signal.SIG_IGN:  # as nohup has it
        signal.signal(stopping, note)

import os  # noqa: E402
import select  # noqa: E402

wake_up, written = -1, -1  # the ends of a pipe that every signal writes into


class Stopped(Exception):
    """By the signal that it names."""


def listen():
    """From here on signals, and the end of a child, end a wait. The standard streams must be held by then."""
    global wake_up, written
    wake_up, written = os.pipe()
    os.set_blocking(wake_up, False)
    os.set_blocking(written, False)
    signal.signal(signal.SIGCHLD, note)
    signal.set_wakeup_fd(written, warn_on_full_buffer=False)


def listen_no_more():
    """Signals are still noted. Two descriptors are free, which removing a folder may need."""
    signal.set_wakeup_fd(-1)
    os.close(written)
    os.close(wake_up)


def leave():
    """Python gives signals back before it ends; one more would then change the exit status."""
    for stopping in NAMES:
        signal.signal(stopping, signal.SIG_IGN)


def check():
    if noted:
        raise Stopped(noted[0])


def wait_for(*descriptors):
    """Until one of them has something to read, a child has ended, or, with Stopped, a signal has come."""
    check()
    if wake_up in select.select([*descriptors, wake_up], [], [])[0]:
        os.read(wake_up, 4096)
    check()
