"""A proxy for sites that limits the time of each call: connectors are third-party plugins and may hang."""

from __future__ import annotations

import pickle
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import cache
from typing import Any, Final, Literal, TypeVar, cast

from pressroom.sdk import PluginContext, PluginError, Workers, calling_in_worker

from pressroom_content.config import ContentConfig
from pressroom_content.contract import (
    BlockSite,
    BodyBlock,
    BodyCodec,
    ConnectionReport,
    MediaFile,
    MediaSite,
    Post,
    RecallingSite,
    RemoteMedia,
    RemotePost,
    RemoteRedirect,
    Site,
    SiteConnector,
    SiteInfo,
    SiteUnavailable,
    Term,
    TermKind,
    UnknownOutcome,
    WorkingSite,
    site_connectors,
)

T = TypeVar("T")


OPEN_SECONDS: Final = 5.0
"""The maximum time of a synchronous connector function, in seconds: it blocks the event loop."""

CODEC_SECONDS: Final = 10.0
"""The maximum time of one codec call in a worker process, in seconds. A whole body is limited to 20 s."""


@contextmanager
def opening(plugin: PluginContext[ContentConfig], connector: SiteConnector, *, private: bool = True) -> Iterator[None]:
    """Interrupt a synchronous function of a connector after it has blocked the event loop for `OPEN_SECONDS`.

    With `private`, neither messages nor frames are logged: the arguments may include a credential.

    Raises:
        SiteUnavailable: it was interrupted. This counts as a failure of the connector's plugin.
    """
    called, seconds = f"platform {connector.platform}", min(OPEN_SECONDS, plugin.config.connector_seconds)
    try:
        with plugin.extensions.calling(
            called, connector, passes=(Exception,), private=private, seconds=seconds, interrupt=True
        ):
            yield
    except PluginError as error:
        if isinstance(error.__cause__, TimeoutError):
            raise SiteUnavailable(f"{connector.title} blocked the server for {seconds:g} s, and was stopped") from error
        raise


def open_site(
    plugin: PluginContext[ContentConfig], connector: SiteConnector, info: SiteInfo, credential: Mapping[str, str]
) -> Site:
    """Open a site with its connector, interrupting it if it blocks; see `opening`."""
    with opening(plugin, connector):
        site = connector.open(info, credential, plugin.services.fetcher)
        if isinstance(site, WorkingSite):
            site.workers = plugin.services.workers
    return site


def bounded_site(plugin: PluginContext[ContentConfig], connector: SiteConnector, site: Site) -> Site:
    """Return a proxy for a site that limits the time of each call.

    A timeout counts as a failure of the connector's plugin. It raises `UnknownOutcome` if the call may have changed
    something, otherwise `SiteUnavailable`.
    """
    with opening(plugin, connector):
        # Up to Python 3.11, `isinstance` reads the site's properties.
        parts = tuple(part for protocol, part in _PARTS if isinstance(site, protocol))
    return cast("Site", _class(parts)(plugin, connector, site))


class _BoundedSite:
    def __init__(self, plugin: PluginContext[ContentConfig], connector: SiteConnector, site: Any) -> None:
        self._plugin = plugin
        self._connector = connector
        self._site = site

    @contextmanager
    def _bound(self, late: type[SiteUnavailable | UnknownOutcome]) -> Iterator[None]:
        called, seconds = f"platform {self._connector.platform}", self._plugin.config.connector_seconds
        try:
            # The caller handles the connector's own exceptions.
            with self._plugin.extensions.calling(called, self._connector, passes=(Exception,), seconds=seconds):
                yield
        except PluginError as error:
            if isinstance(error.__cause__, TimeoutError):
                raise late(f"{self._connector.title} did not respond within {seconds:g} s") from error
            raise

    async def _query(self, call: Callable[[], Awaitable[T]]) -> T:
        with self._bound(SiteUnavailable):
            return await call()

    async def _change(self, call: Callable[[], Awaitable[T]]) -> T:
        with self._bound(UnknownOutcome):
            return await call()

    async def check(self) -> ConnectionReport:
        return await self._query(self._site.check)

    async def terms(self, kind: TermKind, query: str, limit: int) -> Sequence[Term]:
        return await self._query(lambda: self._site.terms(kind, query, limit))

    async def ensure_terms(self, post: Post) -> Mapping[TermKind, tuple[str, ...]]:
        # Safe to repeat, so a timeout does not leave an unknown outcome.
        return await self._query(lambda: self._site.ensure_terms(post))

    async def find_media(self, marker: str) -> RemoteMedia | None:
        return await self._query(lambda: self._site.find_media(marker))

    async def upload(self, file: MediaFile, marker: str) -> RemoteMedia:
        return await self._change(lambda: self._site.upload(file, marker))

    async def find(self, post: Post) -> RemotePost | None:
        return await self._query(lambda: self._site.find(post))

    async def create(self, post: Post) -> RemotePost:
        return await self._change(lambda: self._site.create(post))

    async def read(self, post_id: str) -> RemotePost:
        return await self._query(lambda: self._site.read(post_id))

    async def update(self, post_id: str, post: Post, revision: str) -> RemotePost:
        return await self._change(lambda: self._site.update(post_id, post, revision))

    async def set_state(
        self, post_id: str, state: Literal["draft", "scheduled", "live", "trashed", "gone"], at: datetime | None = None
    ) -> RemotePost:
        # Connectors may not accept the optional argument.
        optional = () if at is None else (at,)
        return await self._change(lambda: self._site.set_state(post_id, state, *optional))

    async def posts(self, since: datetime | None, most: int) -> AsyncIterator[RemotePost]:
        posts = aiter(self._site.posts(since, most))
        while True:
            with self._bound(SiteUnavailable):
                try:
                    post = await anext(posts)
                except StopAsyncIteration:
                    return
            yield post

    async def redirects(self) -> Sequence[RemoteRedirect]:
        return await self._query(self._site.redirects)

    async def add_redirect(self, source: str, target: str, *, permanent: bool) -> RemoteRedirect:
        return await self._change(lambda: self._site.add_redirect(source, target, permanent=permanent))

    async def remove_redirect(self, redirect_id: str) -> None:
        return await self._change(lambda: self._site.remove_redirect(redirect_id))


class _Recalling(_BoundedSite):
    def recall(self, post_id: str, url: str, revision: str) -> None:
        with opening(self._plugin, self._connector, private=False):
            self._site.recall(post_id, url, revision)


class _WithMedia(_BoundedSite):
    async def remove_media(self, media: RemoteMedia) -> None:
        return await self._change(lambda: self._site.remove_media(media))


class _BoundedCodec:
    """A codec that limits the time of each call in the worker process that unpickles it; see `calling_in_worker`."""

    def __init__(self, pickled: bytes, plugin: str, called: str, seconds: float) -> None:
        self._pickled = pickled
        self._plugin = plugin
        self._called = called
        self._seconds = seconds
        self._codec: BodyCodec | None = None

    @contextmanager
    def _calling(self) -> Iterator[BodyCodec]:
        with calling_in_worker(self._plugin, self._called, seconds=self._seconds):
            if self._codec is None:
                self._codec = cast("BodyCodec", pickle.loads(self._pickled))  # noqa: S301 - pickled by this server
            yield self._codec

    def split(self, raw: str) -> Sequence[BodyBlock]:
        with self._calling() as codec:
            return tuple(codec.split(raw))

    def join(self, sources: Sequence[str], original: str = "") -> str:
        with self._calling() as codec:
            return codec.join(sources, original)

    def encode(self, html: str, markdown: str) -> Sequence[str]:
        with self._calling() as codec:
            return tuple(codec.encode(html, markdown))


class _InBlocks(_BoundedSite):
    _codec: BodyCodec | None = None

    @property
    def codec(self) -> BodyCodec:
        if self._codec is None:
            with opening(self._plugin, self._connector, private=False):
                pickled = pickle.dumps(self._site.codec, pickle.HIGHEST_PROTOCOL)
            owner = next(
                (id_ for id_, connector in site_connectors(self._plugin) if connector is self._connector),
                self._plugin.id,
            )
            self._codec = _BoundedCodec(pickled, owner, f"platform {self._connector.platform}", CODEC_SECONDS)
        return self._codec

    async def locate(self, url: str) -> RemotePost | None:
        return await self._query(lambda: self._site.locate(url))


class _Working(_BoundedSite):
    @property
    def workers(self) -> Workers | None:
        return cast("Workers | None", self._site.workers)

    @workers.setter
    def workers(self, workers: Workers | None) -> None:
        self._site.workers = workers


_PARTS: Final[tuple[tuple[type[Any], type[_BoundedSite]], ...]] = (
    (RecallingSite, _Recalling),
    (MediaSite, _WithMedia),
    (BlockSite, _InBlocks),
    (WorkingSite, _Working),
)


@cache
def _class(parts: tuple[type[_BoundedSite], ...]) -> type[_BoundedSite]:
    return type("BoundedSite", (*parts, _BoundedSite), {})
