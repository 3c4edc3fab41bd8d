# SPDX-License-Identifier: MIT
"""Run a campaign on all processors of a machine: shards run side by side, and their reports are merged (docs/campaign.md)."""

import os
import re

from . import merge, place, process

# Processors that a shard uses: one lane runs the guest and one in-process work; later each of the two engines uses one.
OF_A_SHARD = 2
SHARD_MIB = 3072  # memory of a shard: the guest, two engines, and the properties
SHOW_S = 5  # print at most one line of a shard in so many seconds


def available_mib(path="/proc/meminfo"):
    """Memory in MiB that programs can still allocate; None if the kernel does not report it."""
    try:
        with open(path, encoding="ascii") as file:
            found = re.search(r"^MemAvailable: +(\d+) kB", file.read(), re.M)
    except OSError:
        return None
    return int(found[1]) // 1024 if found else None


def shards_for(jobs, mib):
    """The number of shards that fit into `jobs` processors and `mib` MiB of memory; mib None: memory is no limit."""
    return max(1, min(jobs // OF_A_SHARD, jobs if mib is None else mib // SHARD_MIB))


def default_jobs():
    return len(os.sched_getaffinity(0))


def folder(report, index):
    return report / "shards" / str(index)


def command(options, index, count):
    """The command line of a shard.  It neither sets up nor builds, and it gets all of --minutes, as shards run in parallel."""
    words = [place.ROOT / "ci" / "campaign", "--no-setup", "--no-build", "--shard", f"{index}/{count}", "--side-by-side",
             "--seed", hex(options.seed), "--minutes", f"{options.minutes:g}", "--profile", options.profile,
             "--mixed-minutes", options.mixed_minutes, "--sim-operations", options.sim_operations, "--only", ",".join(options.only),
             "--corpora", options.corpora or place.BUILD / "fuzz" / "corpus", "--report", folder(options.report, index)]
    words += ["--host"] if options.host else []
    words += ["--coverage"] if options.coverage else []
    words += ["--mutant", options.mutant] if options.mutant else []
    return [str(word) for word in words]


def execute(children, options, count):
    """Run all shards to their ends; returns the merged Report.  Raises reading.Unreadable if no shard left a report."""
    def lane(index):
        children.run(f"shard {index} of {count}", command(options, index, count), cwd=place.ROOT, every=SHOW_S,
                     stop_s=process.STOP_NESTED_S)

    process.side_by_side(children, *(lambda index=index: lane(index) for index in range(1, count + 1)))
    return merge.merge([folder(options.report, index) for index in range(1, count + 1)], options.report / "failures", "")
