# SPDX-License-Identifier: MIT
"""A campaign on all processors of a machine: shards of it side by side, and one report of them (docs/campaign.md)."""

import os
import re

from . import merge, place, process

# What a shard keeps busy: one lane has the guest's processor, the other is in process; then each engine has one.
OF_A_SHARD = 2
SHARD_MIB = 3072  # the guest, two engines, and what the properties use
SHOW_S = 5  # at most one line of a shard in so long


def available_mib(path="/proc/meminfo"):
    """Memory that programs can still have; None where nobody says."""
    try:
        with open(path, encoding="ascii") as file:
            found = re.search(r"^MemAvailable: +(\d+) kB", file.read(), re.M)
    except OSError:
        return None
    return int(found[1]) // 1024 if found else None


def shards_for(jobs, mib):
    """How many shards use `jobs` processors and at most `mib` of memory; None: as much as they like."""
    return max(1, min(jobs // OF_A_SHARD, jobs if mib is None else mib // SHARD_MIB))


def default_jobs():
    return len(os.sched_getaffinity(0))


def folder(report, index):
    return report / "shards" / str(index)


def command(options, index, count):
    """The shard's own command line; everything is set up and built, and the minutes are those that all of them have."""
    words = [place.ROOT / "ci" / "campaign", "--no-setup", "--no-build", "--shard", f"{index}/{count}", "--side-by-side",
             "--seed", hex(options.seed), "--minutes", f"{options.minutes:g}", "--profile", options.profile,
             "--mixed-minutes", options.mixed_minutes, "--sim-operations", options.sim_operations, "--only", ",".join(options.only),
             "--corpora", options.corpora or place.BUILD / "fuzz" / "corpus", "--report", folder(options.report, index)]
    words += ["--host"] if options.host else []
    words += ["--coverage"] if options.coverage else []
    words += ["--mutant", options.mutant] if options.mutant else []
    return [str(word) for word in words]


def execute(children, options, count):
    """Run all shards to their ends; the merged Report.  Raises reading.Unreadable where none left one."""
    def lane(index):
        children.run(f"shard {index} of {count}", command(options, index, count), cwd=place.ROOT, every=SHOW_S)

    process.side_by_side(children, *(lambda index=index: lane(index) for index in range(1, count + 1)))
    return merge.merge([folder(options.report, index) for index in range(1, count + 1)], options.report / "failures", "")
