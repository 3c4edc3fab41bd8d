#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Check that the judge, listening to correct traffic of every kind on soft-RoCE, finds no broken `must` or `should` rule.

    ci/vm/run -- tests/device/judge_rxe.py [--messages N] [O2REF]

N: messages that the judge must see at least (default 4000).  O2REF: the program; default build/gcc/o2ref.  Last
line "N passed, N failed".  The devices are those of tests/device/net_rxe.py.
"""

import argparse
import itertools
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
import net_rxe  # noqa: E402
from net_rxe import DEVICE_A, DEVICE_B, MODES, SECONDS, Server, client  # noqa: E402

MESSAGES = 4000


def interface():
    """The network interface under the first device."""
    index = os.environ.get("O2REF_GID_INDEX", "1")
    return Path(f"/sys/class/infiniband/{DEVICE_A}/ports/1/gid_attrs/ndevs/{index}").read_text(encoding="ascii").strip()


class Judge:
    """`o2ref judge --live`; when the block begins, it is listening."""

    def __init__(self, *arguments):
        self.arguments = arguments

    def __enter__(self):
        # Use a file: a pipe would fill up, because nothing reads it during the test.
        self.said = tempfile.TemporaryFile(mode="w+", encoding="utf-8")
        self.process = subprocess.Popen([net_rxe.PROGRAM, "judge", "--live", interface(), "--json", *map(str, self.arguments)],
                                        stdout=self.said, stderr=subprocess.PIPE, text=True)
        ready, _, _ = select.select([self.process.stderr], [], [], SECONDS)
        line = self.process.stderr.readline() if ready else ""
        if not line.startswith("o2ref: listening"):
            self.process.kill()
            raise AssertionError(f"judge says '{line}'")
        return self

    def end(self):
        """Stop the judge.  Returns the findings in the order in which they were made, and the report."""
        self.process.send_signal(signal.SIGTERM)
        self.process.communicate(timeout=SECONDS)
        self.said.seek(0)
        *findings, report = map(json.loads, self.said)
        return findings, report

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()
        self.said.close()


def rounds(in_flight):
    """An endless sequence of commands: PUT and GET, both forms, every mode, sizes at limits, gaps."""
    for number in itertools.count(1):
        mode = MODES[number % len(MODES)]
        pieces = 1 if mode == "user" else 16
        yield "ping", ("--count", 50, "--interval", 0, "--queue-depth", (2, 8, 128)[number % 3])
        yield "put", ("--size", 3976, "--count", 500, "--in-flight", in_flight, "--seed", number)
        yield "put", ("--size", 3977, "--count", 60, "--mode", mode, "--verify", "--seed", number)
        yield "put", ("--size", 65536, "--count", 40, "--mode", mode, "--fragments", pieces, "--no-ack", "--seed", number)
        yield "get", ("--size", 12345, "--count", 60, "--mode", mode, "--queue-depth", 255, "--in-flight", in_flight)
        yield "get", ("--size", 1048576, "--count", 2, "--mode", mode)


def talk(messages):
    """Run traffic of at least so many messages.  Returns the problems."""
    said, problems = 0, []
    with Server("--queue-depth", 255) as server:
        for command, options in rounds(64):
            status, out, err = client(command, *options)
            if status != 0:
                problems.append(f"{command} {' '.join(map(str, options))}: {out}{err}")
            said += int(options[options.index("--count") + 1])
            # A ping, PUT or GET is at least two messages, with its answer.
            if said * 2 >= messages or problems:
                break
        server.end()
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--messages", type=int, default=MESSAGES, metavar="N")
    parser.add_argument("program", nargs="?", default=net_rxe.PROGRAM)
    options = parser.parse_args()
    net_rxe.PROGRAM = options.program
    with Judge() as judge:
        problems = talk(options.messages)
        _, report = judge.end()
    seen = report["seen"]
    print(f"{seen}; {report['must']} must, {report['should']} should, {report['note']} notes")
    for row in report["findings"]:
        print(json.dumps(row))
    problems += [f"{row['rule']}: {row}" for row in report["findings"] if row["severity"] != "note"]
    if seen["messages"] < options.messages:
        problems.append(f"{seen['messages']} messages were heard, not {options.messages}")
    for problem in problems:
        print(f"FAIL {problem}")
    print(f"{int(not problems)} passed, {len(problems)} failed")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
