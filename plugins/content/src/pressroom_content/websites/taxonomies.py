"""The terms that exist on a site, remembered for ten minutes."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Sequence
from typing import ClassVar, Final

from pressroom.sdk import PluginContext

from pressroom_content.contract import SiteError, SiteRefused, Term, TermKind
from pressroom_content.websites.store import Websites

SECONDS: Final = 600.0
MAX_TERMS: Final = 200
_REMEMBERED: Final = 1000

_Key = tuple[str, int, str, str]


class Taxonomies:
    """Reads terms from sites."""

    _cache: ClassVar[OrderedDict[_Key, tuple[float, Sequence[Term]]]] = OrderedDict()

    def __init__(self, plugin: PluginContext) -> None:
        self._plugin = plugin

    async def terms(self, user_id: str, website_id: str, kind: TermKind, query: str) -> Sequence[Term]:
        """Return the terms of a kind, at most 200. Raises `NotFound` and `SiteError`."""
        websites = Websites(self._plugin)
        website = await websites.get(user_id, website_id)
        key = (website.id, website.version, kind, query.casefold())
        kept = self._cache.get(key)
        if kept is not None and time.monotonic() - kept[0] < SECONDS:
            return kept[1]
        _, site = await websites.open(user_id, website_id)
        try:
            found = tuple(await site.terms(kind, query, MAX_TERMS))
        except SiteRefused:
            raise  # it has no terms of that kind, which is nothing that is wrong with the site
        except SiteError as error:
            await websites.note_error(website.id, error)
            raise
        self._cache[key] = (time.monotonic(), found)
        while len(self._cache) > _REMEMBERED:
            self._cache.popitem(last=False)
        return found
