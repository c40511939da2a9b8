"""The tags, categories and author of a post as the ids of its site. They are looked up once for each set of names."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, TypeVar

from pressroom_content.contract import Post, RemotePost, SiteRefused, TermKind
from pressroom_content.publishing.authors import find_author
from pressroom_content.publishing.comparing import plain, without_spaces
from pressroom_content.publishing.work import PublicationWork

Sent = TypeVar("Sent")

_FIELDS: Final[Mapping[TermKind, str]] = {"tag": "tags", "category": "categories", "author": "author"}


async def terms(work: PublicationWork) -> None:
    """Make the tags and categories that are missing on the site. It is safe to repeat, so nothing is noted before.

    Ids from before are taken for the same names, where it is read back what the site made of them.
    """
    ids, names = (work.step.detail.get(name, {}) for name in ("term_ids", "term_names"))
    wanted = await _wanted(work)
    known = {
        kind: ids[kind]
        for kind, said in wanted.items()
        if work.able.read_back and names.get(kind) == said and len(ids.get(kind, ())) >= len(set(said))
    }
    work.done(await _looked_up(work, wanted, known))


async def send_with_terms(work: PublicationWork, send: Callable[[Post], Awaitable[Sent]]) -> Sent:
    """Send the post. Where the site refuses it, once more if ids from before are not those of its terms any more.

    Raises what `send` does, and `InvalidInput` where the site does not have the author any more.
    """
    try:
        return await send(await work.post())
    except SiteRefused:
        if not await _renewed(work, tuple(_FIELDS)):
            raise
    work.held.lease.check()
    return await send(await work.post())


async def with_lost_terms(work: PublicationWork, remote: RemotePost) -> RemotePost:
    """Return a post that was written just now, written again if the site dropped terms that were deleted there."""
    lost = list(_lost(await work.post(), remote, await _wanted(work)))
    if not lost or not await _renewed(work, lost):
        return remote
    work.held.lease.check()
    return await work.site.update(remote.id, await work.post(), remote.revision)


async def _wanted(work: PublicationWork) -> dict[TermKind, list[str]]:
    """Return the names that are sent of a post, by kind; those that stay as they are on the site are not."""
    post, kept = (await work.manuscript()).post, await work.kept()
    names: dict[TermKind, Sequence[str]] = {
        "tag": post.tags,
        "category": post.categories,
        "author": [post.author] if post.author else [],
    }
    return {kind: list(said) for kind, said in names.items() if said and _FIELDS[kind] not in kept}


async def _looked_up(
    work: PublicationWork, wanted: Mapping[TermKind, list[str]], known: Mapping[TermKind, list[str]]
) -> dict[str, Any]:
    """Return the detail of the step, with the ids of all that is wanted and not known."""
    missing = {kind: said for kind, said in wanted.items() if kind not in known}
    post = replace(
        (await work.manuscript()).post,
        author="".join(missing.get("author", ())),
        tags=tuple(missing.get("tag", ())),
        categories=tuple(missing.get("category", ())),
    )
    found, warnings = await find_author(work.site, work.connector, work.able, post)
    ids: dict[TermKind, Sequence[str]] = {**found, **known}
    if post.tags or post.categories:
        made = await work.site.ensure_terms(replace(post, author=""))
        ids = {**made, **{kind: said for kind, said in ids.items() if said}}
    work.terms_looked_up |= missing.keys()
    return {
        "term_ids": {kind: list(said) for kind, said in ids.items()},
        "term_names": dict(wanted),
        "warnings": warnings,
    }


async def _renewed(work: PublicationWork, kinds: Collection[TermKind]) -> bool:
    """Look up terms again whose ids are from before; tell whether they have other ids by now."""
    step, wanted = work.held.steps["terms"], await _wanted(work)
    before = step.detail.get("term_ids", {})
    renewed = [kind for kind in kinds if kind in wanted and kind not in work.terms_looked_up]
    if not renewed:
        return False
    detail = await _looked_up(work, wanted, {kind: said for kind, said in before.items() if kind not in renewed})
    work.held.note("terms", step.state, detail)
    return bool(detail["term_ids"] != before)


def _lost(post: Post, remote: RemotePost, wanted: Collection[TermKind]) -> Iterator[TermKind]:
    """Yield the kinds of which the post on the site lacks some, or has others. What it does not tell is not lost."""
    for kind in ("tag", "category"):
        if kind in wanted and _FIELDS[kind] in remote.fields:
            there = {without_spaces(one) for one in remote.fields[_FIELDS[kind]] or ()}
            if not there.issuperset(map(without_spaces, getattr(post, _FIELDS[kind]))):
                yield kind
    author = remote.fields.get("author")
    if "author" in wanted and author and plain(author) != plain(post.author):
        yield "author"
