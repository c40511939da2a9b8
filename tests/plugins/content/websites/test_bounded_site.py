"""Bounded connector calls: each ends in time and reports what is known of its outcome."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from pressroom.config.models import ExecutorsSettings
from pressroom.gate import PluginGate
from pressroom.pipeline.executors.workers import WorkerPool
from pressroom.sdk import Extensions, PluginContext, PluginError
from pressroom_content.config import ContentConfig
from pressroom_content.contract import (
    BasicSite,
    BlockSite,
    Capabilities,
    MediaSite,
    RecallingSite,
    SiteConnector,
    SiteRefused,
    SiteUnavailable,
    UnknownOutcome,
    WorkingSite,
)
from pressroom_content.websites.bounded_site import bounded_site, opening
from structlog.testing import capture_logs
from support.hostile_codec import (
    HostileCodec,
    blocks,
    encode_with,
    exits,
    join_with,
    raises,
    spins,
    split_with,
    swallows,
    turns_into_another,
)


async def never(*_: Any, **__: Any) -> Any:
    await asyncio.Event().wait()


class SilentSite:
    """A site that never responds, except with its first two posts."""

    workers = None
    check = terms = ensure_terms = find_media = upload = find = create = read = update = set_state = staticmethod(never)
    redirects = add_redirect = remove_redirect = remove_media = locate = staticmethod(never)
    codec = None

    async def posts(self, since: Any, limit: int) -> AsyncIterator[int]:
        for number in range(limit):
            if number == 2:
                await never()
            yield number

    def recall(self, post_id: str, url: str, revision: str) -> None:
        self.recalled = (post_id, url, revision)


class PlainSite(BasicSite):
    """A site with only the capabilities that every site has."""

    check = create = find = read = set_state = update = never


CONNECTOR = SiteConnector("silent", "Silent", "For tests.", lambda *_: SilentSite(), Capabilities())  # type: ignore[arg-type]


@pytest.fixture
def gate() -> PluginGate:
    return PluginGate()


@pytest.fixture
def plugin(gate: PluginGate, tmp_path: Path) -> PluginContext[ContentConfig]:
    extensions = Extensions(partial(gate.contributed, "content"))
    extensions.fill({"pressroom_site_connectors": [("acme", CONNECTOR)]})
    config = ContentConfig(connector_seconds=0.1)
    return PluginContext("content", "1", config, "https://a.example", tmp_path, extensions=extensions)


ASKING: list[Callable[[Any], Awaitable[Any]]] = [
    lambda site: site.check(),
    lambda site: site.terms("tag", "", 5),
    lambda site: site.ensure_terms(None),
    lambda site: site.find_media("m"),
    lambda site: site.find(None),
    lambda site: site.read("1"),
    lambda site: site.redirects(),
    lambda site: site.locate("https://a.example"),
]
CHANGING: list[Callable[[Any], Awaitable[Any]]] = [
    lambda site: site.upload(None, "m"),
    lambda site: site.create(None),
    lambda site: site.update("1", None, ""),
    lambda site: site.set_state("1", "live"),
    lambda site: site.add_redirect("/a", "/b", permanent=True),
    lambda site: site.remove_redirect("1"),
    lambda site: site.remove_media(None),
]


@pytest.mark.parametrize(
    ("call", "late"), [*((call, SiteUnavailable) for call in ASKING), *((call, UnknownOutcome) for call in CHANGING)]
)
async def test_a_call_that_never_returns_is_abandoned(
    plugin: PluginContext[ContentConfig], gate: PluginGate, call: Callable[[Any], Awaitable[Any]], late: type[Exception]
) -> None:
    site = bounded_site(plugin, CONNECTOR, SilentSite())  # type: ignore[arg-type]

    with pytest.raises(late, match=r"Silent did not respond within 0.1 s"):
        await call(site)

    assert gate.failures == {("acme", "extension", "timeout"): 1}


async def test_posts_returned_in_time_are_kept(plugin: PluginContext[ContentConfig]) -> None:
    site = bounded_site(plugin, CONNECTOR, SilentSite())  # type: ignore[arg-type]
    posts: list[Any] = [post async for post in site.posts(None, 2)]
    assert posts == [0, 1]
    with pytest.raises(SiteUnavailable):
        posts += [post async for post in site.posts(None, 3)]


async def test_it_has_exactly_the_capabilities_of_the_site(
    plugin: PluginContext[ContentConfig], gate: PluginGate
) -> None:
    silent = SilentSite()
    site = bounded_site(plugin, CONNECTOR, silent)  # type: ignore[arg-type]
    for protocol in (RecallingSite, MediaSite, BlockSite, WorkingSite):
        assert isinstance(site, protocol)
    site.recall("1", "https://a.example/1", "r")  # type: ignore[attr-defined]
    assert silent.recalled == ("1", "https://a.example/1", "r")

    plain = bounded_site(plugin, CONNECTOR, PlainSite())
    assert [isinstance(plain, class_) for class_ in (RecallingSite, MediaSite, BlockSite, WorkingSite)] == [
        False,
        False,
        False,
        True,
    ]
    with pytest.raises(SiteRefused):
        await plain.redirects()
    assert not gate.failures


@pytest.mark.parametrize("function", [blocks, swallows, turns_into_another, spins])
def test_a_function_that_blocks_the_event_loop_is_interrupted(
    plugin: PluginContext[ContentConfig], gate: PluginGate, function: Callable[[], None]
) -> None:
    with (
        capture_logs() as log,
        pytest.raises(SiteUnavailable, match=r"Silent blocked the server for 0.1 s, and was stopped"),
        opening(plugin, CONNECTOR),
    ):
        function()

    assert gate.failures == {("acme", "extension", "blocked"): 1}
    assert [(entry["plugin"], entry["name"]) for entry in log] == [("acme", "platform silent")]
    assert "secret-token" not in repr(log)


def test_exceptions_are_passed_to_the_caller_but_do_not_end_the_process(
    plugin: PluginContext[ContentConfig], gate: PluginGate
) -> None:
    with pytest.raises(SiteRefused, match="no"), opening(plugin, CONNECTOR):
        raise SiteRefused("no")
    assert not gate.failures
    with pytest.raises(PluginError, match="SystemExit"), opening(plugin, CONNECTOR):
        raise SystemExit(3)
    assert gate.failures == {("acme", "extension", "failed"): 1}


class HostileSite(SilentSite):
    """A site whose synchronous methods do what the test tells them."""

    def __init__(self, does: Callable[[], Any], codec: HostileCodec | None = None) -> None:
        self.does = does
        self.kept = codec

    def recall(self, post_id: str, url: str, revision: str) -> None:
        self.does()

    @property
    def codec(self) -> Any:  # type: ignore[override]
        return self.kept or self.does()


@pytest.mark.parametrize("function", [blocks, swallows, turns_into_another, spins])
def test_a_recall_function_that_blocks_the_event_loop_is_interrupted(
    plugin: PluginContext[ContentConfig], gate: PluginGate, function: Callable[[], None]
) -> None:
    site: Any = bounded_site(plugin, CONNECTOR, HostileSite(function, HostileCodec(raises)))  # type: ignore[arg-type]
    with pytest.raises(SiteUnavailable, match=r"Silent blocked the server for 0.1 s, and was stopped"):
        site.recall("1", "https://a.example/1", "r")
    assert gate.failures == {("acme", "extension", "blocked"): 1}


def test_a_recall_function_may_raise_but_not_end_the_process(
    plugin: PluginContext[ContentConfig], gate: PluginGate
) -> None:
    codec = HostileCodec(raises)
    site: Any = bounded_site(plugin, CONNECTOR, HostileSite(raises, codec))  # type: ignore[arg-type]
    with pytest.raises(LookupError, match="the codec is broken"):
        site.recall("1", "https://a.example/1", "r")
    assert not gate.failures
    site = bounded_site(plugin, CONNECTOR, HostileSite(exits, codec))  # type: ignore[arg-type]
    with pytest.raises(PluginError, match="SystemExit"):
        site.recall("1", "https://a.example/1", "r")
    assert gate.failures == {("acme", "extension", "failed"): 1}


@pytest.mark.parametrize("function", [blocks, swallows, turns_into_another, spins])
@pytest.mark.parametrize("where", ["the property", "pickling"])
def test_a_codec_that_blocks_the_event_loop_is_interrupted(
    plugin: PluginContext[ContentConfig], gate: PluginGate, function: Callable[[], None], where: str
) -> None:
    codec = HostileCodec(raises, function) if where == "pickling" else None
    with pytest.raises(SiteUnavailable, match=r"Silent blocked the server for 0.1 s, and was stopped"):
        _ = bounded_site(plugin, CONNECTOR, HostileSite(function, codec)).codec  # type: ignore[arg-type,attr-defined]
    assert gate.failures == {("acme", "extension", "blocked"): 1}


@pytest.fixture
async def workers(gate: PluginGate) -> AsyncIterator[WorkerPool]:
    pool = WorkerPool(ExecutorsSettings(plugin_processes=1, niceness=0), gate=gate)
    yield pool
    await pool.close()


@pytest.mark.parametrize("call", [split_with, join_with, encode_with])
@pytest.mark.parametrize(
    ("function", "reason", "message"),
    [
        (raises, "failed", "LookupError: the codec is broken"),
        (exits, "failed", "SystemExit: 3"),
        (blocks, "timeout", "platform silent did not end within 0.5 s"),
        (spins, "timeout", "platform silent did not end within 0.5 s"),
        (swallows, "timeout", "platform silent did not end within 0.5 s"),
    ],
)
async def test_a_codec_failure_in_a_worker_process_is_attributed_to_its_plugin(
    plugin: PluginContext[ContentConfig],
    gate: PluginGate,
    workers: WorkerPool,
    monkeypatch: pytest.MonkeyPatch,
    call: Callable[[Any], Any],
    function: Callable[[], Any],
    reason: str,
    message: str,
) -> None:
    monkeypatch.setattr("pressroom_content.websites.bounded_site.CODEC_SECONDS", 0.5)
    site: Any = bounded_site(plugin, CONNECTOR, HostileSite(raises, HostileCodec(function)))  # type: ignore[arg-type]
    with pytest.raises(PluginError, match=message):
        await workers.run(call, site.codec)
    assert gate.failures == {("acme", "extension", reason): 1}
    assert await workers.run(len, "others work") == 11
