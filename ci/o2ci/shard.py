# SPDX-License-Identifier: MIT
"""A part of a campaign: shards 1/N to N/N have no case in common, and together they run the whole campaign."""

import re
from dataclasses import dataclass

MOST = 10000
# A run that lasts until so many transfers have moved takes an unknown number of cases: shards start this many cases apart.
APART = 1 << 40
# An engine that restarts after a finding uses the next seed: the shards' first seeds are this far apart.
FUZZ_SEEDS_APART = 1000


@dataclass(frozen=True)
class Shard:
    index: int = 1  # 1 to `of`
    of: int = 1

    def __str__(self):
        return f"{self.index}/{self.of}"

    @property
    def is_whole(self):
        return self.of == 1

    def first(self, count):
        """The number, from 0, of the shard's first item of `count`."""
        return count * (self.index - 1) // self.of

    def share(self, count):
        """The shard's part of `count`: the shares of all shards add up to it."""
        return count * self.index // self.of - self.first(count)

    def owns(self, number):
        """Whether this shard runs job `number`, which cannot be divided: exactly one shard does."""
        return number % self.of == self.index - 1

    def bounds(self, counts):
        """The shard's share of a run's bounds (cases, moved, min_per_pair) and its first case; None if the share is empty."""
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
    """The shard that --shard I/N names; raises a ValueError whose text says what is wrong."""
    match = re.fullmatch(r"(\d{1,6})/(\d{1,6})", text)
    if not match:
        raise ValueError(f"--shard is '{text}', expected I/N, like 2/8")
    index, of = int(match[1]), int(match[2])
    if not 1 <= of <= MOST:
        raise ValueError(f"--shard is {text}: N must be 1 to {MOST}")
    if not 1 <= index <= of:
        raise ValueError(f"--shard is {text}: I must be 1 to {of}")
    return Shard(index, of)
