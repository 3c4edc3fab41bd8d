# SPDX-License-Identifier: MIT
"""The text of a C source as tokens with their places, and where its functions are."""

import re
from dataclasses import dataclass

# What stands between tokens; a directive too, since what it says is not text of a function.
SPACE = re.compile(r"(?:\s+|//[^\n]*|/\*.*?\*/)+", re.S)
DIRECTIVE = re.compile(r"[ \t]*#(?:[^\n\\]|\\.)*", re.S)
TOKEN = re.compile(r"""
    "(?:[^"\\\n]|\\.)*" | '(?:[^'\\\n]|\\.)*'
  | [A-Za-z_]\w* | \.?\d(?:[eEpP][+-]|[\w.])*
  | \.\.\. | <<= | >>= | -> | \+\+ | -- | && | \|\| | <= | >= | == | != | << | >> | [-+*/%&|^]=
  | [-+*/%&|^~!<>=?:;,.(){}\[\]]
""", re.X)
OPENS = {"(": ")", "[": "]", "{": "}"}


class TextError(Exception):
    """What is wrong with a text, in words that go on after its name."""


@dataclass(frozen=True)
class Token:
    text: str
    start: int  # in characters, as is end
    end: int


@dataclass(frozen=True)
class Function:
    name: str
    start: int  # of its declaration, in characters
    tokens: list  # of its body, the braces included


def tokens_of(text):
    """All tokens; comments and directives are left out."""
    found, at = [], 0
    while at < len(text):
        line_start = text.rfind("\n", 0, at) + 1
        directive = DIRECTIVE.match(text, at) if text[line_start:at].strip() == "" else None
        step = directive or SPACE.match(text, at)
        if step is None:
            step = TOKEN.match(text, at)
            if step is None:
                raise TextError(f"line {text.count(chr(10), 0, at) + 1}: no token of C: {text[at:at + 20]!r}")
            found.append(Token(step[0], at, step.end()))
        at = step.end()
    return found


def closing(tokens, index):
    """The index of what closes the bracket at index."""
    waiting = []
    for i in range(index, len(tokens)):
        word = tokens[i].text
        if word in OPENS:
            waiting.append(OPENS[word])
        elif word in OPENS.values():
            if word != waiting.pop():
                raise TextError(f"'{word}' closes nothing")
            if not waiting:
                return i
    raise TextError(f"'{tokens[index].text}' is never closed")


def functions_of(text):
    """Every function that the text defines, in order; a name may come twice, where the preprocessor chooses."""
    tokens, found = tokens_of(text), []
    start = i = 0  # where the declaration began
    while i < len(tokens):
        word = tokens[i].text
        if word == ";":
            start = i + 1
        elif word in OPENS:
            end = closing(tokens, i)
            named = word == "(" and i > start and re.match(r"[A-Za-z_]", tokens[i - 1].text)
            if named and end + 1 < len(tokens) and tokens[end + 1].text == "{":
                body = closing(tokens, end + 1)
                found.append(Function(tokens[i - 1].text, tokens[start].start, tokens[end + 1:body + 1]))
                start, i = body + 1, body + 1
                continue
            if word == "{" and (end + 1 == len(tokens) or tokens[end + 1].text not in (";", ",", "=", "[")):
                start = end + 1  # extern "C" and the like; a declaration ends in a semicolon
            i = end
        i += 1
    return found


def occurrences(words, tokens):
    """Each place, as a range of indices, at which the texts of the tokens are these words."""
    first, length = words[0], len(words)
    return [range(i, i + length) for i in range(len(tokens) - length + 1)
            if tokens[i].text == first and [token.text for token in tokens[i:i + length]] == words]
