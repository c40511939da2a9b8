"""What changed between two versions of a text."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher, unified_diff
from typing import Final

from pressroom_content.articles.fields import FIELDS, Draft
from pressroom_content.records import Article

LONGEST_DIFF: Final = 60_000
"""How many characters of a difference are shown."""

_MOST_WORK: Final = 4_000_000
"""Pairs of lines that are compared; beyond that one text as a whole is shown in the place of the other."""


Block = tuple[int, int, int, int]
"""The lines `old[a:b]` became `new[c:d]`, as `(a, b, c, d)`."""


def line_counts(before: str, after: str) -> tuple[int, int]:
    """Return how many lines were added and how many removed; a line that moved counts as neither."""
    old, new = Counter(before.splitlines()), Counter(after.splitlines())
    return (new - old).total(), (old - new).total()


def difference(before: Article, after: Article) -> str:
    """Return what differs between two versions as a unified diff, fields before the body; empty where nothing does.

    It is cut where it is very long.
    """
    names = (f"version {before.version}", f"version {after.version}")
    return _unified(_lines(before), _lines(after), *names)


def changed_blocks(old: Sequence[str], new: Sequence[str]) -> list[Block]:
    """Return where two texts differ, in their order.

    Long texts are first held together by the lines that stand once in each (as in Bram Cohen's patience diff), so that
    only what lies between those is compared.
    """
    if len(old) * len(new) <= _MOST_WORK:
        return _blocks(old, new, 0, 0)
    found: list[Block] = []
    a = c = 0
    for b, d in [*_anchors(old, new), (len(old), len(new))]:
        found += _blocks(old[a:b], new[c:d], a, c)
        a, c = b + 1, d + 1
    return found


def _blocks(old: Sequence[str], new: Sequence[str], first_old: int, first_new: int) -> list[Block]:
    start = _common(old, new)
    end = _common(old[start:][::-1], new[start:][::-1])
    old, new = old[start : len(old) - end], new[start : len(new) - end]
    first_old, first_new = first_old + start, first_new + start
    if not old and not new:
        return []
    if len(old) * len(new) > _MOST_WORK:
        return [(first_old, first_old + len(old), first_new, first_new + len(new))]
    return [
        (first_old + a, first_old + b, first_new + c, first_new + d)
        for tag, a, b, c, d in SequenceMatcher(None, old, new).get_opcodes()
        if tag != "equal"
    ]


def _anchors(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Return the longest row of lines that stand once in each text, in the same order: their places in both."""
    counts_old, counts_new = Counter(old), Counter(new)
    place = {line: at for at, line in enumerate(new) if counts_new[line] == 1}
    pairs = [(at, place[line]) for at, line in enumerate(old) if counts_old[line] == 1 and line in place]
    ends: list[int] = []
    piles: list[int] = []
    before: list[int] = []
    for number, (_, at) in enumerate(pairs):
        pile = bisect_left(ends, at)
        before.append(piles[pile - 1] if pile else -1)
        ends[pile : pile + 1], piles[pile : pile + 1] = [at], [number]
    row: list[tuple[int, int]] = []
    number = piles[-1] if piles else -1
    while number >= 0:
        row.append(pairs[number])
        number = before[number]
    return row[::-1]


def _lines(article: Article) -> list[str]:
    draft = Draft.of(article)
    fields = [f"{name}: {_shown(getattr(draft, name))}" for name in FIELDS if name != "body" and getattr(draft, name)]
    return [*fields, "", *article.body.splitlines()]


def _shown(value: object) -> str:
    return ", ".join(value) if isinstance(value, tuple) else str(value)


def _unified(old: list[str], new: list[str], name_before: str, name_after: str) -> str:
    start = _common(old, new)
    end = _common(old[start:][::-1], new[start:][::-1])
    rest_old, rest_new = len(old) - start - end, len(new) - start - end
    if rest_old * rest_new > _MOST_WORK:
        hunk = f"@@ -{start + 1},{rest_old} +{start + 1},{rest_new} @@"
        lines = [f"--- {name_before}", f"+++ {name_after}", hunk]
        lines += [f"-{line}" for line in old[start : len(old) - end]]
        lines += [f"+{line}" for line in new[start : len(new) - end]]
    else:
        lines = list(unified_diff(old, new, name_before, name_after, lineterm=""))
    text = "\n".join(lines)
    if len(text) <= LONGEST_DIFF:
        return text
    return f"{text[:LONGEST_DIFF]}\n(cut: the whole difference has {len(text):,} characters)"


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """Return how many lines two texts have in common at their beginning."""
    count = 0
    for first, second in zip(one, other, strict=False):
        if first != second:
            break
        count += 1
    return count
