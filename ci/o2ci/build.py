# SPDX-License-Identifier: MIT
"""Set-up and builds: ci/setup, cmake's presets, the guest's kernel."""

import os

from . import compilers, place
from .result import EXIT_CANNOT_RUN, Row

BUILD_TIMEOUT_S = 1800
SETUP_TIMEOUT_S = 1800
SETUP_STOP_S = 600  # dpkg that is killed leaves packages half installed: an interrupted set-up ends what apt-get has begun
SHOW_S = 5  # print at most one line of ninja's output in so many seconds


def setup(children, *groups):
    """Run ci/setup for these groups of ci/packages (default: all).  Returns 0, or 77 if something is missing that this user
    cannot install; ci/setup prints what."""
    outcome = children.run("setup", [place.ROOT / "ci" / "setup", *groups], timeout=SETUP_TIMEOUT_S, stop_s=SETUP_STOP_S)
    return 0 if outcome.status == 0 else EXIT_CANNOT_RUN


def failure_in(lines, count=40):
    """The part of a build log that explains a failure: from the first failure on, else the end."""
    first = next((i for i, line in enumerate(lines) if line.startswith(("FAILED:", "CMake Error"))), -count)
    return lines[first:][:count]


def build(children, failures, preset, targets=()):
    """Configure and build one preset; without targets, build everything."""
    step = f"build {preset}"
    row = Row("build", step, f"preset {preset}")
    missing = compilers.missing(preset)
    if missing:
        row.reason = f"missing: {', '.join(missing)}"
        children.say(step, row.reason)
        return row
    folder = place.BUILD / preset
    into = [] if folder == place.ROOT / "build" / preset else ["-B", folder]
    commands = [["cmake", "--preset", preset, *into], ["cmake", "--build", folder]]
    if targets:
        commands[1] += ["--target", *targets]
    environment = {"AFL_QUIET": "1", "NINJA_STATUS": "[%f/%t] "}
    for command in commands:
        outcome = children.run(step, command, cwd=place.ROOT, env=environment, timeout=BUILD_TIMEOUT_S, every=SHOW_S)
        row.ran(outcome, f"cmake --preset {preset} && cmake --build --preset {preset}")
        if outcome.status != 0:
            lines = failure_in(outcome.text().splitlines())
            for line in lines:
                children.say(step, line)
            row.findings.append(failures.keep(step, "failed", f"the build of preset {preset} failed", row.again, lines))
            return row
    children.say(step, f"built in {row.seconds:.0f} s")
    return row


def prepare_guest(children, suite=""):
    """Fetch the guest's kernel into the cache.  If that fails, ci/vm/run reports the reason later."""
    if os.uname().machine == "x86_64":
        command = [place.ROOT / "ci" / "vm" / "prepare", *(["--suite", suite] if suite else [])]
        children.run("guest", command, cwd=place.ROOT, timeout=SETUP_TIMEOUT_S)
