# SPDX-License-Identifier: MIT
"""Run a property with o2props, mostly transfer on one device, and judge how the run ended."""

import json
import os
import re
import shlex
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

from . import cause, place
from .result import EXIT_CANNOT_RUN, Row

TRANSFER = "transfer"
# The properties that need no device: each compares a part of the library with a model.
DEVICE_FREE = ("codec", "keys", "pools", "sg", "dma", "reg_plan", "rdma", "parts", "forms", "sim", "hostile", "nodes", "endpoint",
               "verdicts", "verbs", "settings", "commands", "lst", "hosts")
# The factor by which a case of these takes longer: they run 1 / factor of the other properties' cases.
COSTLY = {"forms": 20, "sim": 10, "verbs": 20, "settings": 10, "hostile": 5, "nodes": 50, "endpoint": 20, "commands": 200,
          "lst": 10, "hosts": 200}
NAMES = {"model": "memory model", "loop": "loopverbs", "rxe": "soft-RoCE"}
IN_GUEST = ("rxe",)
# Values of --connect, the ways to connect the two ends, except the default.
WAYS = {"cm": "connection manager", "processes": "connection manager, two processes"}
PROGRESS_S = 10
WORDS_LINES = 60  # most lines shown of a finding; the scenario's file has all
MTU_BYTES = 4096  # RoCE's largest payload of a packet: bytes / MTU is the least number of packets

# Exit statuses of ci/vm/run itself (docs/vm.md).
KERNEL_WARNING, KERNEL_PANIC, GUEST_DIED, GUEST_TIMEOUT = 70, 71, 72, 124

GUEST_ANSWERED = re.compile(r"guest answered after ([\d.]+) s \((\w+), kernel ([^)]+)\)")


@dataclass(frozen=True)
class Run:
    device: str  # model, loop or rxe
    seed: int
    prop: str = TRANSFER  # all but transfer run on the model, without a device; nodes and endpoint also on rxe
    moved: int = 0  # run until so many transfers moved bytes; sim: until so many operations have ended
    min_per_pair: int = 0  # ... and so many for each ordered pair of modes
    cases: int = 0
    first: int = 0  # number of the first case
    connect: str = ""  # cm or processes
    preset: str = "gcc"
    program: str = "o2props"
    mutant: str = ""
    host: bool = False  # rxe: use the host's own devices, no guest
    suite: str = ""  # rxe: use the guest's kernel of this Debian suite (ci/vm/run --suite)
    timeout_s: int = 900

    @property
    def moves(self):
        return self.prop == TRANSFER

    @property
    def device_words(self):
        """The value of --device."""
        return "rxa,rxb" if self.device in IN_GUEST else self.device

    @property
    def step(self):
        if not self.moves:
            step = f"{self.device}-{self.prop}" if self.device in IN_GUEST else self.prop
            return step if self.preset == "gcc" else f"{step} {self.preset}"
        if self.suite:
            return f"{self.device}-newer"
        step = f"{self.device}-{self.connect}" if self.connect else self.device
        return step if self.preset == "gcc" else f"{step} {self.preset}"

    @property
    def name(self):
        if not self.moves and self.device in IN_GUEST:
            return f"{self.prop}, {NAMES[self.device]}"
        if not self.moves:
            return self.step
        if self.suite:
            return f"{NAMES[self.device]}, newer kernel"
        way = f", {WAYS[self.connect]}" if self.connect else ""
        return NAMES[self.device] + way + ("" if self.preset == "gcc" else f" ({self.preset})")

    @property
    def title(self):
        return f"transfer on {self.name}" if self.moves else f"property {self.name}"

    def bounds(self):
        pairs = (("--cases", self.cases), ("--moved", self.moved), ("--min-per-pair", self.min_per_pair))
        return [word for option, value in (*pairs, ("--first", self.first)) if value for word in (option, str(value))]

    def connect_options(self):
        return ["--connect", self.connect] if self.connect else []

    def mutant_options(self):
        return ["--mutant", self.mutant] if self.mutant else []

    def program_path(self):
        return place.program(self.program, self.preset)

    def vm_run(self):
        return ["ci/vm/run", *(["--host"] if self.host else []), *(["--suite", self.suite] if self.suite else [])]

    def again(self, arguments):
        """A command line that a user can run from the repository's root."""
        program = [place.shown(self.program_path()), *arguments, *([] if "--mutant" in arguments else self.mutant_options())]
        return shlex.join([*self.vm_run(), "--", *program] if self.device in IN_GUEST else program)

    def whole(self, device):
        """The command that repeats the whole run."""
        return self.again(["run", self.prop, "--device", device, *self.connect_options(), *self.bounds(), "--seed",
                           f"0x{self.seed:x}"])


def cases_of(prop, cases):
    """The number of cases for a property without a device, if an ordinary property runs `cases`."""
    return cases // COSTLY.get(prop, 1)


def command_of(run, work, log_dir):
    options = ["--json-file", "result.json", "--out", "cases", "--current-case", "current-case"]
    common = [*run.connect_options(), *run.bounds(), "--seed", f"0x{run.seed:x}", "--progress", str(PROGRESS_S),
              *run.mutant_options()]
    if run.device not in IN_GUEST:
        paths = [str(work / word) if not word.startswith("--") else word for word in options]
        return [run.program_path(), "run", run.prop, "--device", run.device, *paths, *common]
    paths = " ".join(f'"$O2REF_SHARE/{word}"' if not word.startswith("--") else word for word in options)
    # Record the devices' objects while no program uses them: before the program starts and after it has ended.
    script = f"""rdma -j resource show > "$O2REF_SHARE/resources-before.json"
        "$0" run {run.prop} --device "$O2REF_RXE_A,$O2REF_RXE_B" {paths} "$@"
        status=$?
        rdma -j resource show > "$O2REF_SHARE/resources-after.json"
        exit $status"""
    return [place.ROOT / "ci" / "vm" / "run", *run.vm_run()[1:], "--timeout", str(run.timeout_s), "--share", work,
            "--log-dir", log_dir / f"guest-{run.step}", "--", "sh", "-c", script, run.program_path(), *common]


def read_result(path):
    """The result that o2props wrote when it ended, or None."""
    try:
        result = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    known = isinstance(result, dict) and result.get("form") == "o2ref/props_result" and result.get("version") == 1
    return result if known else None


def execute(children, failures, run, work):
    """Run the property to its end and judge it; returns the row.  `work` is a folder for this run only."""
    work.mkdir(parents=True, exist_ok=True)
    guest_s = 180 if run.device in IN_GUEST else 0  # time to boot and to write logs
    outcome = children.run(run.step, command_of(run, work, children.log_dir), cwd=place.ROOT,
                           timeout=run.timeout_s + guest_s)
    return judge(failures, run, outcome, work)


def judge(failures, run, outcome, work):
    row = Row("property" if run.moves else "model", run.step, run.name).ran(outcome, run.whole(run.device_words))
    result = read_result(work / "result.json")
    text = outcome.text()
    if result is not None:
        row.figures = {key: value for key, value in result.items() if key != "findings"}
        if run.device not in IN_GUEST and outcome.cpu_seconds is not None:
            row.figures["cpu_seconds"] = round(outcome.cpu_seconds, 2)
        row.findings += [from_result(failures, run, work, result, found, text) for found in result.get("findings", [])]
        row.findings += shortfalls(failures, run, result)
    if run.device in IN_GUEST and outcome.status != EXIT_CANNOT_RUN:
        row.figures["guest"] = guest_of(text, run.host)
        row.figures["resources"] = {when: resources(work / f"resources-{when}.json") for when in ("before", "after")}
        row.findings += left_in_devices(failures, run, row.figures["resources"], outcome.status)
    if outcome.status == EXIT_CANNOT_RUN:
        row.reason = next((line for line in text.splitlines() if "cannot" in line), outcome.last_line())
    else:
        row.findings += bad_end(failures, run, outcome, work, result, bool(row.findings))
    return row


def guest_of(text, host):
    """The kernel to which the devices belonged."""
    if host:
        return {"kernel": os.uname().release, "accel": "none: the host's own devices", "boot_seconds": None}
    match = GUEST_ANSWERED.search(text)
    return {"kernel": match[3], "accel": match[2], "boot_seconds": float(match[1])} if match else None


def resources(path):
    """{device: {kind of object: number}} from the output of `rdma resource`; None if that did not run."""
    try:
        devices = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return {device["ifname"]: {kind: number for kind, number in device.items() if isinstance(number, int) and
                               kind != "ifindex"} for device in devices}


def left_in_devices(failures, run, held, status):
    """A finding if the kernel holds other objects after the program has ended than before it started."""
    if run.host or held["before"] is None or held["before"] == held["after"]:
        return []  # the host's devices may have other users
    if held["after"] is None and status not in (0, 1):
        return []  # the guest died, so nothing is known
    lines = [f"{when}: {held[when]}" for when in ("before", "after")]
    title = f"{run.title}: the devices hold other objects after the run than before"
    return [failures.keep(run.step, "resources", title, run.whole(run.device_words), lines)]


def words_of(text, found):
    """What o2props printed about a finding, with the scenario in words; if nothing, the lines in its result."""
    printed = text.splitlines()
    first = next((i for i, line in enumerate(printed) if line.startswith("FINDING ")
                  and line.endswith(f", case {found.get('case')})")), None)
    lines = [] if first is None else list(takewhile(lambda line: not line.startswith("  replay: "), printed[first + 1:]))
    return lines[:WORDS_LINES] or [str(line) for line in found.get("lines", [])]


def from_result(failures, run, work, result, found, text):
    """A finding of o2props: copies its files and adds the command that replays it."""
    device = result.get("device", run.device)
    case_file = found.get("case_file", "")
    # In the guest the work folder has another path, but the last two parts, cases/FILE, are the same.
    paths = [work.joinpath(*Path(found[key]).parts[-2:]) for key in ("case_file", "scenario_file") if key in found]
    copies = [copy for copy in (failures.copy(run.step, path) for path in paths) if copy]
    lines = words_of(text, found)
    if copies:
        # The copy's name begins with the step, so replay cannot derive the property from it.
        of = [] if run.prop == "transfer" else ["--property", run.prop]
        replay = run.again(["replay", place.shown(copies[0]), *of, "--device", device, *run.connect_options()])
        name = Path(case_file).name
    elif "case" in found:
        replay = run.again(["run", run.prop, "--device", device, *run.connect_options(), "--seed",
                            found.get("seed", hex(run.seed)), "--first", str(found["case"]), "--cases", "1"])
        name = f"case-{found['case']}"
    else:
        replay, name = run.whole(device), found.get("signature", "finding")
    signature = found.get("signature", "no signature")
    return failures.keep(run.step, name, f"{run.title}: {signature}", replay, lines, copies,
                         cause=cause.of_signature(run.prop, signature))


def shortfalls(failures, run, result):
    """Findings for situations that did not occur and for counts that were not reached."""
    what = [f"a situation that has to occur did not: {name}" for name in result.get("missing", [])]
    moved, words = (result.get("moved", 0), "transfers moved bytes") if run.moves else (result.get("operations", 0), "operations")
    if run.moved > moved and not result.get("findings"):
        what.append(f"{moved} {words}, {run.moved} were asked for")
    for source, row in result.get("pairs", {}).items():
        for sink, count in row.items():
            if count < run.min_per_pair and not result.get("findings"):
                what.append(f"{source} to {sink}: {count} transfers, {run.min_per_pair} were asked for")
    replay = run.whole(result.get("device", run.device))
    return [failures.keep(run.step, "missing", f"{run.title}: {line}", replay) for line in what]


def bad_end(failures, run, outcome, work, result, explained):
    """Findings from the way the program ended, not from its result."""
    found = []
    current = (work / "current-case").read_text(errors="replace").strip() if (work / "current-case").exists() else ""
    device_words = re.search(r"--device (\S+)", current)
    device = device_words[1] if device_words else run.device_words
    replay = run.again(current.split()[1:]) if current.startswith(("o2props ", "o2props-mutants ")) else run.whole(device)
    guest_lines = [line for line in outcome.text().splitlines() if line.startswith("guest kernel ")]
    title = None
    if run.device in IN_GUEST and outcome.status in (KERNEL_WARNING, KERNEL_PANIC) and guest_lines:
        title = guest_lines[0]
    elif run.device in IN_GUEST and outcome.status == GUEST_DIED:
        title = "the guest did not come up, or died without a panic"
    elif outcome.timed_out or run.device in IN_GUEST and outcome.status == GUEST_TIMEOUT:
        title = f"no end within {run.timeout_s} s"
    elif outcome.status > 128:
        title = f"o2props was ended by signal {outcome.status - 128}"
    elif outcome.status not in (0, 1) or result is None:
        title = f"o2props ended with status {outcome.status}" + ("" if result else " and left no result")
    elif outcome.status == 1 and not explained:
        title = "o2props ended with status 1 and named no finding"
    if title:
        case = [f"last case: {current}"] if current else []
        lines = [*case, *guest_lines, "", "the end of the log:", *outcome.tail()]
        found.append(failures.keep(run.step, "end", f"{run.title}: {title}", replay, lines, cause=cause.of_report(outcome.text())))
    return found
