# SPDX-License-Identifier: MIT
"""The output of one guest of a pair: printed as whole lines with the guest's name in front, and copied unchanged to its log."""
import os
import threading

from .guest import to_descriptor

lock = threading.Lock()  # a line of one guest must not be interrupted by one of the other


class Said:
    """A sink (guest.Stream).  awaited: bytes that another thread waits for; `heard` is set when they have arrived."""

    def __init__(self, side, descriptor, copy_path, awaited=None):
        self.front = f"{side}: ".encode()
        self.write = to_descriptor(descriptor)
        self.copy = open(copy_path, "wb", buffering=0)  # pylint: disable=consider-using-with
        self.rest = b""
        self.awaited = awaited
        self.before = b""
        self.heard = threading.Event()

    def __call__(self, data):
        self.copy.write(data)
        if self.awaited and not self.heard.is_set():
            self.before += data
            if self.awaited in self.before:
                self.heard.set()
            self.before = self.before[-len(self.awaited):]
        *whole, self.rest = (self.rest + data).split(b"\n")
        self.lines(whole)

    def lines(self, whole):
        if whole:
            with lock:
                self.write(b"".join(self.front + line + b"\n" for line in whole))

    def close(self):
        """Print an incomplete last line with a newline added."""
        self.lines([self.rest] if self.rest else [])
        self.rest = b""
        self.copy.close()


def pair(side, directory, awaited=None):
    """The sinks for standard output and standard error."""
    return (Said(side, 1, os.path.join(directory, "stdout"), awaited), Said(side, 2, os.path.join(directory, "stderr")))
