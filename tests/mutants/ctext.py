# SPDX-License-Identifier: MIT
"""Split the text of a C source into tokens with their positions, and find its functions."""

import re
from dataclasses import dataclass

# Text between tokens.  A directive counts as such, because it is not part of a function's text.
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
    """A text cannot be parsed; the message continues a line that begins with the text's name."""


@dataclass(frozen=True)
class Token:
    text: str
    start: int  # offset in characters, like end
    end: int


@dataclass(frozen=True)
class Function:
    name: str
    start: int  # offset of its declaration, in characters
    tokens: list  # tokens of its body, including the braces


def tokens_of(text):
    """All tokens except comments and directives."""
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
    """The index of the token that closes the bracket at index."""
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
    """Every function that the text defines, in order; a name may occur twice, if the preprocessor selects one definition."""
    tokens, found = tokens_of(text), []
    start = i = 0  # index at which the declaration begins
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
                start = end + 1  # a body such as that of extern "C"; a declaration ends in a semicolon
            i = end
        i += 1
    return found


def occurrences(words, tokens):
    """Each position, as a range of indices, at which the tokens' texts are these words."""
    first, length = words[0], len(words)
    return [range(i, i + length) for i in range(len(tokens) - length + 1)
            if tokens[i].text == first and [token.text for token in tokens[i:i + length]] == words]
