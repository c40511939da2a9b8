"""Tags, categories and authors of a WordPress site."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping, Sequence
from html import unescape
from itertools import count
from typing import Any, Final

from pressroom_content.contract import SiteRefused, SiteRejected, Term, TermKind, field_text

from pressroom_wordpress.client import WordPressClient

TAXONOMIES: Final[Mapping[TermKind, str]] = {"category": "/wp/v2/categories", "tag": "/wp/v2/tags"}
_USERS: Final = "/wp/v2/users"
_AT_ONCE: Final = 20
_PAGE: Final = 100
_MAX_DIGITS: Final = 9


async def list_terms(client: WordPressClient, kind: TermKind, query: str, limit: int) -> Sequence[Term]:
    """Return categories, tags or authors. WordPress has no other kinds: they raise `SiteRefused`."""
    if kind == "author":
        return await _authors(client, query, limit)
    if kind not in TAXONOMIES:
        raise SiteRefused(f"WordPress has categories, tags and authors to list, but no kind {kind}")
    rows = await _listed(client, TAXONOMIES[kind], query, limit)
    return [_term(row) for row in rows[:limit]]


async def _authors(client: WordPressClient, query: str, limit: int) -> Sequence[Term]:
    """Return those whom this user may see: all, or those with published posts, and always this user."""
    rows = await _listed(client, _USERS, query, limit)
    me = (await client.get(f"{_USERS}/me")).row(written=False)
    if query.casefold() in str(me.get("name", "")).casefold() and me["id"] not in [row.get("id") for row in rows]:
        rows.append(me)
    return [_term(row) for row in rows[:limit]]


async def _listed(client: WordPressClient, path: str, query: str, limit: int) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    async for rows in pages_of(client, path, {"search": query}, min(_PAGE, limit)):
        found += rows
        if len(found) >= limit:
            break
    return found


def _term(row: Mapping[str, Any]) -> Term:
    return Term(str(row.get("id", "")), _name(row), str(row.get("slug", "")), row.get("count"))


async def term_ids(client: WordPressClient, kind: TermKind, names: Sequence[str]) -> Mapping[str, str]:
    """Return the ids of terms by their names, having made those that are missing.

    What the role may not make is left out.
    """
    wanted = list(dict.fromkeys(names))
    known: dict[str, str] = {}
    for start in range(0, len(wanted), _AT_ONCE):
        # WordPress makes slugs of these names as it does when it makes terms.
        query = {"slug[]": wanted[start : start + _AT_ONCE], "per_page": _PAGE}
        rows = (await client.get(TAXONOMIES[kind], query)).rows(with_ids=True)
        known |= {_name(row).casefold(): str(row.get("id", "")) for row in rows}
    ids = {name: known.get(name.casefold()) or await _made(client, kind, name) for name in wanted}
    return {name: identifier for name, identifier in ids.items() if identifier}


async def _made(client: WordPressClient, kind: TermKind, name: str) -> str:
    path = TAXONOMIES[kind]
    try:
        return str((await client.send("POST", path, document={"name": name})).row(written=True)["id"])
    except (SiteRefused, SiteRejected) as error:
        # It may be there with another slug than its name comes to.
        for row in (await client.get(path, {"search": name, "per_page": _PAGE})).rows(with_ids=True):
            if _name(row).casefold() == name.casefold():
                return str(row.get("id", ""))
        if isinstance(error, SiteRejected):
            return ""
    # Another name may come to the same slug: WordPress says `term_exists`, and has it under that slug.
    slug = re.sub(r"[^a-z0-9]+", "-", name.casefold()).strip("-")
    rows = (await client.get(path, {"slug": slug})).rows(with_ids=True)
    return str(rows[0].get("id", "")) if rows else ""


async def author_ids(client: WordPressClient, name: str) -> tuple[str, ...]:
    """Return the id of the author with a name, or with a slug such as `ada-lovelace`; nothing if absent."""
    try:
        rows = await _listed(client, _USERS, name, _AT_ONCE)
        found = _same(rows, name)
        if not found:  # WordPress lists other roles than administrators only authors with published posts
            found = _same([(await client.get(f"{_USERS}/me")).row(written=False)], name)
    except SiteRejected:
        return ()
    return found


def _same(rows: Sequence[Mapping[str, Any]], name: str) -> tuple[str, ...]:
    for row in rows:
        if name.casefold() in (_name(row).casefold(), str(row.get("slug", "")).casefold()):
            return (str(row["id"]),)
    return ()


async def term_names(client: WordPressClient, kind: TermKind, ids: Sequence[str]) -> Mapping[str, str]:
    """Return the names of terms by their ids."""
    found: dict[str, str] = {}
    for start in range(0, len(ids), _PAGE):
        query = {"include": ",".join(ids[start : start + _PAGE]), "per_page": _PAGE}
        for row in (await client.get(TAXONOMIES[kind], query)).rows(with_ids=True):
            found[str(row.get("id", ""))] = _name(row)
    return found


async def pages_of(
    client: WordPressClient, path: str, query: Mapping[str, Any], size: int
) -> AsyncIterator[list[dict[str, Any]]]:
    """Give the pages of a list, each of at most `size` rows with ids.

    Where a proxy drops the header that says how many there are, the list ends with a page that is not full, or at one
    that WordPress refuses since it is past the end.

    Raises:
        SiteError: the site could not be asked, or answered with something else.
    """
    counted = True
    for page in count(1):
        try:
            answer = await client.get(path, {**query, "per_page": size, "page": page})
        except SiteRefused:
            if counted:
                raise
            return
        rows = answer.rows(with_ids=True)
        yield rows
        pages = number_of_pages(answer.headers)
        counted = pages is not None
        if not rows or (len(rows) < size if pages is None else page >= pages):
            return


def number_of_pages(headers: Mapping[str, str]) -> int | None:
    """Return how many pages a list has, or `None` where the site does not say."""
    total = headers.get("x-wp-totalpages", "")
    return int(total) if total.isascii() and total.isdecimal() and len(total) <= _MAX_DIGITS else None


def _name(row: Mapping[str, Any]) -> str:
    return unescape(field_text(row.get("name")))
