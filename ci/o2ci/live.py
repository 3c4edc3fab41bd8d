# SPDX-License-Identifier: MIT
"""The progress display of a run.  On a terminal: a table with a line for each step, redrawn in place.  Otherwise: every line of
output as it comes, with the step in front."""

import os
import re
import shutil
import threading
import time

TICK_S = 1.0
CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|[\x00-\x1f\x7f-\x9f]")
RUNS, ENDED = "runs", "ended"
# In order of severity: a step with several rows shows the most severe of their verdicts.
STATES = (RUNS, ENDED, "held", "cannot run", "FINDING")
COLOURS = {RUNS: "36", "held": "32", "cannot run": "33", "FINDING": "31;1"}


def suits(stream, environment):
    """Whether the stream is a terminal on which lines can be redrawn."""
    return stream.isatty() and environment.get("TERM", "dumb") not in ("", "dumb")


def shown_on(stream, environment=os.environ):
    if suits(stream, environment):
        return Table(stream, colour=not environment.get("NO_COLOR"))
    return Lines(stream)


class Lines:
    shows_verdicts = False

    def __init__(self, stream):
        self.stream = stream
        self.lock = threading.Lock()

    def line(self, tag, text, lasting=False):
        with self.lock:
            print(f"[{tag}] {text}", file=self.stream, flush=True)

    def started(self, tag):
        pass

    def ended(self, tag, state):
        pass

    def close(self):
        pass


class Step:
    def __init__(self, tag, now):
        self.tag, self.began, self.seconds, self.state, self.text = tag, now, None, RUNS, ""

    def elapsed(self, now):
        return now - self.began if self.seconds is None else self.seconds


class Table:
    """The table on a terminal.  The cursor stands below the table; each redraw moves it up to the first line."""

    shows_verdicts = True

    def __init__(self, stream, colour, size=shutil.get_terminal_size, clock=time.monotonic):
        self.stream, self.colour, self.size, self.clock = stream, colour, size, clock
        self.lock = threading.Lock()
        self.steps, self.drawn, self.columns, self.began = {}, 0, 0, clock()
        self.closed = threading.Event()
        threading.Thread(target=self.tick, daemon=True).start()

    def tick(self):
        while not self.closed.wait(TICK_S):
            with self.lock:
                if not self.closed.is_set():
                    self.draw()

    def step(self, tag):
        if tag not in self.steps:
            self.steps[tag] = Step(tag, self.clock())
        return self.steps[tag]

    def line(self, tag, text, lasting=False):
        """Show a line of a step.  lasting: print it above the table, where it stays; otherwise show it in the step's line."""
        with self.lock:
            if lasting:
                self.draw(f"[{tag}] {text}")
            else:
                self.step(tag).text = CONTROL.sub("", text.replace("\t", " "))

    def started(self, tag):
        """A program of the step has started; a step may run several, one after the other."""
        with self.lock:
            step = self.step(tag)
            step.state, step.seconds = max(step.state, RUNS, key=STATES.index), None
            self.draw()

    def ended(self, tag, state):
        """A program of the step has ended.  state: ENDED, or the verdict of one of the step's rows."""
        with self.lock:
            step = self.step(tag)
            step.seconds = step.elapsed(self.clock())
            step.state = max(step.state, state, key=STATES.index)
            self.draw()

    def close(self):
        """Draw the table a last time and leave it on the screen."""
        with self.lock:
            if not self.closed.is_set():
                self.draw()
                self.closed.set()

    def painted(self, state, width):
        text = state.ljust(width)
        return f"\x1b[{COLOURS[state]}m{text}\x1b[0m" if self.colour and state in COLOURS else text

    def rows(self, columns, lines):
        """The lines that fit: running steps, then ended ones that began last; shown in the order in which they began."""
        now = self.clock()
        wanted = sorted(self.steps.values(), key=lambda step: (step.seconds is not None, -step.began))[:max(lines - 2, 1)]
        steps = [step for step in self.steps.values() if step in wanted]
        ended = sum(step.seconds is not None for step in self.steps.values())
        head = f"{ended} of {len(self.steps)} steps ended, {now - self.began:.0f} s"
        found = [head[:columns - 1]]
        tag_width = min(max((len(step.tag) for step in steps), default=0), 24)
        for step in steps:
            front = f"{step.tag[:tag_width]:{tag_width}} {step.elapsed(now):6.0f} s  "
            room = columns - 1 - len(front) - 12
            if room < 0:
                found.append(front[:columns - 1])
            else:
                found.append(front + self.painted(step.state, 10) + "  " + step.text[:room])
        return found

    def draw(self, above=None):
        columns, lines = self.size()
        rows = self.rows(columns, lines)
        up = f"\x1b[{self.drawn}A" if self.drawn else ""
        if columns < self.columns:
            up = "\x1b[H\x1b[2J"  # the window is narrower, so the old lines have wrapped
        self.columns = columns
        said = [] if above is None else [above]
        self.stream.write(up + "\r" + "".join(f"{row}\x1b[K\n" for row in [*said, *rows]) + "\x1b[J")
        self.stream.flush()
        self.drawn = len(rows)
