# SPDX-License-Identifier: MIT
"""Systematic mutants: draw them, read the judgements of survivors, and make the copies with switches.

docs/mutants.md, "Systematic mutants"; ci/o2ci/systematic_score.py runs them.
"""

import hashlib
import math
import tomllib
from dataclasses import dataclass
from pathlib import Path

import switches
import table
from operators import places_of

ROOT = switches.ROOT
JUDGED = Path(__file__).resolve().parent / "judged"
HEADER = "tests/mutants/systematic.h"
VERDICTS = ("equivalent", "accepted")
KEYS = ("file", "function", "operator", "text")
# Code that runs only with librdmacm and its devices, which neither the properties here nor ctest use.
OF_DEVICES = ("ref/lnd/cm/rdma.c", "ref/lnd/cm/rdma_event.c", "ref/lnd/cm/rdma_internal.h", "ref/cli/net/network_rdma.c")


class DrawError(Exception):
    """There are no mutants to draw."""


class JudgedError(table.TableError):
    """An entry in a list of judged survivors is not valid; the text names it."""


@dataclass(frozen=True)
class Judgement:
    key: tuple  # key of an operators.Place
    verdict: str  # one of VERDICTS
    reason: str
    where: str  # name of the list's file

    @property
    def text(self):
        file, function, operator, text, occurrence = self.key
        return f"{self.where}: {file}: {function}: {operator}: {text!r} ({occurrence})"


def id_of(place):
    """A short id of the place, which does not change when lines move."""
    return hashlib.sha256("\0".join(map(str, place.key)).encode()).hexdigest()[:8]


def folder_of(file):
    return str(Path(file).parent.relative_to("ref"))


def sources(root):
    """Names of the sources that are mutated, relative to the root."""
    found = sorted(str(path.relative_to(root)) for path in (root / "ref").rglob("*.[ch]"))
    return [file for file in found if file not in OF_DEVICES and "/include/" not in file]


def all_places(root):
    """{file: its places}."""
    return {file: places_of((root / file).read_text(encoding="utf-8"), file) for file in sources(root)}


# --- the list of what has been judged ---------------------------------------------------------------------------------

def judgement_of(entry, verdict, where):
    unknown = set(entry) - set(KEYS) - {"occurrence", "reason"}
    missing = [key for key in (*KEYS, "reason") if not isinstance(entry.get(key), str) or not entry[key].strip()]
    if not isinstance(entry.get("occurrence", 1), int):
        missing.append("occurrence, a number")
    if unknown or missing:
        raise JudgedError(f"{where}: an entry of {verdict!r}: unknown keys: {', '.join(sorted(unknown)) or 'none'};"
                          f" missing: {', '.join(missing) or 'none'}: {entry.get('file')}, {entry.get('function')}")
    text = " ".join(switches.words_of(entry["text"]))
    return Judgement((entry["file"], entry["function"], entry["operator"], text, entry.get("occurrence", 1)), verdict,
                     " ".join(entry["reason"].split()), where)


def read_judged(folder=JUDGED):
    """{key: judgement} of all lists."""
    judged = {}
    for path in sorted(folder.glob("*.toml")):
        try:
            with path.open("rb") as stream:
                content = tomllib.load(stream)
        except tomllib.TOMLDecodeError as error:
            raise JudgedError(f"{path.name}: {error}") from error
        if set(content) - set(VERDICTS):
            raise JudgedError(f"{path.name}: may only have [[equivalent]] and [[accepted]], has {', '.join(sorted(content))}")
        for verdict in VERDICTS:
            for entry in table.tables_of(content, verdict, path.name):
                one = judgement_of(entry, verdict, path.name)
                if one.key in judged:
                    raise JudgedError(f"{one.text} is listed twice")
                judged[one.key] = one
    return judged


def stale(judged, places):
    """Judgements of places that no longer exist."""
    known = {place.key for of_file in places.values() for place in of_file}
    return [one for key, one in judged.items() if key not in known]


# --- drawing ----------------------------------------------------------------------------------------------------------

def in_order(places, seed):
    """All places of a folder in the order in which they are drawn.  Each class of operators occurs equally often.

    The rank of a place depends only on the seed and its own key, so edits of other places do not change it.
    """
    count = {}
    for place in places:
        count[place.kind] = count.get(place.kind, 0) + 1

    def rank(place):
        digest = hashlib.sha256(f"{seed}\0{place.key}".encode()).digest()
        return -math.log((int.from_bytes(digest[:8], "big") + 1) / 2**64) * count[place.kind]

    return sorted(places, key=rank)


def quotas(sizes, count):
    """The number of mutants for each folder, in proportion to its size; the largest remainders get what rounding leaves."""
    total = sum(sizes.values())
    count = min(count, total)
    exact = {name: count * size / total for name, size in sizes.items()}
    given = {name: int(share) for name, share in exact.items()}
    by_rest = sorted(sizes, key=lambda name: (given[name] - exact[name], name))
    for name in by_rest[:count - sum(given.values())]:
        given[name] += 1
    return given


def is_under(folder, one):
    return f"{folder}/".startswith(f"{one}/")


def draw(places, count, seed, under=()):
    """{folder: (number of mutants, its places in the order of the draw)}.  under: draw only from these folders."""
    folders = {}
    for file, of_file in places.items():
        if of_file:
            folders.setdefault(folder_of(file), []).extend(of_file)
    for one in under:
        if not any(is_under(folder, one) for folder in folders):
            raise DrawError(f"--under {one}: no such folder of ref/; there are {', '.join(sorted(folders))}")
    if under:
        folders = {name: all_of for name, all_of in folders.items() if any(is_under(name, one) for one in under)}
    given = quotas({name: len(all_of) for name, all_of in folders.items()}, count)
    return {name: (given[name], in_order(all_of, seed)) for name, all_of in sorted(folders.items())}


# --- the copies -------------------------------------------------------------------------------------------------------

def copy_of(path, text, numbered):
    """The text of a source with switches; numbered: (number, place) of the mutants in it."""
    found = []
    for number, place in numbered:
        mutant = table.Mutant(str(number), place.kind, "", "", "", "systematic")
        switch = table.Place(place.file, place.function, place.text, place.broken, place.is_statement)
        found.append((switches.Switch(place.start, place.end, mutant, switch), None))
    return switches.copy_of(path, text, found, HEADER)
