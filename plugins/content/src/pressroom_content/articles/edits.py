"""Edits of article bodies: finding places for links, adding them, and replacing text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import islice, pairwise
from typing import Final

from pressroom.sdk import InvalidInput

from pressroom_content.language import words_of
from pressroom_content.records import BodyFormat
from pressroom_content.text_index.corpus import stem_of

MAX_ANCHOR_LENGTH: Final = 8
"""Maximum number of words in the text of a link."""

_BLANK: Final = "\0"

_MARKDOWN = re.compile(
    r"""
      ^(?P<fence>`{3,}+|~{3,}+).*?(?:^(?P=fence)[`~]*[ \t]*$|\Z)   # fenced code
    | ^(?:[ ]{4}|\t)[^\n]*$                                      # indented code, or what continues in a list
    | ^[ ]{0,3}\#{1,6}[ \t][^\n]*$                              # headings
    | ^[^\n]+\n[ ]{0,3}(?:=+|-+)[ \t]*$                         # headings that are underlined
    | ^[ ]{0,3}\[[^\]\n]{1,200}\]:[^\n]*$                       # definitions of links and footnotes
    | ^[ ]{0,3}\|[^\n]*$                                         # tables
    | (?<!`)(?P<ticks>`++)[^\n]{0,1000}?(?<!`)(?P=ticks)(?!`)            # code
    | !?\[[^\[\]\n]{0,1000}\](?:\([^()\n]{0,2000}(?:\([^()\n]{0,200}\)[^()\n]{0,200})?\)|\[[^\]\n]{0,200}\])?  # links
    | <[^<>\n]{1,2000}>                                          # tags and URLs
    | https?://[^\s<>)]+
    """,
    re.MULTILINE | re.DOTALL | re.VERBOSE,
)
_HTML = re.compile(r"<!--|<(/?)([a-zA-Z][\w-]*+)[^<>]*+>|<[^<>]*+>|&#?\w{1,40};")
_ANCHOR = re.compile(r"<(/?)a(?=[\s>])", re.IGNORECASE)
_CLOSED: Final = frozenset(
    {"a", "button", "code", "figcaption", "h1", "h2", "h3", "h4", "h5", "h6", "pre", "script", "style", "textarea"}
)
"""Elements that must not contain an added link."""


@dataclass(frozen=True, slots=True)
class LinkPosition:
    """A place in a body: the text that becomes the link, and its offset in characters, from 0."""

    position: int
    text: str


def free_text(body: str, body_format: BodyFormat) -> str:
    """Return a body of the same length with everything that must not contain a link blanked out."""
    if body_format == "markdown":
        return _blanked(_MARKDOWN.sub(lambda match: _BLANK * len(match[0]), body), _anchors(body))
    return _blanked(body, _markup(body))


def _blanked(body: str, ranges: Iterable[tuple[int, int]]) -> str:
    parts: list[str] = []
    end = 0
    for start, stop in ranges:
        parts += [body[end:start], _BLANK * (stop - start)]
        end = stop
    return "".join([*parts, body[end:]])


def _anchors(body: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each HTML link in a Markdown body."""
    opened = -1
    for match in _MARKDOWN.finditer(body):
        tag = _ANCHOR.match(match[0])
        if tag is None:
            continue
        if not tag[1]:
            opened = match.start()
        elif opened >= 0:
            if "\n\n" not in body[opened : match.start()]:
                yield opened, match.end()
            opened = -1


def _markup(body: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of markup in an HTML body, and of elements that must not contain a link.

    A single pass over the tags: thousands of unclosed elements take no longer than other texts.
    """
    closed, since, at = "", 0, 0
    while (match := _HTML.search(body, at)) is not None:
        start, at = match.span()
        if match[0] == "<!--":
            end = body.find("-->", at)
            at = len(body) if end < 0 else end + 3
        name = (match[2] or "").lower()
        if closed:
            if match[1] and name == closed:
                closed = ""
                yield since, at
        elif name in _CLOSED and not match[1]:
            closed, since = name, start
        else:
            yield start, at
    if closed:
        yield since, len(body)


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a text with its stem and its range in characters."""

    stem: str
    start: int
    end: int


def stemmed_words(text: str, language: str) -> list[Word]:
    """Return the words of a text with their stems, except blanked-out ones."""
    words: list[Word] = []
    at = 0
    for word in words_of(text):
        start = text.index(word, at)
        at = start + len(word)
        if _BLANK not in word:
            words.append(Word(stem_of(word, language), start, at))
    return words


def phrase_positions(phrase: Sequence[str], words: Sequence[Word], text: str) -> Iterator[LinkPosition]:
    """Yield the places where successive words have the stems of `phrase`, with only white space between them."""
    if not phrase or len(phrase) > MAX_ANCHOR_LENGTH:
        return
    for number in range(len(words) - len(phrase) + 1):
        run = words[number : number + len(phrase)]
        if all(word.stem == stem for word, stem in zip(run, phrase, strict=True)):
            matched = text[run[0].start : run[-1].end]
            gaps = (text[one.end : other.start] for one, other in pairwise(run))
            if all(gap.isspace() and "\n\n" not in gap for gap in gaps):
                yield LinkPosition(run[0].start, matched)


def as_link(anchor: str, url: str, body_format: BodyFormat) -> str:
    """Return a link in the syntax of a body's format."""
    if body_format == "html":
        return f'<a href="{escape(url)}">{anchor}</a>'
    target = f"<{url}>" if re.search(r"[\s()]", url) else url
    return f"[{anchor}]({target})"


_SHOWN: Final = 5


@dataclass(frozen=True, slots=True)
class Edit:
    """Replaces `find` with `replace`: its only occurrence, the one with the number `occurrence` (from 1), or all."""

    find: str
    replace: str
    occurrence: int | None = None
    all: bool = False


def with_edits(body: str, edits: Sequence[Edit], *, max_length: int) -> str:
    """Return a body after applying edits in order. It never has more than `max_length` characters in between.

    Raises:
        InvalidInput: a text to find is missing, occurs several times without `occurrence` or `all`, or occurs fewer
            than `occurrence` times, or the body would become too long.
    """
    for number, edit in enumerate(edits):
        body = _edited(body, edit, f"edits.{number}.find", max_length)
    return body


def _edited(body: str, edit: Edit, path: str, max_length: int) -> str:
    count = body.count(edit.find)
    length = len(body) + (count if edit.all else 1) * (len(edit.replace) - len(edit.find))
    if count and length > max_length:
        raise InvalidInput(
            path.replace(".find", ".replace"),
            f"would give the body {length:,} characters; an article may have {max_length:,} bytes. Replace fewer "
            "places, or split it into several articles",
        )
    if not count:
        raise InvalidInput(
            path, f"is not in the body{_nearly(body, edit.find)}; give it exactly as get_content shows it"
        )
    if edit.all:
        return body.replace(edit.find, edit.replace)
    if edit.occurrence is not None:
        if edit.occurrence > count:
            raise InvalidInput(
                path.replace(".find", ".occurrence"), f"must be at most {count}: the text is there {count} times"
            )
        start = _offset_of(body, edit.find, edit.occurrence)
        return body[:start] + edit.replace + body[start + len(edit.find) :]
    if count > 1:
        lines = ", ".join(str(line) for line in islice(_lines(body, edit.find), _SHOWN))
        more = " and others" if count > _SHOWN else ""
        raise InvalidInput(
            path,
            f"is in the body {count} times, in the lines {lines}{more}; make it longer until it is there once, or say "
            "which one is meant with occurrence (1 is the first), or set all to true",
        )
    return body.replace(edit.find, edit.replace)


def _offset_of(body: str, find: str, occurrence: int) -> int:
    start = -len(find)
    for _ in range(occurrence):
        start = body.index(find, start + len(find))
    return start


def _lines(body: str, find: str) -> Sequence[int]:
    lines: list[int] = []
    start = line = 0
    for number in range(1, min(body.count(find), _SHOWN) + 1):
        position = _offset_of(body, find, number)
        line += body.count("\n", start, position)
        start = position
        lines.append(line + 1)
    return lines


def _nearly(body: str, find: str) -> str:
    """Return a hint if the text differs only in white space or case, or else an empty text."""
    if " ".join(find.split()) in " ".join(body.split()):
        return " in this form (its white space differs)"
    return " in this form (its case differs)" if find.casefold() in body.casefold() else ""
