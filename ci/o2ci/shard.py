# SPDX-License-Identifier: MIT
"""A part of a campaign: the shards 1/N to N/N have no case in common, and together do what the whole campaign does."""

import re
from dataclasses import dataclass

MOST = 10000
# A run that goes on until so many have moved does not know how many cases it takes: each shard's begin so far apart.
APART = 1 << 40
# Seeds of a fuzz engine follow each other where it starts again after a finding.
FUZZ_SEEDS_APART = 1000


@dataclass(frozen=True)
class Shard:
    index: int = 1  # of 1 to of
    of: int = 1

    def __str__(self):
        return f"{self.index}/{self.of}"

    @property
    def is_whole(self):
        return self.of == 1

    def first(self, count):
        """Where the share of 0 to count - 1 begins."""
        return count * (self.index - 1) // self.of

    def share(self, count):
        """How many of `count` this shard does: the shares of all shards add up to it."""
        return count * self.index // self.of - self.first(count)

    def owns(self, number):
        """Whether the shard does the job of this number, which cannot be divided.  One shard does."""
        return number % self.of == self.index - 1

    def bounds(self, counts):
        """The share of a run's bounds (cases, moved, min_per_pair) with its first case; None where it is nothing."""
        if self.is_whole:
            return dict(counts)
        shared = {name: self.share(count) for name, count in counts.items()}
        if not shared.get("cases", 0) and not shared.get("moved", 0):
            return None
        first = self.first(counts["cases"]) if counts.get("cases") else (self.index - 1) * APART
        return {**shared, "first": first}

    def fuzz_seed(self, seed, bits):
        return (seed + (self.index - 1) * FUZZ_SEEDS_APART) % (1 << bits)

    def as_json(self):
        return {"index": self.index, "of": self.of}


def read(text):
    """The shard that --shard I/N names; a ValueError says what is wrong."""
    match = re.fullmatch(r"(\d{1,6})/(\d{1,6})", text)
    if not match:
        raise ValueError(f"--shard is '{text}', expected I/N, like 2/8")
    index, of = int(match[1]), int(match[2])
    if not 1 <= of <= MOST:
        raise ValueError(f"--shard is {text}: N has to be of 1 to {MOST}")
    if not 1 <= index <= of:
        raise ValueError(f"--shard is {text}: I has to be of 1 to {of}")
    return Shard(index, of)
