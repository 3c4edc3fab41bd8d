#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Test ci/slurm/submit on a real Slurm: slurmctld and two slurmd on this machine, one of which is killed in a campaign.

Takes some 15 minutes; not part of ci/test.  Needs root, Debian's slurmctld, slurmd, slurm-client and munge, and what
ci/campaign builds (presets gcc, libfuzzer, afl).  The last line is "N passed, N failed".
"""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SKIP = 77
NODES = ("n1", "n2")
PROGRAMS = {"slurmctld": "slurmctld", "slurmd": "slurmd", "sbatch": "slurm-client", "munged": "munge", "unshare": "util-linux"}
NODE_LOST_S = 10  # a node that does not answer for so long counts as down
UP_S = 60
JOBS_S = 2400

CONFIG = """
ClusterName=o2ref
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/%n.log
SelectType=select/cons_res
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
SlurmdTimeout={lost}
MessageTimeout=5
KillWait=2
ReturnToService=2
JobRequeue=1
{nodes}
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


class Failed(Exception):
    pass


def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _number in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def wait_for(what, seconds, holds):
    """Call holds() until its result is true, and return that; fails after so many seconds."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = holds()
        if found:
            return found
        time.sleep(0.5)
    raise Failed(f"{what}: not within {seconds} s")


class Cluster:
    """munged, slurmctld and two slurmd; each slurmd has a process namespace, so that all its processes end with it."""

    def __init__(self, folder):
        self.folder = folder
        self.children = {}
        os.environ["SLURM_CONF"] = str(folder / "slurm.conf")

    def __enter__(self):
        host = socket.gethostname().split(".")[0]
        ports = free_ports(1 + len(NODES))
        nodes = "\n".join(f"NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=1"
                          for name, port in zip(NODES, ports[1:]))
        (self.folder / "slurm.conf").write_text(CONFIG.format(folder=self.folder, host=host, port=ports[0], lost=NODE_LOST_S,
                                                              nodes=nodes))
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o400)
        self.start("munged", ["munged", "--foreground", "--force", "--key-file", key, "--socket", self.folder / "munge.socket",
                              "--pid-file", self.folder / "munge.pid", "--log-file", self.folder / "munge.log",
                              "--seed-file", self.folder / "munge.seed"])
        wait_for("munge's socket", UP_S, (self.folder / "munge.socket").exists)
        self.start("slurmctld", ["slurmctld", "-D"])
        for name in NODES:
            self.start_node(name)
        self.wait_idle()
        return self

    def __exit__(self, *_problem):
        for name in reversed(list(self.children)):
            self.kill(name)

    def start(self, name, command):
        log = (self.folder / f"{name}.out").open("ab")
        self.children[name] = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=log,
                                               stderr=subprocess.STDOUT, start_new_session=True)

    def start_node(self, name):
        self.start(name, ["unshare", "--pid", "--mount-proc", "--fork", "--kill-child", "slurmd", "-D", "-N", name])

    def kill(self, name):
        """Kill a program and all processes that it started, as if the machine were switched off."""
        child = self.children.pop(name)
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()

    def wait_idle(self):
        wait_for("both nodes are idle", UP_S, lambda: asked("sinfo", "-h", "-N", "-o", "%T").split() == ["idle"] * len(NODES))


def asked(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout


def tasks_on(node):
    """The numbers of the array tasks that run on a node."""
    return asked("squeue", "-h", "-t", "R", "-n", "o2ref-shard", "-w", node, "-o", "%K").split()


def submit(*words):
    return subprocess.Popen([ROOT / "ci" / "slurm" / "submit", "--wait", "--no-build", *words], stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True)


def ended(running, expected):
    output = running.communicate(timeout=JOBS_S)[0]
    if running.returncode != expected:
        raise Failed(f"status {running.returncode}, expected {expected}:\n{output}")
    return output


def has_begun(folder, number, tag):
    log = folder / "log" / f"o2ref-shard-{number}.txt"
    return log.exists() and f"[{tag}" in log.read_text(errors="replace")


def lose(cluster, folder, tag):
    """Kill node n2 while a shard is at the step `tag`; returns the shard's number."""
    number = wait_for("a task on n2", JOBS_S, lambda: tasks_on("n2"))[0]
    wait_for(f"shard {number} at {tag}", JOBS_S, lambda: has_begun(folder, number, tag))
    if tag == "fuzz":
        queues = folder / "corpora" / "sync"
        wait_for("inputs that AFL++ found", JOBS_S, lambda: list(queues.glob(f"*/*-{number}-of-*/queue/id*")))
    cluster.kill("n2")
    print(f"node n2 is lost, with shard {number} at step {tag}", flush=True)
    return number


def rows_of(folder):
    return json.loads((folder / "merged" / "report.json").read_text())["rows"]


def requeued(cluster, folder):
    """The lost shard runs again, on the other node or on n2 when it is back, and nothing is missing in the report."""
    running = submit("--shards", "2", "--dir", folder, "--seed", "11", "--", "--only", "loop,fuzz", "--minutes", "5")
    number = lose(cluster, folder, "fuzz")
    wait_for("slurmctld reports that n2 is down", UP_S, lambda: "down" in asked("sinfo", "-h", "-n", "n2", "-o", "%T"))
    cluster.start_node("n2")
    ended(running, 0)
    rows = rows_of(folder)
    loop = next(row for row in rows if row["step"] == "loop")
    fuzz = [row["figures"] for row in rows if row["group"] == "fuzz"]
    what = {row["step"]: row["figures"]["what"] for row in rows if row["step"] in ("shards", "corpora")}
    if loop["figures"]["moved"] < 10000 or what["shards"] != "2 of 2":
        raise Failed(f"moved {loop['figures']['moved']}, shards {what['shards']}")
    left = sorted(path.name for path in (folder / "corpora").iterdir())
    if left != ["merged"]:
        raise Failed(f"corpora/ holds {left}, expected merged/ alone")
    log = (folder / "log" / f"o2ref-shard-{number}.txt").read_text(errors="replace")
    starts = log.count("[campaign] seed")
    if starts != 2:
        raise Failed(f"shard {number} was started {starts} times, expected 2")
    afl = [figures for figures in fuzz if figures["engine"] == "afl"]
    print(f"shard {number} ran again; {loop['figures']['moved']:,} moved, {sum(figures['execs'] for figures in fuzz):,} "
          f"executions of {len(afl)} targets under both engines, {sum(figures['imported'] for figures in afl)} inputs taken over between AFL++'s "
          f"main and secondary; corpora: {what['corpora']}")


def missing(cluster, folder):
    """If jobs may not be requeued, ci/merge names the missing shard and ends with status 1."""
    running = submit("--shards", "3", "--dir", folder, "--seed", "12", "--sbatch", "--no-requeue", "--", "--only", "loop",
                     "--profile", "full", "--minutes", "1")
    number = lose(cluster, folder, "loop")
    output = ended(running, 1)
    if f"FINDING shard {number}/3 is missing" not in output:
        raise Failed(f"ci/merge does not name the missing shard {number}:\n{output}")
    print("\n".join(line for line in output.splitlines() if line.startswith(("shards of", "FINDING", "  replay"))))
    cluster.start_node("n2")
    cluster.wait_idle()


def red(_cluster, folder):
    """A finding in any shard makes the whole campaign end with status 1."""
    output = ended(submit("--shards", "2", "--dir", folder, "--seed", "13", "--", "--only", "model", "--mutant",
                          "forget-last-fragment"), 1)
    finding = next((line for line in output.splitlines() if line.startswith("FINDING transfer")), None)
    if not finding:
        raise Failed(f"no finding:\n{output}")
    print(finding)


def lacking():
    """The programs of Debian packages that are missing here, as a text; None if there are none."""
    missing_here = [f"{program} (package {package})" for program, package in PROGRAMS.items() if not shutil.which(program)]
    return f"missing: {', '.join(missing_here)}" if missing_here else None


def why_not():
    if lacking():
        return lacking()
    if os.getuid() != 0:
        return "slurmd needs root"
    build = Path(os.environ.get("O2REF_BUILD") or ROOT / "build")
    absent = [name for name in ("gcc/o2props-mutants", "libfuzzer/fuzz_canary", "afl/fuzz_canary") if not (build / name).exists()]
    return f"not built: {', '.join(absent)}" if absent else None


def held(checks, run):
    """Run the checks; print each with its time, and the sums as the last line.  Returns the program's exit status."""
    passed = failed = 0
    for check in checks:
        started = time.monotonic()
        try:
            run(check)
            passed += 1
            print(f"{check.__name__}: held, {time.monotonic() - started:.0f} s", flush=True)
        except (Failed, subprocess.TimeoutExpired, OSError, KeyError, TypeError) as problem:
            failed += 1
            print(f"FAILED {check.__name__}: {type(problem).__name__}: {problem}", flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


def main():
    reason = why_not()
    if reason:
        print(f"skipped: {reason}\n0 passed, 0 failed, 1 skipped")
        return SKIP
    checks = [check for check in (red, missing, requeued) if check.__name__ in sys.argv[1:] or not sys.argv[1:]]
    with tempfile.TemporaryDirectory(prefix="o2ref-slurm-") as name:
        folder = Path(name)
        with Cluster(folder) as cluster:
            nodes = asked("sinfo", "-h", "-N", "-o", "%N %T").splitlines()
            print(f"{asked('sinfo', '-V').strip()}, nodes: {', '.join(nodes)}", flush=True)
            return held(checks, lambda check: check(cluster, folder / check.__name__))


if __name__ == "__main__":
    sys.exit(main())
