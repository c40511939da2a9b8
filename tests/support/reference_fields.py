"""Extract what docstrings state about the fields of a class, for the reference."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Collection, Iterator
from typing import Final

_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+(?=[A-Z`“])")
_ABOUT: Final = re.compile(r"`(\w+)` (?!and |or |to `)")
_WITH: Final = re.compile(r"With `(\w+)`,")
_VERB: Final = r"(?:is|are|has|says|limits|fetches|creates)\b"
_WIDTH: Final = 120
_NO_PROSE: Final = ("```", "- ", "<!--", "| ")


def fields_apart(doc: str, names: Collection[str]) -> str:
    """Return a Markdown docstring with a list of its statements about each field, below its first paragraph.

    Statements about a field are the sentence that begins with its name, or with "With" and its name, and the sentences
    after it, until the end of the paragraph or the next field. The very first sentence is always about the class. A
    docstring without statements about fields is returned unchanged.
    """
    statements: dict[str, list[str]] = {}
    prose: list[str] = []
    fenced = False
    for paragraph in doc.split("\n\n"):
        is_prose = not fenced and not paragraph.startswith(_NO_PROSE)
        fenced ^= paragraph.count("```") % 2 == 1
        rest = list(_rest(paragraph, names, statements, first=not prose)) if is_prose else []
        if not is_prose:
            prose.append(paragraph)
        elif rest:
            # Keep the line breaks of a paragraph without removed sentences.
            text = " ".join(rest)
            prose.append(
                paragraph
                if text == " ".join(paragraph.split())
                else textwrap.fill(text, _WIDTH, break_long_words=False, break_on_hyphens=False)
            )
    if not statements:
        return doc
    description = "\n".join(f"- `{name}`: {' '.join(statements[name])}" for name in statements)
    return "\n\n".join([*prose[:1], description, *prose[1:]])


def _rest(
    paragraph: str, names: Collection[str], statements: dict[str, list[str]], *, first: bool = False
) -> Iterator[str]:
    """Collect statements on fields in `statements`, and yield the other sentences; with `first`, always the first."""
    current = ""
    for number, sentence in enumerate(_sentences(" ".join(paragraph.split()), names)):
        about, with_it = _ABOUT.match(sentence), _WITH.match(sentence)
        if first and number == 0:
            yield sentence
        elif about and about[1] in names and about[1] not in statements:
            current = about[1]
            statements[current] = [re.sub(r"^(?:is|are) ", "", sentence[about.end() :])]
        elif with_it and with_it[1] in names and with_it[1] not in statements:
            current = with_it[1]
            statements[current] = [f"with it,{sentence[with_it.end() :]}"]
        elif current and not _is_general(sentence, names):
            statements[current].append(sentence)
        else:
            current = ""
            yield sentence


def _sentences(text: str, names: Collection[str]) -> Iterator[str]:
    for sentence in _SENTENCE.split(text):
        field = f"`(?:{'|'.join(map(re.escape, names))})`"
        *before, last = re.split(rf"; (?={field} (?!and |or ))|, (?:and )?(?={field} {_VERB})", sentence)
        yield from (f"{sentence}." for sentence in before)
        yield last


def _is_general(sentence: str, names: Collection[str]) -> bool:
    """Return whether a sentence after one about a field is not about that field."""
    first = re.match(r"(?:With|Without|If|Where|Of|In|Set|Values of) `(\w+)`|`(\w+)`", sentence)
    return sentence.startswith("All ") or bool(first and (first[1] or first[2]) in names)


def attribute_docstrings(value: type) -> dict[str, str]:
    """Return the attribute docstrings of a class, by name."""
    body = ast.parse(textwrap.dedent(inspect.getsource(value))).body[0]
    pairs = zip(body.body, body.body[1:], strict=False) if isinstance(body, ast.ClassDef) else ()
    return {
        node.target.id: inspect.cleandoc(below.value.value)
        for node, below in pairs
        if isinstance(node, ast.AnnAssign)
        and isinstance(node.target, ast.Name)
        and isinstance(below, ast.Expr)
        and isinstance(below.value, ast.Constant)
        and isinstance(below.value.value, str)
    }
