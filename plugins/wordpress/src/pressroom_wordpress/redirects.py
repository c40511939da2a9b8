"""Redirects of a WordPress site, where the plugin Redirection keeps them (redirection.me, its REST API).

WordPress itself redirects the old slug of a live post to the new one, and nothing else; there is no list of that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from pressroom_content.contract import RemoteRedirect, SiteApi, SiteGone, SiteRefused, UnknownOutcome

NAMESPACE: Final = "redirection/v1"
_PATH: Final = f"/{NAMESPACE}/redirect"
_PAGE: Final = 200
_MAX_PAGES: Final = 100
_PERMANENT: Final = frozenset({301, 308})
_CODES: Final = frozenset({301, 302, 303, 307, 308})


class Redirection:
    """The plugin on one site."""

    def __init__(self, api: SiteApi) -> None:
        self._api = api

    async def all(self) -> Sequence[RemoteRedirect]:
        """Return the redirects from one path to one URL; rules with patterns and conditions are left out."""
        return [found for row in await self._rows() if (found := _read(row)) is not None]

    async def add(self, source: str, target: str, *, permanent: bool) -> RemoteRedirect:
        """Add a redirect, or lead the one from that path elsewhere.

        Raises:
            UnknownOutcome: the plugin does not show it afterwards.
        """
        there = next((one for one in await self.all() if one.source == source), None)
        document = {
            "url": source,
            "match_type": "url",
            "action_type": "url",
            "action_code": 301 if permanent else 302,
            "action_data": {"url": target},
            "regex": False,
            "group_id": await self._group(),
        }
        await self._api.send("POST", f"{_PATH}/{there.id}" if there else _PATH, document=document)
        for one in await self.all():
            if (one.source, one.target, one.permanent) == (source, target, permanent):
                return one
        raise UnknownOutcome("the plugin Redirection took the redirect, and does not show it")

    async def remove(self, redirect_id: str) -> None:
        """Delete a redirect. Raises `SiteGone` if absent."""
        if redirect_id not in {one.id for one in await self.all()}:
            raise SiteGone("the site has no such redirect")
        # A list of ids with commas: its versions before 5 take nothing else, and WordPress turns it into an array.
        await self._api.send("POST", f"/{NAMESPACE}/bulk/redirect/delete", document={"items": redirect_id})

    async def _rows(self) -> Sequence[Mapping[str, Any]]:
        found: list[Mapping[str, Any]] = []
        for page in range(_MAX_PAGES):
            rows = (await self._api.get(_PATH, {"per_page": _PAGE, "page": page, "orderby": "id"})).rows("items")
            found += rows
            if len(rows) < _PAGE:
                return found
        raise SiteRefused(f"the site has more than {_MAX_PAGES * _PAGE} redirects: they cannot be looked through")

    async def _group(self) -> int:
        """Return the group that new redirects go into: the first of those that redirect visitors of this site."""
        rows = (await self._api.get(f"/{NAMESPACE}/group", {"per_page": _PAGE, "page": 0})).rows("items")
        ids: list[int] = [row["id"] for row in rows if isinstance(row.get("id"), int) and row.get("module_id", 1) == 1]
        if not ids:
            raise SiteRefused("the plugin Redirection has no group for redirects; make one there under Groups")
        return min(ids)


def not_there() -> SiteRefused:
    """Return what to raise on a site without the plugin."""
    return SiteRefused(
        "WordPress keeps no list of redirects: by itself it only leads the old slug of a live post to its new one. "
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
