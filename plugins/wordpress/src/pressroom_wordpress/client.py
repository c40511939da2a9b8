"""Requests to one WordPress site: where its API is, and what it lets us write, each asked for once."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from pressroom.sdk import Fetcher
from pressroom_content.contract import SiteAddress, SiteApi, SiteGone, SiteResponse, SiteUnavailable

from pressroom_wordpress import seo_meta
from pressroom_wordpress.discovery import PRETTY, DiscoveredSite, discover, skew_of

_POSTS: Final = "/wp/v2/posts"


class WordPressClient:
    """Sends requests with an application password.

    The API is looked for where most sites have it, by the first request itself. Only if that fails is the site asked
    where its API is.
    """

    def __init__(self, address: SiteAddress, credential: Mapping[str, str], fetcher: Fetcher) -> None:
        pair = f"{credential.get('username', '')}:{credential.get('application_password', '')}"
        self.url = address.url
        self.fetcher = fetcher
        self._headers = {"Authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"}
        self._discovered: DiscoveredSite | None = None
        self._root = ""
        self._keys: Mapping[str, tuple[str, ...]] | None = None
        self.skew = 0.0
        """Seconds by which the site's clock is ahead, as of its last answer."""

    async def discovered(self) -> DiscoveredSite:
        """Return what the site says of itself. Raises `SiteUnavailable` or `SiteRefused`."""
        if self._discovered is None:
            self._discovered = await discover(self.url, self.fetcher)
            self._root, self.skew = self._discovered.root, self._discovered.skew
        return self._discovered

    async def get(self, path: str, query: Mapping[str, Any] | None = None) -> SiteResponse:
        """Ask for something. Raises `SiteError`, but never `UnknownOutcome`."""
        return await self._ask("GET", path, query)

    async def send(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        document: Any = None,
        content: bytes = b"",
        headers: Mapping[str, str] | None = None,
    ) -> SiteResponse:
        """Change something. Raises `SiteError`."""
        api = await self.api()
        return self._noted(
            await api.send(method, path, query=query, document=document, content=content, headers=headers)
        )

    async def api(self) -> SiteApi:
        """Return the site's API, which was found before it is returned."""
        if not self._root:
            await self.discovered()
        return self._at(self._root)

    async def meta_keys(self) -> Mapping[str, tuple[str, ...]]:
        """Return the keys of meta that can be written for posts, by field."""
        if self._keys is None:
            self._keys = seo_meta.writable((await self._ask("OPTIONS", _POSTS)).body)
        return self._keys

    async def _ask(self, method: str, path: str, query: Mapping[str, Any] | None = None) -> SiteResponse:
        if self._root:
            return self._noted(await self._at(self._root).send(method, path, query=query))
        usual = f"{self.url}{PRETTY}"
        try:
            answer = await self._at(usual).send(method, path, query=query)
        except (SiteGone, SiteUnavailable) as error:
            if isinstance(error, SiteUnavailable) and error.retry_after is not None:
                raise  # the site wants to be left alone
            if (await self.discovered()).root == usual:
                raise
            return await self._ask(method, path, query)
        self._root = usual
        return self._noted(answer)

    def _at(self, root: str) -> SiteApi:
        return SiteApi(self.fetcher, f"WordPress at {urlsplit(root).netloc}", root, self._headers)

    def _noted(self, answer: SiteResponse) -> SiteResponse:
        self.skew = skew_of(answer.headers.get("date", ""), otherwise=self.skew)
        return answer
