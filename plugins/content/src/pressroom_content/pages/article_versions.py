"""The dashboard's pages of an article's versions: the changes of each, a comparison of two, and restoring one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from difflib import SequenceMatcher
from itertools import filterfalse, islice
from typing import Final, Literal

from pressroom.sdk import DashboardPage, HttpRequest, HttpResponse, InvalidInput, PluginContext, Route

from pressroom_content.articles import trash
from pressroom_content.articles.fields import FIELDS, Draft
from pressroom_content.articles.store import Articles
from pressroom_content.articles.versions import Version, changed_blocks, matching_work
from pressroom_content.pages.article import head, refusal, requested_article
from pressroom_content.pages.articles import PATH
from pressroom_content.pages.connect import form_of, fragment, see_other
from pressroom_content.pages.shown import moment
from pressroom_content.records import Article
from pressroom_content.tools.common import plural

MAX_ROWS: Final = 600
"""Maximum number of rows of a comparison that are shown."""

MAX_LINE_LENGTH: Final = 4_000
"""Maximum number of characters of a line that are shown."""

_CONTEXT: Final = 2
_MAX_WORK: Final = 1_000_000
"""Maximum work (see `matching_work`) to compare two lines by their words; above it, no words are marked."""

_MAX_TOTAL_WORK: Final = 10_000_000
"""The same limit for all pairs of lines of a comparison together."""

_WORDS = re.compile(r"\w+|\s+|[^\w\s]")
_MIN_SIMILARITY: Final = 0.3

Kind = Literal["same", "removed", "added", "gap"]


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a line; `changed` means that the other version differs there."""

    text: str
    changed: bool = False


@dataclass(frozen=True, slots=True)
class DiffRow:
    """A line with its number in the older and the newer version, `None` for a version that lacks it."""

    kind: Kind
    old: int | None
    new: int | None
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class FieldChange:
    """A changed field other than the body."""

    name: str
    before: tuple[Piece, ...]
    after: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class VersionDiff:
    """Changed fields and lines. `cut` means that there are more lines than `rows` contains."""

    fields: tuple[FieldChange, ...]
    rows: tuple[DiffRow, ...]
    cut: bool

    @property
    def same(self) -> bool:
        """Whether the versions are equal."""
        return not self.fields and not self.rows


def compare(before: Article, after: Article) -> VersionDiff:
    """Compare two versions. It can take a second per megabyte: call it in a worker process."""
    words = WordDiff()
    fields = tuple(_fields(before, after, words))
    rows = tuple(islice(_rows(before.body.splitlines(), after.body.splitlines(), words), MAX_ROWS + 1))
    return VersionDiff(fields, rows[:MAX_ROWS], cut=len(rows) > MAX_ROWS)


class WordDiff:
    """Compares lines by their words, until its work limit is used up."""

    def __init__(self) -> None:
        self._left = _MAX_TOTAL_WORK

    def changes(self, before: str, after: str) -> tuple[tuple[Piece, ...], tuple[Piece, ...]]:
        """Return two lines as pieces; pieces that the other line lacks are marked as changed."""
        before, after = before[:MAX_LINE_LENGTH], after[:MAX_LINE_LENGTH]
        old, new = _WORDS.findall(before), _WORDS.findall(after)
        work = matching_work(filterfalse(str.isspace, old), filterfalse(str.isspace, new))
        if not before or not after or work > min(_MAX_WORK, self._left):
            return (Piece(before),), (Piece(after),)
        self._left -= work
        return _word_changes(old, new)


def _word_changes(old: Sequence[str], new: Sequence[str]) -> tuple[tuple[Piece, ...], tuple[Piece, ...]]:
    matcher = SequenceMatcher(str.isspace, old, new, autojunk=False)
    if matcher.ratio() < _MIN_SIMILARITY:
        return (Piece("".join(old)),), (Piece("".join(new)),)
    left, right = [], []
    for tag, a, b, c, d in matcher.get_opcodes():
        if a < b:
            left.append(Piece("".join(old[a:b]), tag != "equal"))
        if c < d:
            right.append(Piece("".join(new[c:d]), tag != "equal"))
    return tuple(left), tuple(right)


def _fields(before: Article, after: Article, words: WordDiff) -> Iterator[FieldChange]:
    old, new = Draft.of(before), Draft.of(after)
    for name in FIELDS:
        if name != "body" and getattr(old, name) != getattr(new, name):
            yield FieldChange(name, *words.changes(_text_of(getattr(old, name)), _text_of(getattr(new, name))))


def _text_of(value: object) -> str:
    return ", ".join(value) if isinstance(value, tuple) else str(value or "")


def _rows(old: Sequence[str], new: Sequence[str], words: WordDiff) -> Iterator[DiffRow]:
    blocks = changed_blocks(old, new)
    next_line = 0
    for number, (a, b, c, d) in enumerate(blocks):
        first = max(next_line, a - _CONTEXT)
        if first > next_line:
            yield _gap(first - next_line)
        yield from (_same(old[at], at, at + c - a) for at in range(first, a))
        yield from _changed(old[a:b], new[c:d], a, c, words)
        following = blocks[number + 1][0] if number + 1 < len(blocks) else len(old)
        next_line = min(b + _CONTEXT, following)
        yield from (_same(old[at], at, at + d - b) for at in range(b, next_line))
    if blocks and next_line < len(old):
        yield _gap(len(old) - next_line)


def _changed(
    old: Sequence[str], new: Sequence[str], first_old: int, first_new: int, words: WordDiff
) -> Iterator[DiffRow]:
    """Yield the rows of a block. If it has as many removed as added lines, compare each shown pair by words."""
    shown_old, shown_new = old[: MAX_ROWS + 1], new[: MAX_ROWS + 1]
    pairs = [words.changes(*pair) for pair in zip(shown_old, shown_new, strict=True)] if len(old) == len(new) else []
    removed = [left for left, _ in pairs] or [(Piece(line[:MAX_LINE_LENGTH]),) for line in shown_old]
    added = [right for _, right in pairs] or [(Piece(line[:MAX_LINE_LENGTH]),) for line in shown_new]
    for at, pieces in enumerate(removed):
        yield DiffRow("removed", first_old + at + 1, None, pieces)
    for at, pieces in enumerate(added):
        yield DiffRow("added", None, first_new + at + 1, pieces)


def _same(line: str, old: int, new: int) -> DiffRow:
    return DiffRow("same", old + 1, new + 1, (Piece(line[:MAX_LINE_LENGTH]),))


def _gap(count: int) -> DiffRow:
    return DiffRow("gap", None, None, (Piece(plural(count, "unchanged line")),))


FIELD_NAMES: Final = {
    "title": "Title",
    "body": "Text",
    "body_format": "Format of the text",
    "website_id": "Website",
    "slug": "Slug",
    "excerpt": "Excerpt",
    "keyphrase": "Keyphrase",
    "synonyms": "Synonyms",
    "meta_title": "Title in search results",
    "meta_description": "Description in search results",
    "tags": "Tags",
    "categories": "Categories",
    "language": "Language",
    "canonical_url": "Original",
    "author": "Author",
    "featured_media_id": "Featured image",
    "featured_alt": "Alt text of the featured image",
}


def origin_of(request: HttpRequest) -> str:
    """Return the origin that a version stores for a change on a page, with the person's name unless it is the owner."""
    return "the dashboard" if request.person == request.subject else f"{request.person_name} on the dashboard"


class VersionPages:
    """Shows and restores versions of articles."""

    def __init__(self, plugin: PluginContext) -> None:
        self._plugin = plugin

    def routes(self) -> Sequence[Route]:
        """Return the routes."""
        return [
            Route(f"{PATH}/<id>/versions", self.versions, page=DashboardPage("Versions of an article")),
            Route(
                f"{PATH}/<id>/versions/<version>",
                self.version,
                ("GET", "POST"),
                DashboardPage("Restore a version", {"": "restore_content"}),
            ),
        ]

    async def versions(self, request: HttpRequest) -> HttpResponse:
        """List the versions, and compare two of them. Raises `NotFound`."""
        article = await requested_article(self._plugin, request)
        versions = await trash.listed_versions(self._plugin, request.subject, article.id)
        numbers = [version.version for version in versions]
        b = _number(request.query.get("b"), numbers, article.version)
        a = _number(request.query.get("a"), numbers, max([number for number in numbers if number < b], default=b))
        a, b = min(a, b), max(a, b)
        now = datetime.now(UTC)
        get = Articles(self._plugin).get
        comparison = None
        if a != b:
            before, after = await get(request.subject, article.id, a), await get(request.subject, article.id, b)
            comparison = await self._compared(before, after)
        return fragment(
            "article_versions.html",
            self._plugin,
            request,
            **await head(self._plugin, request, article, "versions"),
            versions=[
                {
                    "version": version.version,
                    "at": moment(version.created_at, now),
                    "by": version.origin,
                    "note": _note(version, is_first=version.version == numbers[-1]),
                    "lines": (version.added, version.removed),
                }
                for version in versions
            ],
            a=a,
            b=b,
            comparison=comparison,
            field_names=FIELD_NAMES,
            message=_done(request.query, numbers),
        )

    async def version(self, request: HttpRequest) -> HttpResponse:
        """Show what restoring a version would change, and restore it. Raises `NotFound`."""
        articles = Articles(self._plugin)
        article = await requested_article(self._plugin, request)
        versions = await trash.listed_versions(self._plugin, request.subject, article.id)
        number = _number(request.path_params["version"], [version.version for version in versions], 0)
        older = await articles.get(request.subject, article.id, number)
        problem = ""
        if request.method == "POST":
            try:
                restored = await self._restore(request, article, older)
            except InvalidInput as error:
                problem = refusal(error)
            else:
                back = f"{PATH}/{article.id}/versions?restored={older.version}&a={article.version}&b={restored.version}"
                return see_other(self._plugin, back)
        return fragment(
            "article_restore.html",
            self._plugin,
            request,
            status=400 if problem else 200,
            **await head(self._plugin, request, article, "versions"),
            older=older,
            at=next(moment(version.created_at, datetime.now(UTC)) for version in versions if version.version == number),
            # Restoring a version changes neither the slug nor the website.
            comparison=await self._compared(article, replace(older, slug=article.slug, website_id=article.website_id)),
            field_names=FIELD_NAMES,
            problem=problem,
        )

    async def _restore(self, request: HttpRequest, article: Article, older: Article) -> Article:
        """Restore a version, unless the article changed after the page was shown. Raises `InvalidInput`."""
        if form_of(request).get("newest", "") != str(article.version):
            raise InvalidInput("", "the article was changed in the meantime; check the differences again")
        origin = origin_of(request)
        return await trash.restore(self._plugin, article.user_id, article.id, older.version, origin=origin)

    async def _compared(self, before: Article, after: Article) -> VersionDiff:
        run = self._plugin.services.workers.run
        return await run(compare, before, after, owner=before.user_id, what="the comparison")


def _number(text: str | None, numbers: Sequence[int], otherwise: int) -> int:
    """Return the number in a URL if that version is stored, or else `otherwise`."""
    known = {str(number): number for number in numbers}
    return known.get(text or "", otherwise)


def _note(version: Version, *, is_first: bool) -> str:
    """Return a short description of a version's changes."""
    if not version.changed:
        return "First version" if is_first else "No field changed"
    names = [FIELD_NAMES.get(name, name) for name in version.changed]
    return f"Changed: {', '.join([names[0], *(name[:1].lower() + name[1:] for name in names[1:])])}"


def _done(query: Mapping[str, str], numbers: Sequence[int]) -> str:
    restored = query.get("restored", "")
    if not (restored.isascii() and restored.isdecimal() and len(restored) <= 9 and 0 < int(restored) < numbers[0]):
        return ""
    return f"Version {restored} is back as version {numbers[0]}. Live posts stay as they are until you update them."
