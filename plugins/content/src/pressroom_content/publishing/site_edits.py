"""Merging edits made to a post on its website into the article, so that publishing does not overwrite them.

This is a three-way merge, block by block.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import unified_diff
from typing import Any, Final, Literal

from pressroom.sdk import InvalidInput, PluginContext
from sqlalchemy.ext.asyncio import AsyncSession

from pressroom_content.articles.fields import Draft
from pressroom_content.articles.store import Articles, ArticleUpdate
from pressroom_content.contract import BlockSite
from pressroom_content.publishing.bodies import (
    BodySegment,
    SiteBody,
    joined_text,
    ranges_of,
    read_body,
    unchanged,
    with_known_texts,
)
from pressroom_content.publishing.comparing import baseline_of, compared, is_unedited
from pressroom_content.publishing.known import can_be_stored, known_body, remember_body
from pressroom_content.publishing.merged_fields import FieldConflict, Side, merged_fields, sent_of, settled
from pressroom_content.publishing.operations import changing
from pressroom_content.publishing.store import record, shortened
from pressroom_content.records import Article, Publication
from pressroom_content.rendering.pieces import BodyPiece, pieces_of, placeholder
from pressroom_content.websites.store import Websites

_CONTEXT: Final = 1
_DEFINITION: Final = re.compile(
    r"^ {0,3}\[([^\[\]\n]{1,200})\]:[^\n]*+"
    r"(?>(?:\n(?![ \t]*+$)(?! {0,3}\[[^\[\]\n]{1,200}\]:)[^\n]++|\n++(?= {4}\S)[^\n]++)*)",
    re.MULTILINE,
)
"""A footnote or link definition in Markdown, including continuation lines and indented paragraphs."""


@dataclass(frozen=True, slots=True)
class MergeConflict:
    """Blocks that were changed on both sides. `number` counts from 1; the texts are Markdown."""

    number: int
    before: str
    article: str
    site: str


@dataclass(frozen=True, slots=True)
class MergedBody:
    """An article's body merged with the edits of its website, as Markdown. `conflicts` holds the undecided ones."""

    text: str
    conflicts: tuple[MergeConflict, ...]


@dataclass(frozen=True, slots=True)
class _Edit:
    """The texts with which one side replaces the common segments from `begin` up to `end`."""

    begin: int
    end: int
    side: Literal["article", "site"]
    texts: tuple[str, ...]


def merge(base: SiteBody, site: SiteBody, pieces: Sequence[BodyPiece], choices: Mapping[int, Side]) -> MergedBody:
    """Merge the website's edits into the article's body. It can take seconds: call it in a worker.

    Args:
        base: the common ancestor: the body as it was last read or written from here.
        site: the body as it is on the website.
        pieces: the article's body.
        choices: the side to use for each conflict, by its number.
    """
    stable, edits = _edits_of_article(base.segments, site.segments, pieces)
    edits += _edits_of_site(base.segments, site.segments)
    texts: list[str] = []
    conflicts: list[MergeConflict] = []
    at = 0
    for group in _groups(sorted(edits, key=lambda edit: (edit.begin, edit.end))):
        begin, end = group[0].begin, max(edit.end for edit in group)
        texts += [text for number in range(at, begin) for text in stable[number]]
        at = end
        before = [segment.text for segment in base.segments[begin:end]]
        forms = {side: _applied(before, begin, group, side) for side in ("article", "site")}
        sides = {edit.side for edit in group}
        if len(sides) == 1 or forms["article"] == forms["site"]:
            texts += forms[min(sides)]
            continue
        number = len(conflicts) + 1
        conflicts.append(MergeConflict(number, *map(joined_text, (before, forms["article"], forms["site"]))))
        choice = choices.get(number)
        texts += forms["site"] if choice in ("site", "both") else ()
        texts += forms["article"] if choice in ("article", "both") else ()
    texts += [text for number in range(at, len(base.segments)) for text in stable[number]]
    undecided = tuple(conflict for conflict in conflicts if conflict.number not in choices)
    text = _with_definitions(joined_text([text for text in texts if text]), pieces)
    return MergedBody(text, undecided)


def diff_of(base: SiteBody, site: SiteBody) -> str:
    """Return the edits on the website as a unified diff of Markdown; empty if no text was changed."""
    versions = ([_DEFINITION.sub("", segment.text).rstrip() for segment in body.segments] for body in (base, site))
    before, now = (joined_text([text for text in texts if text]) for texts in versions)
    lines = unified_diff(before.split("\n"), now.split("\n"), "before", "website", lineterm="", n=_CONTEXT)
    return "\n".join(lines)


def _with_definitions(text: str, pieces: Sequence[BodyPiece]) -> str:
    """Restore the footnotes and link definitions that a text refers to and lost.

    Articles have them below a paragraph. Where the website's text replaces that paragraph, they are lost.
    """
    defined = {match[1] for match in _DEFINITION.finditer(text)}
    definitions = {match[1]: match[0].rstrip() for piece in pieces for match in _DEFINITION.finditer(piece.text)}
    lost = [definition for label, definition in definitions.items() if label not in defined and f"[{label}]" in text]
    return "\n\n".join([text.rstrip("\n"), *lost]) + "\n" if lost else text


def _edits_of_article(
    before: Sequence[BodySegment], site: Sequence[BodySegment], pieces: Sequence[BodyPiece]
) -> tuple[Mapping[int, Sequence[str]], list[_Edit]]:
    """Return the article's texts of unchanged segments, by segment number, and its edits."""
    on_site = _on_site(before, site)
    keys = {segment.key: site[on_site[at]].key for at, segment in enumerate(before) if segment.key and at in on_site}
    texts = [_merged_text(piece, site, keys) for piece in pieces]
    positions = {id(segment): (first, count) for first, (segment, count) in unchanged(before, pieces)}
    stable: dict[int, Sequence[str]] = {}
    edits: list[_Edit] = []
    begin = first = 0
    for at, segment in enumerate(before):
        position = positions.get(id(segment))
        if position is None:
            continue
        edits += _edits(begin, at, texts[first : position[0]], "article")
        begin, first = at + 1, position[0] + position[1]
        stable[at] = texts[position[0] : first]
    return stable, [*edits, *_edits(begin, len(before), texts[first:], "article")]


def _edits_of_site(before: Sequence[BodySegment], site: Sequence[BodySegment]) -> list[_Edit]:
    edits: list[_Edit] = []
    begin = first = 0
    texts = [segment.text for segment in site]
    for at, on_site in _on_site(before, site).items():
        edits += _edits(begin, at, texts[first:on_site], "site")
        begin, first = at + 1, on_site + 1
    return [*edits, *_edits(begin, len(before), texts[first:], "site")]


def _edits(begin: int, end: int, texts: Sequence[str], side: Literal["article", "site"]) -> Iterator[_Edit]:
    """Yield the edits of a range: one per segment if there are as many texts as segments."""
    if end - begin == len(texts):
        yield from (_Edit(begin + at, begin + at + 1, side, (text,)) for at, text in enumerate(texts))
    else:
        yield _Edit(begin, end, side, tuple(texts))


def _groups(edits: Sequence[_Edit]) -> Iterator[list[_Edit]]:
    """Yield groups of edits that overlap or insert at the same place."""
    group: list[_Edit] = []
    end = 0
    for edit in edits:
        same_position = bool(group) and edit.begin == edit.end == group[-1].begin == group[-1].end
        if group and edit.begin >= end and not same_position:
            yield group
            group = []
        group.append(edit)
        end = max(end, edit.end)
    if group:
        yield group


def _applied(
    before: Sequence[str], begin: int, group: Sequence[_Edit], side: Literal["article", "site"]
) -> Sequence[str]:
    """Return the texts of some segments with the edits of one side. `begin` is the number of the first segment."""
    texts: list[str] = []
    at = begin
    for edit in group:
        if edit.side == side:
            texts += [*before[at - begin : edit.begin - begin], *edit.texts]
            at = edit.end
    return [*texts, *before[at - begin :]]


def _on_site(before: Sequence[BodySegment], now: Sequence[BodySegment]) -> dict[int, int]:
    """Map the number of each unchanged segment to its number on the website."""
    old, new = (["\0".join(segment.sources) for segment in segments] for segments in (before, now))
    numbers: dict[int, int] = {}
    for begin, end, first, last in ranges_of(old, new):
        if old[begin:end] == new[first:last]:
            numbers.update(zip(range(begin, end), range(first, last), strict=True))
    return numbers


def _merged_text(piece: BodyPiece, site: Sequence[BodySegment], keys: Mapping[str, str]) -> str:
    """Return the text of a piece. The placeholder of a block gets the block's current key."""
    key = keys.get(piece.block, "") if piece.block else ""
    if not key or key == piece.block:
        return piece.text
    return placeholder(key, next(segment.name for segment in site if segment.key == key))


@dataclass(frozen=True, slots=True)
class SiteEdits:
    """The edits made on a website, and the outcome of merging them.

    `diff` is a unified diff of the body's Markdown, `fields` holds the new values of other fields. `update` is the
    article's new version. It is `None` if there are undecided conflicts, in a dry run, if nothing was edited, or if the
    article has the edits already.
    """

    publication: Publication
    edited: bool
    diff: str = ""
    fields: Mapping[str, Any] | None = None
    conflicts: tuple[MergeConflict, ...] = ()
    field_conflicts: tuple[FieldConflict, ...] = ()
    update: ArticleUpdate | None = None


async def merge_edits(
    plugin: PluginContext,
    user_id: str,
    publication_id: str,
    choices: Mapping[str, Side],
    *,
    dry_run: bool = False,
    origin: str = "",
) -> SiteEdits:
    """Write a new version of an article that includes the edits made to its post on the website. Safe to repeat.

    `choices` selects the side for conflicts, by number, and for fields, by name. Nothing is written while a choice is
    missing. The website is never written to.

    Raises:
        NotFound: the account has no such publication.
        InvalidInput: it is being processed, is not on its website, or its platform's bodies cannot be merged.
        SiteError: the website could not be queried.
    """
    async with changing(plugin, user_id, publication_id) as leased:
        row = leased.row
        website = await Websites(plugin).get(user_id, row.website_id)
        _, site = await Websites(plugin).open(user_id, row.website_id)
        async with plugin.services.database.reading() as session:
            known = await known_body(session, row.id)
        if not isinstance(site, BlockSite) or not row.external_id or known is None:
            raise InvalidInput(
                "publication_id",
                "has no body on its website that could be merged; publish_content says what was edited there, and "
                "force writes over it",
            )
        remote = await site.read(row.external_id)
        publication = record(row)
        if await compared(plugin, is_unedited, remote, row.sent_hash):
            return SiteEdits(publication, edited=False)
        if not can_be_stored(remote.raw):
            raise InvalidInput("publication_id", "now has a body on its website that cannot be stored: it is too long")
        article = await Articles(plugin).get(user_id, row.article_id)
        run = plugin.services.workers.run
        numbers = {int(name): side for name, side in choices.items() if name.isdecimal() and len(name) < 9}
        merged, now, diff = await run(
            _merged, known.body, remote.raw, site.codec, article, numbers, owner=user_id, what="the post"
        )
        local = sent_of(plugin, website, article, row.options or {})
        fields = merged_fields(known, remote, local, choices)
        result = SiteEdits(publication, True, diff, fields.edited, merged.conflicts, fields.conflicts)
        if result.conflicts or result.field_conflicts or dry_run:
            return result
        body = {"body": merged.text, "body_format": "markdown"} if remote.raw != known.body.raw else {}
        draft = Draft.of(article).with_changes({**fields.changes, **body})
        updated = await Articles(plugin).write(article, draft, origin=origin)
        baseline, digest = await compared(plugin, baseline_of, remote)
        for name, detail in (("read_back", {"seen": baseline}), ("draft", {"post_hash": ""})):
            leased.note(name, leased.steps[name].state, {**leased.steps[name].detail, **detail})
        sent, owner_fields = settled(
            known, fields, sent_of(plugin, website, updated.article, row.options or {}), choices
        )

        async def remember(session: AsyncSession) -> None:
            await remember_body(session, row.id, now, remote, sent, owner_fields)

        refused = [name for name in fields.edited if choices.get(name) == "article"]
        unsent = refused if updated.article.version == row.article_version else []  # else it is sent anyway
        error = (
            f"the site has {', '.join(unsent)} otherwise than the article; publish_content sends it" if unsent else ""
        )
        await leased.save(remember, revision=shortened(remote.revision), sent_hash=digest, error=error)
        return replace(result, update=updated)


def _merged(
    base: SiteBody, raw: str, codec: Any, article: Article, choices: Mapping[int, Side]
) -> tuple[MergedBody, SiteBody, str]:
    now = with_known_texts(base, read_body(raw, codec))
    pieces = pieces_of(article.body, article.body_format)
    return merge(base, now, pieces, choices), now, diff_of(base, now)
