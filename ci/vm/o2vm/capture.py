# SPDX-License-Identifier: MIT
"""The traffic on the wire of a pair: write the capture file for the user, and let o2ref judge check it."""
import os
import subprocess

from . import pcapng
from .common import EX_NOT_JUDGED, EX_RULE_BROKEN, say

JUDGE_OK, JUDGE_BROKEN = 0, 1
JUDGE_SECONDS = 3600


def finish(pcap, out, comment):
    """Convert QEMU's pcap file to pcapng.  Prints a line and returns False if there is no capture."""
    try:
        with open(pcap, "rb") as source, open(out, "wb") as target:
            count = pcapng.convert(source, target, comment)
    except (OSError, pcapng.NoCapture) as problem:
        say(f"no capture in {out}: {problem}")
        return False
    os.unlink(pcap)
    say(f"{count} packets in {out}")
    return True


def judge(program, path):
    """Run o2ref judge on the capture.  Returns the pair's exit status: 0, EX_RULE_BROKEN or EX_NOT_JUDGED."""
    if not os.access(program, os.X_OK):
        say(f"not judged: {program} is not there (build it, or --o2ref FILE)")
        return 0
    try:
        done = subprocess.run([program, "judge", path], capture_output=True, text=True, errors="replace",
                              timeout=JUDGE_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as problem:
        say(f"not judged: {problem}")
        return EX_NOT_JUDGED
    for line in (done.stdout + done.stderr).splitlines():
        print(f"judge: {line}", flush=True)
    if done.returncode not in (JUDGE_OK, JUDGE_BROKEN):
        say(f"not judged: {program} judge ended with status {done.returncode}")
        return EX_NOT_JUDGED
    return EX_RULE_BROKEN if done.returncode == JUDGE_BROKEN else 0


def finish_and_judge(pcap, out, comment, program):
    """Both; returns the pair's exit status.  A capture that could not be written is not judged."""
    return judge(program, out) if finish(pcap, out, comment) else EX_NOT_JUDGED
