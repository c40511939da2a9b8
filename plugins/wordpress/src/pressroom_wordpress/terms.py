"""Tags, categories and authors of a WordPress site, and the redirects of the plugin Redirection.

WordPress itself only redirects the old slug of a live post to the new one, and does not list these redirects.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping, Sequence
from html import unescape
from itertools import count
from typing import Any, Final

from pressroom_content.contract import (
    RemoteRedirect,
    SiteApi,
    SiteGone,
    SiteRefused,
    SiteRejected,
    Term,
    TermKind,
    UnknownOutcome,
    field_text,
)

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
        raise SiteRefused(f"WordPress can list categories, tags and authors, but nothing of the kind {kind}")
    rows = await _listed(client, TAXONOMIES[kind], query, limit)
    return [_term(row) for row in rows[:limit]]


async def _authors(client: WordPressClient, query: str, limit: int) -> Sequence[Term]:
    """Return the authors that this user can see: all, or those with published posts, and always this user."""
    rows = await _listed(client, _USERS, query, limit)
    me = (await client.get(f"{_USERS}/me")).row(written=False)
    if query.casefold() in str(me.get("name", "")).casefold() and me["id"] not in [row.get("id") for row in rows]:
        rows.append(me)
    return [_term(row) for row in rows[:limit]]


async def _listed(client: WordPressClient, path: str, query: str, limit: int) -> list[dict[str, Any]]:
    all_rows: list[dict[str, Any]] = []
    async for rows in pages_of(client, path, {"search": query}, min(_PAGE, limit)):
        all_rows += rows
        if len(all_rows) >= limit:
            break
    return all_rows


def _term(row: Mapping[str, Any]) -> Term:
    return Term(str(row.get("id", "")), _name(row), str(row.get("slug", "")), row.get("count"))


async def term_ids(client: WordPressClient, kind: TermKind, names: Sequence[str]) -> Mapping[str, str]:
    """Return the IDs of terms by name, creating missing ones.

    Terms that the role cannot create are left out.
    """
    unique_names = list(dict.fromkeys(names))
    existing_ids: dict[str, str] = {}
    for start in range(0, len(unique_names), _AT_ONCE):
        # WordPress derives slugs from these names as it does when it creates terms.
        query = {"slug[]": unique_names[start : start + _AT_ONCE], "per_page": _PAGE}
        rows = (await client.get(TAXONOMIES[kind], query)).rows(with_ids=True)
        existing_ids |= {_name(row).casefold(): str(row.get("id", "")) for row in rows}
    ids = {name: existing_ids.get(name.casefold()) or await _create_term(client, kind, name) for name in unique_names}
    return {name: identifier for name, identifier in ids.items() if identifier}


async def _create_term(client: WordPressClient, kind: TermKind, name: str) -> str:
    path = TAXONOMIES[kind]
    try:
        return str((await client.send("POST", path, document={"name": name})).row(written=True)["id"])
    except (SiteRefused, SiteRejected) as error:
        # It may exist with a slug that does not match its name.
        for row in (await client.get(path, {"search": name, "per_page": _PAGE})).rows(with_ids=True):
            if _name(row).casefold() == name.casefold():
                return str(row.get("id", ""))
        if isinstance(error, SiteRejected):
            return ""
    # Another name may have the same slug: WordPress reports `term_exists`, and has the term under that slug.
    slug = re.sub(r"[^a-z0-9]+", "-", name.casefold()).strip("-")
    rows = (await client.get(path, {"slug": slug})).rows(with_ids=True)
    return str(rows[0].get("id", "")) if rows else ""


async def author_ids(client: WordPressClient, name: str) -> tuple[str, ...]:
    """Return the ID of the author with a name, or with a slug such as `ada-lovelace`; empty if absent."""
    try:
        rows = await _listed(client, _USERS, name, _AT_ONCE)
        ids = _same(rows, name)
        if not ids:  # WordPress shows users other than administrators only authors with published posts
            ids = _same([(await client.get(f"{_USERS}/me")).row(written=False)], name)
    except SiteRejected:
        return ()
    return ids


def _same(rows: Sequence[Mapping[str, Any]], name: str) -> tuple[str, ...]:
    for row in rows:
        if name.casefold() in (_name(row).casefold(), str(row.get("slug", "")).casefold()):
            return (str(row["id"]),)
    return ()


async def term_names(client: WordPressClient, kind: TermKind, ids: Sequence[str]) -> Mapping[str, str]:
    """Return the names of terms, by ID."""
    names: dict[str, str] = {}
    for start in range(0, len(ids), _PAGE):
        query = {"include": ",".join(ids[start : start + _PAGE]), "per_page": _PAGE}
        for row in (await client.get(TAXONOMIES[kind], query)).rows(with_ids=True):
            names[str(row.get("id", ""))] = _name(row)
    return names


async def pages_of(
    client: WordPressClient, path: str, query: Mapping[str, Any], size: int
) -> AsyncIterator[list[dict[str, Any]]]:
    """Yield the pages of a list, each of at most `size` rows with IDs.

    If a proxy drops the header with the number of pages, the list ends at an incomplete page, or at one that WordPress
    refuses because it is past the end.

    Raises:
        SiteError: the site could not be queried, or sent an invalid response.
    """
    has_page_count = True
    for page in count(1):
        try:
            response = await client.get(path, {**query, "per_page": size, "page": page})
        except SiteRefused:
            if has_page_count:
                raise
            return
        rows = response.rows(with_ids=True)
        yield rows
        pages = number_of_pages(response.headers)
        has_page_count = pages is not None
        if not rows or (len(rows) < size if pages is None else page >= pages):
            return


def number_of_pages(headers: Mapping[str, str]) -> int | None:
    """Return the number of pages of a list, or `None` if the site does not report it."""
    total = headers.get("x-wp-totalpages", "")
    return int(total) if total.isascii() and total.isdecimal() and len(total) <= _MAX_DIGITS else None


def _name(row: Mapping[str, Any]) -> str:
    return unescape(field_text(row.get("name")))


NAMESPACE: Final = "redirection/v1"
_PATH: Final = f"/{NAMESPACE}/redirect"
_REDIRECTS_PAGE: Final = 200
_MAX_PAGES: Final = 100
_PERMANENT: Final = frozenset({301, 308})
_CODES: Final = frozenset({301, 302, 303, 307, 308})


class Redirection:
    """The plugin Redirection on one site."""

    def __init__(self, api: SiteApi) -> None:
        self._api = api

    async def all(self) -> Sequence[RemoteRedirect]:
        """Return the redirects from one path to one URL. Rules with patterns or conditions are left out."""
        return [redirect for row in await self._rows() if (redirect := _read(row)) is not None]

    async def add(self, source: str, target: str, *, permanent: bool) -> RemoteRedirect:
        """Add a redirect, or change the target of the existing one for that path.

        Raises:
            UnknownOutcome: the plugin does not list it afterwards.
        """
        existing = next((redirect for redirect in await self.all() if redirect.source == source), None)
        document = {
            "url": source,
            "match_type": "url",
            "action_type": "url",
            "action_code": 301 if permanent else 302,
            "action_data": {"url": target},
            "regex": False,
            "group_id": await self._group(),
        }
        await self._api.send("POST", f"{_PATH}/{existing.id}" if existing else _PATH, document=document)
        for redirect in await self.all():
            if (redirect.source, redirect.target, redirect.permanent) == (source, target, permanent):
                return redirect
        raise UnknownOutcome("the plugin Redirection accepted the redirect, but does not list it")

    async def remove(self, redirect_id: str) -> None:
        """Delete a redirect. Raises `SiteGone` if absent."""
        if redirect_id not in {redirect.id for redirect in await self.all()}:
            raise SiteGone("the site has no such redirect")
        # IDs separated by commas: versions before 5 accept nothing else, and WordPress converts it to an array.
        await self._api.send("POST", f"/{NAMESPACE}/bulk/redirect/delete", document={"items": redirect_id})

    async def _rows(self) -> Sequence[Mapping[str, Any]]:
        all_rows: list[Mapping[str, Any]] = []
        for page in range(_MAX_PAGES):
            rows = (await self._api.get(_PATH, {"per_page": _REDIRECTS_PAGE, "page": page, "orderby": "id"})).rows(
                "items"
            )
            all_rows += rows
            if len(rows) < _REDIRECTS_PAGE:
                return all_rows
        raise SiteRefused(
            f"the site has more than {_MAX_PAGES * _REDIRECTS_PAGE} redirects, which are too many to search"
        )

    async def _group(self) -> int:
        """Return the group for new redirects: the first one that redirects visitors of this site."""
        rows = (await self._api.get(f"/{NAMESPACE}/group", {"per_page": _REDIRECTS_PAGE, "page": 0})).rows("items")
        ids: list[int] = [row["id"] for row in rows if isinstance(row.get("id"), int) and row.get("module_id", 1) == 1]
        if not ids:
            raise SiteRefused("the plugin Redirection has no group for redirects; create one there under Groups")
        return min(ids)


def not_there() -> SiteRefused:
    """Return the error for a site without the plugin."""
    return SiteRefused(
        "WordPress has no list of redirects: by itself, it only redirects the old slug of a live post to its new one. "
        "Install the WordPress plugin Redirection, and connect the site with a user who may manage it, an administrator"
    )


def _read(row: Mapping[str, Any]) -> RemoteRedirect | None:
    data = row.get("action_data")
    target = data.get("url") if isinstance(data, dict) else data
    code, source, identifier = row.get("action_code"), row.get("url"), row.get("id")
    simple = row.get("match_type") == "url" and row.get("action_type") == "url" and not row.get("regex")
    if not simple or row.get("enabled") is False or code not in _CODES or isinstance(identifier, bool):
        return None
    if not isinstance(source, str) or not isinstance(target, str) or not isinstance(identifier, int | str):
        return None
    return RemoteRedirect(str(identifier), source, target, permanent=code in _PERMANENT)
