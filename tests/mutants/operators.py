# SPDX-License-Identifier: MIT
"""The operators of systematic mutants: find the places of a source at which a small change breaks it (docs/mutants.md).

Only changes that can be switched at run time are offered: inside functions, but not in constant expressions (labels of a
switch, sizes of arrays, static tables), and not in assertions.
"""

import re
from dataclasses import dataclass

from ctext import OPENS, TextError, functions_of

# The classes of operators, in the order of the tables.
CLASSES = ("boundary", "arithmetic", "constant", "condition", "deleted", "error-0")

BOUNDARY = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
ARITHMETIC = {"+": "-", "-": "+", "*": "+", "/": "*", "%": "/", "<<": ">>", ">>": "<<", "&": "|", "|": "&", "^": "|",
              "+=": "-=", "-=": "+=", "*=": "+=", "/=": "*=", "%=": "/=", "<<=": ">>=", ">>=": "<<=", "&=": "|=",
              "|=": "&=", "^=": "|=", "++": "--", "--": "++"}
CONDITION = {"==": "!=", "!=": "==", "&&": "||", "||": "&&"}
ASSIGNS = {"=", "+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "&=", "|=", "^="}
PRECEDENCE = {word: level for level, words in enumerate(("||", "&&", "|", "^", "&", "== !=", "< <= > >=", "<< >>", "+ -",
                                                         "* / %")) for word in words.split()}
ENDS = ASSIGNS | {"?", ":", ",", ";"}
TYPES = {"struct", "enum", "union", "const", "static", "volatile", "unsigned", "signed", "int", "char", "long", "short",
         "bool", "void", "float", "double", "extern", "register"}
STATEMENTS = {"if", "else", "while", "for", "do", "switch", "case", "default", "return", "break", "continue", "goto"}
ASSERTIONS = {"assert", "static_assert", "_Static_assert", "abort"}
UNEVALUATED = {"sizeof", "offsetof", "alignof", "_Alignof", "typeof", "__typeof__"}
NAMED_CHECKS = {"o2_breaks", "o2_wire_breaks", "o2_lst_breaks"}
NAME = re.compile(r"[A-Za-z_]\w*")
CONSTANT = re.compile(r"[A-Z][A-Z0-9_]*[A-Z0-9]")
NUMBER = re.compile(r"(0[xX][0-9a-fA-F]+|\d+)[uUlL]*")
NO_NUMBERS = {"NULL", "PRIu64", "PRIx64", "PRIu32", "PRIx32", "UINT64_C", "UINT32_C"}


def value_of(digits):
    """The value of a number in C's notation: a leading 0 makes it octal."""
    return int(digits, 8 if re.fullmatch("0[0-7]+", digits) else 0)


@dataclass(frozen=True)
class Place:
    """A piece of a source, from start to end in characters, and the text that replaces it."""
    file: str
    function: str
    operator: str
    kind: str  # one of CLASSES
    text: str  # tokens joined by blanks
    occurrence: int  # number, from 1, among places of the same function, operator and text
    broken: str
    is_statement: bool
    start: int
    end: int
    line: int

    @property
    def key(self):
        """Identifies the place in lists; it does not change when lines move."""
        return (self.file, self.function, self.operator, self.text, self.occurrence)


class Body:
    """A function's tokens, with matching brackets, and the places found in them."""

    def __init__(self, text, function):
        self.text, self.tokens = text, function.tokens
        self.words = [token.text for token in function.tokens]
        self.match, waiting = {}, []
        for i, word in enumerate(self.words):
            if word in OPENS:
                waiting.append(i)
            elif word in OPENS.values():
                self.match[i] = waiting.pop()
                self.match[self.match[i]] = i
        self.found = []  # (operator, kind, first token, last token, broken, is_statement)

    def shown(self, first, last):
        return " ".join(self.words[first:last + 1])

    def add(self, operator, kind, first, last, broken, is_statement=False):
        self.found.append((operator, kind, first, last, broken, is_statement))

    # --- expressions ----------------------------------------------------------------------------------------------

    def is_cast(self, end):
        """Whether the bracket that closes at `end` encloses a type, so that it is a cast."""
        inside = self.words[self.match[end] + 1:end]
        if not inside or self.words[end] != ")" or self.words[self.match[end] - 1] in UNEVALUATED:
            return False
        named = inside[0] in TYPES or re.fullmatch(r"\w+_t", inside[0])
        return bool(named) and all(word == "*" or NAME.fullmatch(word) for word in inside)

    def is_binary(self, i):
        if self.words[i] not in PRECEDENCE or i == 0 or i + 1 == len(self.words):
            return False
        before, after = self.words[i - 1], self.words[i + 1]
        if before in STATEMENTS or after in TYPES or after in OPENS.values() or after in ("*", ",") and after == before:
            return False
        if before in (")", "]"):
            return not self.is_cast(i - 1)
        return bool(NAME.fullmatch(before) or before[0].isdigit() or before[0] in "\"'" or before in ("++", "--"))

    def left(self, i, level, low):
        """The first token of the left operand of an operator of that level."""
        while i > low:
            word = self.words[i - 1]
            if word in OPENS.values():
                i = self.match[i - 1]
            elif word in OPENS or word in ENDS or word in STATEMENTS or (self.is_binary(i - 1) and PRECEDENCE[word] < level):
                break
            else:
                i -= 1
        return i

    def right(self, i, level, high):
        """The last token of the operator's right operand."""
        while i < high:
            word = self.words[i + 1]
            if word in OPENS:
                i = self.match[i + 1]
            elif word in OPENS.values() or word in ENDS or (self.is_binary(i + 1) and PRECEDENCE[word] <= level):
                break
            else:
                i += 1
        return i

    def operand_before(self, i, low):
        """The first token of the postfix expression that ends before i, as in a[1].b(2)."""
        while i > low:
            word = self.words[i - 1]
            if word in (")", "]"):
                i = self.match[i - 1]
            elif NAME.fullmatch(word) and word not in STATEMENTS:
                i -= 1
                if i == low or self.words[i - 1] not in (".", "->"):
                    break
            elif word in (".", "->"):
                i -= 1
            else:
                break
        return i

    def with_word(self, first, at, last, word):
        return " ".join(filter(None, (self.shown(first, at - 1), word, self.shown(at + 1, last))))

    def is_least_of_two(self, first, i, last):
        """Whether this is a < b ? a : b, or if (a > b) a = b: if both are equal, either result is right."""
        sides = {self.shown(first, i - 1), self.shown(i + 1, last)}
        after = self.words[last + 1] if last + 1 < len(self.words) else ""
        if after == "?" and ":" in self.words[last:]:
            middle = self.words.index(":", last)
            return {self.shown(last + 2, middle - 1), self.shown(middle + 1, self.right(middle, 0, len(self.words) - 1))} == sides
        if after == ")" and self.words[self.match[last + 1] - 1] == "if" and self.match[last + 1] == first - 1:
            end = self.words.index(";", last)
            middle = self.words.index("=", last, end) if "=" in self.words[last:end] else end
            return {self.shown(last + 2, middle - 1), self.shown(middle + 1, end - 1)} == sides
        return False

    def binary(self, i, low, high):
        word, level = self.words[i], PRECEDENCE[self.words[i]]
        first, last = self.left(i, level, low), self.right(i, level, high)
        for kind, words in (("boundary", BOUNDARY), ("arithmetic", ARITHMETIC), ("condition", CONDITION)):
            if word in words and not (kind == "boundary" and self.is_least_of_two(first, i, last)):
                self.add(f"{word} becomes {words[word]}", kind, first, last, self.with_word(first, i, last, words[word]))

    def assigned(self, i, low, high):
        """The change for x += 1, x++ and ++x."""
        word = self.words[i]
        if word in ("++", "--"):
            first, last = self.operand_before(i, low), i
            if first == i:  # prefix operator
                last = self.right(i, len(PRECEDENCE), high)
        else:
            first, last = self.left(i, 0, low), i
            while last < high and self.words[last + 1] not in {",", *OPENS.values()}:
                last = self.match[last + 1] if self.words[last + 1] in OPENS else last + 1
        self.add(f"{word} becomes {ARITHMETIC[word]}", "arithmetic", first, last,
                 self.with_word(first, i, last, ARITHMETIC[word]))

    def constant(self, i):
        word = self.words[i]
        if word in ("true", "false"):
            other = "false" if word == "true" else "true"
            self.add(f"{word} becomes {other}", "constant", i, i, other)
            return
        number = NUMBER.fullmatch(word)
        called = i + 1 < len(self.words) and (self.words[i + 1] == "(" or self.words[i + 1][0] == '"')
        if number is None and (not CONSTANT.fullmatch(word) or word in NO_NUMBERS or called):
            return
        if self.words[i - 1] in (".", "->", "struct", "enum", "union", "goto") or self.words[i - 1][0] == '"':
            return
        self.add("one more", "constant", i, i, f"({word} + 1)")
        if number is None or value_of(number[1]) > 1:
            self.add("one less", "constant", i, i, f"({word} - 1)")

    def expression(self, low, high):
        """Find the changes for every operator in these tokens."""
        i = low
        while i <= high:
            word = self.words[i]
            if word in UNEVALUATED | ASSERTIONS and i < high and self.words[i + 1] == "(":
                i = self.match[i + 1]
            elif word in NAMED_CHECKS and i < high:  # the name of a rule is not evaluated
                i = self.words.index(",", i)
            elif word == "[" and self.words[i - 1] in ("{", ","):  # a designator [X] = in an initializer
                i = self.match[i]
            elif word in ASSIGNS - {"="} or word in ("++", "--"):
                self.assigned(i, low, high)
            elif word == "?":
                first = self.left(i, 0, low)
                self.add("negated", "condition", first, i - 1, f"!({self.shown(first, i - 1)})")
            elif self.is_binary(i):
                self.binary(i, low, high)
            else:
                self.constant(i)
            i += 1

    # --- statements -----------------------------------------------------------------------------------------------

    def condition(self, first, last):
        if first > last:
            return
        self.expression(first, last)
        if any(one[0] in ("== becomes !=", "!= becomes ==") and one[2:4] == (first, last) for one in self.found):
            return  # equal to the change of == or !=
        self.add("negated", "condition", first, last, f"!({self.shown(first, last)})")

    def is_loop_macro(self, i):
        """Whether this is TAILQ_FOREACH(...) or a similar macro, followed by a statement."""
        if not CONSTANT.fullmatch(self.words[i]) or self.words[i + 1] != "(":
            return False
        after = self.words[self.match[i + 1] + 1]
        return after == "{" or bool(NAME.fullmatch(after))

    def end_of(self, i):
        """The index of the semicolon that ends the statement at i."""
        while self.words[i] != ";":
            i = self.match[i] + 1 if self.words[i] in OPENS else i + 1
        return i

    def is_declaration(self, first, last):
        words = self.words[first:last + 1]
        if words[0] in TYPES or re.fullmatch(r"\w+_t", words[0]):
            return True
        stars = 1
        while stars < len(words) and words[stars] == "*":
            stars += 1
        return len(words) > stars and bool(NAME.fullmatch(words[0]) and NAME.fullmatch(words[stars]))

    def simple(self, first, last):
        """The changes of a declaration or an expression statement; last: the token before the semicolon."""
        if last < first or self.words[first] in ASSERTIONS or self.words[first] == "static":
            return
        if not self.is_declaration(first, last):
            self.expression(first, last)
            self.deleted(first, last + 1)
            return
        i = first
        while i <= last:
            if self.words[i] == "=":
                end = i + 1
                while end <= last and self.words[end] != ",":
                    end = self.match[end] + 1 if self.words[end] in OPENS else end + 1
                self.expression(i + 1, end - 1)
                i = end
            i = self.match[i] + 1 if i <= last and self.words[i] in OPENS else i + 1

    def deleted(self, first, end):
        if self.words[first:first + 3] == ["(", "void", ")"]:
            return
        self.add("deleted", "deleted", first, end, "", True)

    def returned(self, first, end):
        if end == first + 1:
            return
        self.expression(first + 1, end - 1)
        if self.returns_int and self.shown(first + 1, end - 1) not in ("0", "1", "NULL", "true", "false", "O2_CLI_OK"):
            self.add("0 instead", "error-0", first + 1, end - 1, f"((void)({self.shown(first + 1, end - 1)}), 0)")

    def loop_head(self, first, end):
        """The changes of the head of for (A; B; C)."""
        one = self.end_of(first)
        two = self.end_of(one + 1)
        if one > first:
            self.expression(self.words.index("=", first, one) + 1 if "=" in self.words[first:one] else first, one - 1)
        self.condition(one + 1, two - 1)
        if two + 1 < end:
            self.expression(two + 1, end - 1)

    def statement(self, i):
        """Find the changes of the statement at i; returns the index of the next statement."""
        word = self.words[i]
        if word == "{":
            end, i = self.match[i], i + 1
            while i < end:
                i = self.statement(i)
            return end + 1
        if word in ("if", "while", "switch", "for"):
            end = self.match[i + 1]
            if word == "for":
                self.loop_head(i + 2, end)
            elif word == "switch":
                self.expression(i + 2, end - 1)
            else:
                self.condition(i + 2, end - 1)
            return end + 1
        if word in ("else", "do", ";"):
            return i + 1
        if word == "case" or word == "default" or self.words[i + 1] == ":":
            return self.words.index(":", i) + 1
        if self.is_loop_macro(i):
            return self.match[i + 1] + 1
        end = self.end_of(i)
        if word == "return":
            self.returned(i, end)
        elif word in ("break", "continue"):
            if self.words[end + 1] != "}":
                self.deleted(i, end)
        elif word != "goto":
            self.simple(i, end - 1)
        return end + 1


def returns_int(text, function):
    """Whether the declaration returns int, so that the result tells whether the function failed."""
    head = text[function.start:function.tokens[0].start].split("(")[0]
    return bool(re.search(r"\bint\s+\w+\s*$", head)) and "unsigned" not in head


def places_of(text, file):
    """All places of one source, in the order of functions."""
    places, count, starts = [], {}, [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    for function in functions_of(text):
        body = Body(text, function)
        body.returns_int = returns_int(text, function)
        try:
            body.statement(0)
        except (ValueError, KeyError, IndexError) as error:
            raise TextError(f"{file}: {function.name}: not understood: {error!r}") from error
        for operator, kind, first, last, broken, is_statement in body.found:
            shown = body.shown(first, last)
            key = (function.name, operator, shown)
            count[key] = count.get(key, 0) + 1
            start = body.tokens[first].start
            places.append(Place(file, function.name, operator, kind, shown, count[key], broken, is_statement, start,
                                body.tokens[last].end, text.count("\n", 0, start) + 1))
    return places
