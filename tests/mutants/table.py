# SPDX-License-Identifier: MIT
"""Read and check the table of deliberate defects, tests/mutants/*.toml (docs/mutants.md, "How to add one")."""

import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
# In the order of the table in docs/mutants.md.
FILES = ("plans", "memory", "codec", "keys", "pools", "credits", "completion", "connections", "left", "chains", "endpoints", "wide",
         "selftest")

# The property that kills the defects of an area, unless their file names one for all of it.
PROPERTY_OF_AREA = {"codec": "codec", "keys": "keys", "pool": "pools"}
PROPERTY_OF_OTHERS = "transfer"

NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
OF_MUTANT = {"name", "area", "defect", "sentence"}
OF_PLACE = {"file", "function", "expression", "statement", "broken", "within", "when", "differs", "helper"}


class TableError(Exception):
    """An entry is not valid; the text names it."""


@dataclass(frozen=True)
class Place:
    """A piece of a function's text, and the text that replaces it while the defect is on."""
    file: str  # relative to the root of the project
    function: str
    clean: str  # an expression, or whole statements
    broken: str
    is_statement: bool
    within: str = ""  # a larger piece that contains clean, if clean occurs in several places
    when: str = ""  # statements: the place counts as reached only if this expression is true
    differs: str = "true"  # statements: an expression, true if the broken statements differ in effect
    helper: str = ""  # C code that is inserted before the function


@dataclass(frozen=True)
class Mutant:
    name: str
    area: str
    defect: str  # public id of the real defect that it reproduces; "": made up for the tests
    sentence: str
    property: str
    group: str  # name of the file, without its ending
    places: list = field(default_factory=list)

    @property
    def id(self):
        return self.name.replace("-", "_").upper()


def tables_of(content, key, where):
    """Take the list of tables [[key]] out of the content of a file or of an entry; [] if there is none."""
    tables = content.pop(key, [])
    if not isinstance(tables, list) or not all(isinstance(entry, dict) for entry in tables):
        raise TableError(f"{where}: '{key}' is not a list of tables")
    return tables


def texts_of(entry, keys, where):
    """Check that the entry has only these keys and only strings; returns it."""
    for key, value in entry.items():
        if key not in keys:
            raise TableError(f"{where}: '{key}' is none of {', '.join(sorted(keys))}")
        if not isinstance(value, str):
            raise TableError(f"{where}: '{key}' is not a string")
    return entry


def place_of(entry, where):
    texts_of(entry, OF_PLACE, where)
    for key in ("file", "function", "broken"):
        if key not in entry:
            raise TableError(f"{where}: no '{key}'")
    if ("expression" in entry) == ("statement" in entry):
        raise TableError(f"{where}: either 'expression' or 'statement' must be there, and not both")
    is_statement = "statement" in entry
    clean = entry["statement" if is_statement else "expression"]
    for key in ("when", "differs"):
        if key in entry and not is_statement:
            raise TableError(f"{where}: '{key}' belongs to a 'statement'")
    if clean.strip() == "" or (entry["broken"].strip() == "" and not is_statement):
        raise TableError(f"{where}: an expression, and what takes its place, cannot be empty")
    others = {key: entry[key] for key in ("within", "when", "differs", "helper") if key in entry}
    return Place(entry["file"], entry["function"], clean, entry["broken"], is_statement, **others)


def mutant_of(entry, group, property_of_file, where):
    name = entry.get("name", "")
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise TableError(f"{where}: the name {name!r} is not words of a-z and 0-9, joined by '-'")
    where = f"{where}, {name}"
    places = tables_of(entry, "place", where) or [{key: entry.pop(key) for key in OF_PLACE & set(entry)}]
    texts_of(entry, OF_MUTANT, where)
    missing = sorted(OF_MUTANT - set(entry))
    if missing:
        raise TableError(f"{where}: no '{missing[0]}'")
    kind = property_of_file or PROPERTY_OF_AREA.get(entry["area"], PROPERTY_OF_OTHERS)
    return Mutant(**entry, property=kind, group=group, places=[place_of(place, where) for place in places])


def read_file(path):
    """The mutants of one file, in the order of the file."""
    try:
        with path.open("rb") as stream:
            content = tomllib.load(stream)
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise TableError(f"{path.name}: {error}") from error
    entries, kind = tables_of(content, "mutant", path.name), content.pop("property", "")
    if not isinstance(kind, str):
        raise TableError(f"{path.name}: 'property' is not a string")
    if content or not entries:
        raise TableError(f"{path.name}: needs [[mutant]], may have property; also has {', '.join(content) or 'none'}")
    return [mutant_of(entry, path.stem, kind, path.name) for entry in entries]


def read(folder=HERE, files=FILES):
    """All mutants, in the order of the files and of their entries."""
    others = sorted({path.stem for path in folder.glob("*.toml")} ^ set(files))
    if others:
        raise TableError(f"{', '.join(others)}: the files *.toml are not those that table.py lists")
    mutants, names = [], set()
    for name in files:
        mutants += read_file(folder / f"{name}.toml")
    for mutant in mutants:
        if mutant.name in names:
            raise TableError(f"{mutant.group}.toml: there are two of the name {mutant.name}")
        names.add(mutant.name)
    return mutants
