# SPDX-License-Identifier: MIT
"""Run one command in one guest: boot, watch, and determine the exit status."""
import os
import sys
import threading
import time

from . import common, verdict

TURN_SECONDS = 0.5  # how soon a deadline that another thread has shortened is noticed
END_GRACE_SECONDS = 20


class Session:
    """side: "a" or "b" in a pair, printed in front of every message; else ""."""

    def __init__(self, machine, directory, boot_timeout, timeout, side=""):
        self.machine = machine
        self.directory = directory
        self.boot_timeout = boot_timeout
        self.timeout = timeout
        self.side = f"{side}: " if side else ""
        self.booted = False
        self.ended = False
        self.quiet = False  # True: events from now on are caused by us and not reported
        self.taint_before = None
        self.taint_after = None
        self.deadline = None
        self.begun = threading.Event()

    def say(self, text):
        if not self.quiet:
            common.say(self.side + text)

    def found(self, text):
        print(self.side + text, file=sys.stderr, flush=True)

    def boot(self):
        """None if the guest is up and waits for its command; else the exit status."""
        start = time.monotonic()
        self.machine.start()
        return self.await_ready(start)

    def await_ready(self, start):
        line = self.machine.wait_line(start + self.boot_timeout)
        if line and line.startswith("ready "):
            self.booted = True
            self.taint_before = int(line.split()[1])
            self.say(f"guest answered after {time.monotonic() - start:.1f} s ({self.machine.accel}, "
                     f"kernel {self.machine.image.release})")
            return None
        if line is None:
            self.say(f"guest did not answer within {self.boot_timeout} s")
        elif line.startswith("fail "):
            self.say(f"guest set-up failed: {line[5:]}")
            self.machine.collect()
        elif not self.report_panic():
            self.say("guest died while booting: " + self.last_words())
        return common.EX_NO_ANSWER

    def last_words(self):
        with open(os.path.join(self.directory.log, "qemu.log"), encoding="utf-8", errors="replace") as f:
            said = f.read().strip().splitlines()
        return said[-1] if said else "QEMU said nothing"

    def report_panic(self):
        reason = verdict.panic(self.machine.console())
        if not reason:
            return False
        self.found(f"guest kernel panic: {reason}")
        case = self.directory.current_case()
        if case is not None:
            self.found("guest was at: " + case.rstrip("\n"))
        return True

    def ask_to_end(self):
        """Called from another thread: send SIGTERM to the command, unless it has ended or never starts."""
        while not self.ended and not self.begun.wait(TURN_SECONDS):
            pass
        if not self.ended:
            self.machine.send("term")
            self.deadline = min(self.deadline, time.monotonic() + END_GRACE_SECONDS)

    def exit_line(self):
        """The guest's line that reports the end of its command; None at the deadline."""
        while True:
            line = self.machine.wait_line(min(self.deadline, time.monotonic() + TURN_SECONDS))
            if line is not None or time.monotonic() >= self.deadline:
                return line

    def command_status(self):
        """(status of the command, of its timeout or of the guest's death; whether the guest still answers)."""
        began = time.monotonic()
        self.deadline = began + self.timeout
        self.machine.send("run")
        self.begun.set()
        line = self.exit_line()
        timed_out = line is None
        if timed_out:
            self.say(f"command timed out after {time.monotonic() - began:.0f} s")
            line = self.machine.abort()
        if line and line.startswith("exit "):
            status, self.taint_after = (int(word) for word in line.split()[1:3])
            if not self.machine.drain():
                self.say("some of the command's output was lost")
                status = status or common.EX_NO_ANSWER
            return (common.EX_TIMEOUT if timed_out else status), True
        if self.report_panic():
            return common.EX_PANIC, False
        if not timed_out:
            self.say("guest died without a panic: " + self.last_words())
        return (common.EX_TIMEOUT if timed_out else common.EX_NO_ANSWER), False

    def kernel_complaints(self):
        found = verdict.warnings(self.machine.console() + "\n" + self.directory.dmesg())
        if self.taint_after is not None:
            change = verdict.taint_change(self.taint_before, self.taint_after)
            if change:
                found.append(change)
        return found

    def command(self):
        """Run the command.  Returns the exit status, which also depends on warnings and panics of the guest's kernel."""
        status, answering = self.command_status()
        self.ended = True
        if status == common.EX_PANIC:
            return status
        complaints = self.kernel_complaints()
        for line in complaints:
            self.found(f"guest kernel warning: {line}")
        if (complaints or status) and answering:
            self.machine.collect()
        if complaints:
            self.say(f"the command's own status was {status}")
            return common.EX_KERNEL_WARNING
        return status
