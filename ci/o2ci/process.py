# SPDX-License-Identifier: MIT
"""Run programs: their output is printed at once, with a tag in front of each line, and all can be stopped together."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from . import cpu, live, place
from .result import EXIT_CANNOT_RUN

STOP_S = 15  # a program that has not ended so many seconds after it was asked to stop is killed
STOP_NESTED_S = 2 * STOP_S  # the same for a program that itself stops programs so


class Stopped(Exception):
    """The run was interrupted; this exception ends a lane."""


@dataclass(frozen=True)
class Outcome:
    status: int  # as in a shell: 128 + N if signal N ended the program
    seconds: float
    log: Path
    timed_out: bool = False
    began: float = 0.0  # start, in seconds after this Children object was created
    cpu_seconds: float | None = None  # processor time, including children that it waited for

    def text(self):
        return self.log.read_text(encoding="utf-8", errors="replace")

    def tail(self, count=20):
        return self.text().splitlines()[-count:]

    def last_line(self):
        return next((line for line in reversed(self.text().splitlines()) if line.strip()), "")


class Spent(threading.local):
    """Processor seconds of the programs that a thread has run to their ends."""
    seconds = 0.0


class Children:
    def __init__(self, log_dir, screen=None):
        self.screen = screen or live.Lines(sys.stdout)
        self.tags = {}  # {log: tag}
        self.log_dir = Path(log_dir)
        self.log_dir.mkdir(parents=True, exist_ok=True)
        self.created = time.monotonic()
        self.spent = Spent()
        self.lock = threading.Lock()
        self.running = set()
        self.logs = set()
        self.stopping = False

    def say(self, tag, line, lasting=False):
        self.screen.line(tag, line, lasting)

    def judged(self, row):
        """Show the verdict of a row for each step that ran for it."""
        for run in row.runs:
            if run["log"] in self.tags:
                self.screen.ended(self.tags[run["log"]], row.verdict)

    def new_log(self, tag):
        name = re.sub(r"[^\w.-]+", "-", tag)
        with self.lock:
            number = 1
            while (log := f"{name}.log" if number == 1 else f"{name}-{number}.log") in self.logs:
                number += 1
            self.logs.add(log)
        return self.log_dir / log

    def run(self, tag, command, *, cwd=None, env=None, timeout=None, every=0.0, needs=(), stop_s=STOP_S):
        """Run a command to its end.  At most one line in `every` seconds is printed; the log has all lines. needs: programs
        that the command starts.  If the command or one of these is not built, the status is 77 (cannot run).  stop_s: as STOP_S."""
        log = self.new_log(tag)
        self.tags[place.shown(log)] = tag
        self.screen.started(tag)
        command = [str(word) for word in command]
        started = time.monotonic()
        for path in (command[0], *needs):
            if os.path.isabs(path) and not os.path.exists(path):
                log.write_text(f"cannot run here: {place.shown(path)} is not built\n", encoding="utf-8")
                self.screen.ended(tag, live.ENDED)
                return Outcome(EXIT_CANNOT_RUN, 0.0, log, False, started - self.created, 0.0)
        with open(log, "wb") as stream:
            process = self.start(command, cwd, env, stop_s)
            late = threading.Event()
            watchdog = threading.Timer(timeout or 1e6, lambda: (late.set(), self.stop(process)))
            watchdog.daemon = True
            watchdog.start()
            try:
                self.show(process, tag, stream, every)
                seconds = cpu.of_ended(process.pid)
                status = process.wait()
            finally:
                watchdog.cancel()
                if process.returncode is None:  # its log could not be written
                    self.stop(process)
                with self.lock:
                    self.running.discard(process)
                self.screen.ended(tag, live.ENDED)
        self.spent.seconds += seconds or 0.0
        if self.stopping:
            raise Stopped
        status = status if status >= 0 else 128 - status
        return Outcome(status, time.monotonic() - started, log, late.is_set(), started - self.created, seconds)

    def start(self, command, cwd, env, stop_s):
        with self.lock:
            if self.stopping:
                raise Stopped
            # Start it in its own session: the terminal's Ctrl-C then reaches only us, and we stop the program in order.
            process = subprocess.Popen(command, cwd=cwd, env={**os.environ, **(env or {})}, stdin=subprocess.DEVNULL,
                                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
            process.stop_s = stop_s
            self.running.add(process)
        return process

    def show(self, process, tag, stream, every):
        last = time.monotonic() if every else 0.0
        for line in process.stdout:
            stream.write(line)
            stream.flush()
            if time.monotonic() - last >= every:
                last = time.monotonic()
                self.say(tag, line.decode(errors="replace").rstrip())

    @staticmethod
    def stop(process):
        """Ask the program to stop, as Ctrl-C does; then kill all remaining processes of its session."""
        try:
            process.send_signal(signal.SIGINT)
            process.wait(process.stop_s)
        except subprocess.TimeoutExpired:
            pass
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def stop_all(self):
        with self.lock:
            self.stopping = True
            running = list(self.running)
        threads = [threading.Thread(target=self.stop, args=(process,)) for process in running]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


def side_by_side(children, *lanes):
    """Run each function in its own thread.  An exception of one is raised here after all have ended."""
    problems = []

    def guarded(lane):
        try:
            lane()
        except BaseException as problem:  # also Stopped: the caller of side_by_side handles it
            problems.append(problem)

    threads = [threading.Thread(target=guarded, args=(lane,)) for lane in lanes]
    for thread in threads:
        thread.start()
    try:
        for thread in threads:
            thread.join()
    except Interrupted:
        children.stop_all()
        for thread in threads:
            thread.join()
        raise
    for problem in problems:
        raise problem


def work_off(jobs):
    """Run the jobs of the deque in order; several lanes may share a deque."""
    while jobs:
        try:
            job = jobs.popleft()
        except IndexError:
            return  # another lane took the last job
        job()


class Interrupted(Exception):
    """SIGINT or SIGTERM reached this program."""

    def __init__(self, number):
        super().__init__(f"signal {number}")
        self.status = 128 + number


def raise_on_signals():
    def interrupt(number, _frame):
        raise Interrupted(number)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, interrupt)


def ignore_signals():
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
