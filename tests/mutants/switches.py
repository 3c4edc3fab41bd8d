#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Make copies of the sources that contain the deliberate defects, each behind a switch (docs/mutants.md).

    tests/mutants/switches.py --check             check that every entry of the table fits its source
    tests/mutants/switches.py --list              print the sources that have a defect, separated by semicolons
    tests/mutants/switches.py --own               print the sources that have a defect, or include a header with one or
                                                  breaks.h, separated by semicolons: only they are compiled with defects
    tests/mutants/switches.py --copies FOLDER     write the copies to FOLDER, with the same names
    tests/mutants/switches.py --ids FOLDER        write mutant_list.h, the list of all defects, to FOLDER
                              [--root FOLDER] [--table FOLDER]

If an entry of tests/mutants/*.toml names a function that does not exist, or a text that does not occur exactly once, the entry
is printed on stderr, and the exit status is 1. Texts are compared token by token: line breaks and comments make no difference.
A file whose content would not change is not written.
"""

import argparse
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

import table
from ctext import TextError, functions_of, occurrences, tokens_of

ROOT = Path(__file__).resolve().parents[2]
BREAKS = "ref/base/breaks.h"  # tests/mutants/include has a replacement
INCLUDED = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.M)


@dataclass
class Switch:
    """A piece of a source, in characters, that has a defect; inner: the switches inside it."""
    start: int
    end: int
    mutant: table.Mutant
    place: table.Place
    inner: list = field(default_factory=list)


def words_of(text):
    return [token.text for token in tokens_of(text)]


def one_line(text):
    return " ".join(words_of(text))


def shown(text):
    return f"'{' '.join(text.split())}'"


def only(found, what, where):
    if len(found) != 1:
        count = "nowhere" if not found else f"{len(found)} times"
        raise TextError(f"{what} is {count} in {where}, not once")
    return found[0]


def find(place, functions):
    """(start, end, function) of the place."""
    named = [function for function in functions if function.name == place.function]
    if not named:
        raise TextError(f"there is no function {place.function} in {place.file}")
    where = f"{place.function} of {place.file}"
    pieces = [(function, function.tokens) for function in named]
    if place.within:
        hits = [(function, tokens[hit.start:hit.stop]) for function, tokens in pieces
                for hit in occurrences(words_of(place.within), tokens)]
        pieces = [only(hits, shown(place.within), where)]
        where = f"{shown(place.within)} of {where}"
    hits = [(function, tokens[hit.start], tokens[hit.stop - 1]) for function, tokens in pieces
            for hit in occurrences(words_of(place.clean), tokens)]
    function, first, last = only(hits, shown(place.clean), where)
    return first.start, last.end, function


def nest(switches):
    """The outermost switches, each with the switches inside it.  Of two switches of the same piece, one is inside the other."""
    outermost, around = [], []
    for switch in sorted(switches, key=lambda one: (one.start, -one.end, not one.place.is_statement)):
        while around and around[-1].end <= switch.start:
            around.pop()
        outer = around[-1] if around else None
        if outer and (outer.end < switch.end or outer.place.is_statement < switch.place.is_statement):
            raise TextError(f"{switch.mutant.name}: its piece of text cuts through that of {outer.mutant.name}")
        (outer.inner if outer else outermost).append(switch)
        around.append(switch)
    return outermost


def written(text, start, end, switches):
    """text[start:end] with those switches.  Line breaks are kept, so that lines keep their numbers."""
    parts, at = [], start
    for switch in switches:
        clean = written(text, switch.start, switch.end, switch.inner)
        place, name = switch.place, switch.mutant.id
        if place.is_statement:
            reached = f"({place.when}) && o2_mutant({name})" if place.when else f"o2_mutant({name})"
            made = (f"{{ if ({one_line(reached)}) {{ o2_mutant_differs({one_line(place.differs)}); "
                    f"{one_line(place.broken)} }} else {{ {clean} }} }}")
        else:
            made = f"o2_mutate({name}, ({clean}), ({one_line(place.broken)}))"
        parts += [text[at:switch.start], made]
        at = switch.end
    return "".join(parts) + text[at:end]


def copy_of(path, text, found, header="tests/mutants/mutant.h"):
    """The text of the copy.  found: (switch, function) of each place.  #line directives name the original source."""
    outermost = nest([switch for switch, _ in found])
    helpers = [(function.start, switch) for switch, function in found if switch.place.helper]
    parts, at = [f'#include "{header}"\n', f'#line 1 "{path}"\n'], 0
    for start, switch in sorted(helpers, key=lambda one: one[0]):
        line = text.count("\n", 0, start) + 1
        parts += [written(text, at, start, [one for one in outermost if at <= one.start < start]),
                  f'\n#line 1 "tests/mutants/{switch.mutant.group}.toml, {switch.mutant.name}"\n', switch.place.helper,
                  f'\n#line {line} "{path}"\n']
        at = start
    return "".join(parts) + written(text, at, len(text), [one for one in outermost if one.start >= at])


def copy_file(root, file, entries, wrong):
    """The text of the file's copy.  entries: (mutant, place) of each defect in it; errors are appended to `wrong`."""
    try:
        text = (root / file).read_text(encoding="utf-8")
        functions = functions_of(text)
    except (OSError, TextError) as error:
        wrong += [f"{mutant.group}.toml: {mutant.name}: {file}: {error}" for mutant, _ in entries]
        return ""
    found = []
    for mutant, place in entries:
        try:
            start, end, function = find(place, functions)
            found.append((Switch(start, end, mutant, place), function))
        except TextError as error:
            wrong.append(f"{mutant.group}.toml: {mutant.name}: {error}")
    try:
        return copy_of(root / file, text, found)
    except TextError as error:
        wrong.append(str(error))
        return ""


def places_by_file(mutants):
    """{file: [(mutant, place)]}."""
    of_file = {}
    for mutant in mutants:
        for place in mutant.places:
            of_file.setdefault(place.file, []).append((mutant, place))
    return of_file


def own_sources(root, changed):
    """The C sources of ref/ that are among the changed files, or include one of them directly or indirectly."""
    files = sorted(path.relative_to(root) for path in (root / "ref").rglob("*.[ch]"))
    names = {str(file) for file in files}
    users = {}
    for file in files:
        for name in INCLUDED.findall((root / file).read_text(encoding="utf-8")):
            for included in {str(file.parent / name), f"ref/{name}", name} & names:
                users.setdefault(included, []).append(str(file))
    own, new = set(), set(changed)
    while new:
        own |= new
        new = {user for file in new for user in users.get(file, ())} - own
    return sorted(file for file in own if file.endswith(".c"))


def list_header(mutants):
    lines = [f'\tX({mutant.id}, "{mutant.name}", "{mutant.group}")' for mutant in mutants]
    return ("/* Made by tests/mutants/switches.py: X(id, name, file without its ending). */\n"
            "#define O2_MUTANTS(X) \\\n" + " \\\n".join(lines) + "\n")


def write(path, text):
    """Write a file.  An unchanged file keeps its modification time, so that nothing is compiled again for it."""
    if path.is_file() and path.read_text(encoding="utf-8") == text:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, default=ROOT, help="root of the project (default: this one)")
    parser.add_argument("--table", type=Path, default=table.HERE, help="folder of the table, *.toml (default: this script's)")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--check", action="store_true")
    what.add_argument("--list", action="store_true")
    what.add_argument("--own", action="store_true")
    what.add_argument("--copies", type=Path, metavar="FOLDER")
    what.add_argument("--ids", type=Path, metavar="FOLDER")
    return parser.parse_args()


def main():
    options, wrong = parse(), []
    try:
        mutants = table.read(options.table)
    except table.TableError as error:
        sys.exit(f"tests/mutants: {error}")
    of_file = places_by_file(mutants)
    if options.list:
        wrong = [f"{mutant.group}.toml: {mutant.name}: there is no file {file}" for file, entries in of_file.items()
                 for mutant, _ in entries if not (options.root / file).is_file()]
        print(";".join(sorted(of_file)))
    elif options.own:
        print(";".join(own_sources(options.root, [*of_file, BREAKS])))
    elif options.ids:
        write(options.ids / "mutant_list.h", list_header(mutants))
    elif options.check:
        for file, entries in of_file.items():
            copy_file(options.root, file, entries, wrong)
    else:
        texts = {file: copy_file(options.root, file, entries, wrong) for file, entries in of_file.items()}
        for file, text in texts.items() if not wrong else ():
            write(options.copies / file, text)
    for line in wrong:
        print(f"tests/mutants: {line}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
