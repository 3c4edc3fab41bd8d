#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Test o2props run --far "srun ...": Slurm starts the far end of a transfer on another node, and that node is lost.

usage: ci/vm/run --timeout 1500 -- tests/device/vm/srun.py [O2PROPS [TRANSFERS]]

slurmctld and two slurmd run in the guest; the near and the far end use one of its soft-RoCE devices each.  Needs
Debian's slurmctld, slurmd, slurm-client and munge.  The last line is "N passed, N failed"; takes some minutes under TCG; not
part of ci/test.
"""

import os
import re
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "ci"))

import slurm  # noqa: E402

PROPS = str(ROOT / "build" / "gcc" / "o2props")
MOVED = 40
RUN_S = 900
FAR_TIMEOUT_S = 25
SRUN = "srun --quiet -w n2 -n 1"


def command(side, *words):
    devices = f"{os.environ['O2REF_RXE_A']},{os.environ['O2REF_RXE_B']}"
    return [PROPS, "run", "transfer", "--device", devices, "--far", SRUN, "--far-side", side, "--seed", "0x17", *words]


def moves(side):
    done = subprocess.run(command(side, "--moved", str(MOVED)), capture_output=True, text=True, timeout=RUN_S, check=False)
    print("\n".join(done.stdout.splitlines()[:2]), flush=True)
    if done.returncode != 0:
        raise slurm.Failed(f"status {done.returncode}\n{done.stdout}{done.stderr}")
    moved = int(re.search(r": (\d+) moved", done.stdout)[1])
    if moved < MOVED:
        raise slurm.Failed(f"{moved} moved, {MOVED} were asked for")


def to_the_node(_cluster):
    """The node receives: every byte of both ends is checked."""
    moves("sink")


def from_the_node(_cluster):
    moves("source")


def lost(cluster):
    """The loss of a node in the middle is a finding with a replay line, and the run does not hang."""
    with tempfile.TemporaryDirectory(prefix="o2ref-srun-") as folder:
        case = Path(folder) / "case"
        words = ("--cases", "100000", "--shrink-calls", "0", "--findings", "1", "--far-timeout", str(FAR_TIMEOUT_S),
                 "--current-case", str(case))
        running = subprocess.Popen(command("sink", *words), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        slurm.wait_for("some cases", RUN_S, lambda: case.exists() and re.search(r"--first [1-9]", case.read_text()))
        cluster.kill("n2")
        output = running.communicate(timeout=RUN_S)[0]
    said = re.findall(r"^FINDING .*|^  replay: .*|far/\S+", output, re.M)
    print("\n".join(said), flush=True)
    if running.returncode != 1 or not re.search(r"replay: o2props run transfer .*--far '" + re.escape(SRUN), output):
        raise slurm.Failed(f"status {running.returncode}\n{output}")


def make_a_machine(folder):
    """Set up what slurmd expects of its machine and a guest does not have."""
    socket.sethostname("o2ref")
    subprocess.run(["mount", "-t", "cgroup2", "none", "/sys/fs/cgroup"], check=True)
    os.mkdir("/sys/fs/cgroup/system.slice")
    (folder / "cgroup.conf").write_text("CgroupPlugin=cgroup/v2\nIgnoreSystemd=yes\n")


def main():
    global PROPS, MOVED
    PROPS = os.path.abspath(sys.argv[1]) if sys.argv[1:] else PROPS
    MOVED = int(sys.argv[2]) if sys.argv[2:] else MOVED
    lacking = slurm.lacking()
    if lacking or "O2REF_RXE_A" not in os.environ:
        print(f"skipped: {lacking or 'no devices: see ci/vm/run'}\n0 passed, 0 failed, 1 skipped")
        return slurm.SKIP
    with tempfile.TemporaryDirectory(prefix="o2ref-slurm-") as name:
        make_a_machine(Path(name))
        with slurm.Cluster(Path(name)) as cluster:
            return slurm.held((to_the_node, from_the_node, lost), lambda check: check(cluster))


if __name__ == "__main__":
    sys.exit(main())
