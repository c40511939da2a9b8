"""Versions of articles, and the differences between them."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from difflib import SequenceMatcher
from typing import Final

from pressroom.sdk import NotFound
from sqlalchemy import delete, select
from sqlalchemy.ext.asyncio import AsyncSession

from pressroom_content.articles.fields import FIELDS, Draft
from pressroom_content.records import Article
from pressroom_content.tables import ArticleRow, PublicationRow, VersionRow

MAX_DIFF_LENGTH: Final = 60_000
"""Maximum length of a shown diff, in characters."""

_MAX_WORK: Final = 10_000_000
"""Maximum work (see `matching_work`) to compare two runs of lines; above it, one replaces the other as a whole."""

_CONTEXT: Final = 3
"""Unchanged lines around a change in a unified diff."""

Block = tuple[int, int, int, int]
"""A changed block, `(a, b, c, d)`: the lines `old[a:b]` became `new[c:d]`."""


def line_counts(before: str, after: str) -> tuple[int, int]:
    """Return the numbers of added and removed lines; a line that moved counts as neither."""
    old, new = Counter(before.splitlines()), Counter(after.splitlines())
    return (new - old).total(), (old - new).total()


def difference(before: Article, after: Article) -> str:
    """Return the unified diff of two versions, fields before the body; empty if they are equal.

    It is cut after `MAX_DIFF_LENGTH` characters.
    """
    names = (f"version {before.version}", f"version {after.version}")
    return _unified(_lines(before), _lines(after), *names)


def changed_blocks(old: Sequence[str], new: Sequence[str]) -> list[Block]:
    """Return the blocks in which two texts differ, in order.

    Lines that occur exactly once in each text are aligned first (as in Bram Cohen's patience diff), so that only the
    lines between them are compared.
    """
    blocks: list[Block] = []
    a = c = 0
    for b, d in [*_anchors(old, new), (len(old), len(new))]:
        blocks += _blocks(old[a:b], new[c:d], a, c)
        a, c = b + 1, d + 1
    return blocks


def _blocks(old: Sequence[str], new: Sequence[str], first_old: int, first_new: int) -> list[Block]:
    start = _common(old, new)
    end = _common(old[start:][::-1], new[start:][::-1])
    old, new = old[start : len(old) - end], new[start : len(new) - end]
    first_old, first_new = first_old + start, first_new + start
    if not old and not new:
        return []
    if matching_work(old, new) > _MAX_WORK:
        return [(first_old, first_old + len(old), first_new, first_new + len(new))]
    return [
        (first_old + a, first_old + b, first_new + c, first_new + d)
        for tag, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
        if tag != "equal"
    ]


def matching_work(old: Iterable[str], new: Iterable[str]) -> int:
    """Return an upper bound on the steps that `SequenceMatcher` takes for two sequences, each of about 0.1 µs.

    For every matching run, it examines all pairs of equal items again; there are at most as many runs as items.
    """
    ours, theirs = Counter(old), Counter(new)
    pairs = sum(count * theirs[item] for item, count in ours.items())
    return pairs * min(ours.total(), theirs.total())


def _anchors(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Return the longest common sequence of lines that occur exactly once in each text, as pairs of positions."""
    counts_old, counts_new = Counter(old), Counter(new)
    positions = {line: at for at, line in enumerate(new) if counts_new[line] == 1}
    pairs = [(at, positions[line]) for at, line in enumerate(old) if counts_old[line] == 1 and line in positions]
    ends: list[int] = []
    piles: list[int] = []
    predecessors: list[int] = []
    for number, (_, at) in enumerate(pairs):
        pile = bisect_left(ends, at)
        predecessors.append(piles[pile - 1] if pile else -1)
        ends[pile : pile + 1], piles[pile : pile + 1] = [at], [number]
    row: list[tuple[int, int]] = []
    number = piles[-1] if piles else -1
    while number >= 0:
        row.append(pairs[number])
        number = predecessors[number]
    return row[::-1]


def _lines(article: Article) -> list[str]:
    draft = Draft.of(article)
    fields = [f"{name}: {_text_of(getattr(draft, name))}" for name in FIELDS if name != "body" and getattr(draft, name)]
    return [*fields, "", *article.body.splitlines()]


def _text_of(value: object) -> str:
    return ", ".join(value) if isinstance(value, tuple) else str(value)


def _unified(old: list[str], new: list[str], name_before: str, name_after: str) -> str:
    blocks = changed_blocks(old, new)
    if not blocks:
        return ""
    text = "\n".join([f"--- {name_before}", f"+++ {name_after}", *_hunks(old, new, blocks)])
    if len(text) <= MAX_DIFF_LENGTH:
        return text
    return f"{text[:MAX_DIFF_LENGTH]}\n(cut: the whole difference has {len(text):,} characters)"


def _hunks(old: Sequence[str], new: Sequence[str], blocks: Sequence[Block]) -> Iterator[str]:
    """Yield the lines of the hunks of a unified diff. Changes that are close to each other share a hunk."""
    hunk: list[Block] = []
    for block in blocks:
        if hunk and block[0] - hunk[-1][1] > 2 * _CONTEXT:
            yield from _hunk(old, new, hunk)
            hunk = []
        hunk.append(block)
    yield from _hunk(old, new, hunk)


def _hunk(old: Sequence[str], new: Sequence[str], blocks: Sequence[Block]) -> Iterator[str]:
    before = min(_CONTEXT, blocks[0][0])
    after = min(_CONTEXT, len(old) - blocks[-1][1])
    first_old, last_old = blocks[0][0] - before, blocks[-1][1] + after
    first_new, last_new = blocks[0][2] - before, blocks[-1][3] + after
    yield f"@@ -{_range(first_old, last_old)} +{_range(first_new, last_new)} @@"
    at = first_old
    for a, b, c, d in blocks:
        yield from (f" {line}" for line in old[at:a])
        yield from (f"-{line}" for line in old[a:b])
        yield from (f"+{line}" for line in new[c:d])
        at = b
    yield from (f" {line}" for line in old[at:last_old])


def _range(first: int, last: int) -> str:
    """Return a range of lines in unified diff notation: from 1, or from the line before if the range is empty."""
    count = last - first
    return f"{first + 1}" if count == 1 else f"{first + 1 if count else first},{count}"


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """Return the number of lines that two texts have in common at their beginning."""
    count = 0
    for first, second in zip(one, other, strict=False):
        if first != second:
            break
        count += 1
    return count


_MAX_ORIGIN_LENGTH = 200


@dataclass(frozen=True, slots=True)
class Version:
    """Metadata of a version. `origin` is the client that wrote it; `added` and `removed` are numbers of body lines."""

    version: int
    created_at: datetime
    origin: str
    author: str
    changed: tuple[str, ...]
    added: int
    removed: int


async def add(
    session: AsyncSession,
    row: ArticleRow,
    draft: Draft,
    before: Draft | None,
    origin: str,
    *,
    size: int,
    max_versions: int = 0,
) -> None:
    """Store the newest version of an article, which takes `size` bytes.

    With `max_versions`, delete versions beyond that number unless they are published, and subtract their size from
    the row's `stored`.
    """
    added, removed = line_counts(before.body if before else "", draft.body)
    session.add(
        VersionRow(
            article_id=row.id,
            version=row.version,
            size=size,
            fields=draft.stored(),
            body=draft.body,
            origin=origin[:_MAX_ORIGIN_LENGTH],
            changed=list(draft.changed_from(before)) if before else [],
            added=added,
            removed=removed,
            created_at=row.updated_at,
        )
    )
    if max_versions and row.version > max_versions:
        published = select(PublicationRow.article_version).where(PublicationRow.article_id == row.id)
        old = delete(VersionRow).where(
            VersionRow.article_id == row.id,
            VersionRow.version <= row.version - max_versions,
            VersionRow.version.not_in(published),
        )
        row.stored -= sum(await session.scalars(old.returning(VersionRow.size)))


async def read(session: AsyncSession, article_id: str, version: int) -> Draft:
    """Return the content of a version. Raises `NotFound`."""
    statement = select(VersionRow).where(VersionRow.article_id == article_id, VersionRow.version == version)
    row = await session.scalar(statement)
    if row is None:
        raise NotFound(
            f"this article has no version {version}; get_content with versions: true lists the ones that are kept"
        )
    return Draft.of_version(row.fields, row.body)


async def listed(session: AsyncSession, article_id: str) -> Sequence[Version]:
    """Return all stored versions of an article, newest first."""
    columns = (
        VersionRow.version,
        VersionRow.created_at,
        VersionRow.origin,
        VersionRow.fields,
        VersionRow.changed,
        VersionRow.added,
        VersionRow.removed,
    )
    statement = select(*columns).where(VersionRow.article_id == article_id).order_by(VersionRow.version.desc())
    return [
        Version(version, created_at, origin, fields.get("author", ""), tuple(changed), added, removed)
        for version, created_at, origin, fields, changed, added, removed in await session.execute(statement)
    ]
