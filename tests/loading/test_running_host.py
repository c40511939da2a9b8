"""A host starts whatever a plugin does, and its other tools work."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from pressroom.host.host import Host
from pressroom.host.loaded_app import LoadedApp
from pressroom.testing import RunningHost
from pressroom.testing.plugin import settings_for_test
from support.compiling import Compile, record_of, statuses
from support.installing import on_path
from support.plugin_distributions import BROKEN, EXEMPLARY, Distribution, healthy, slug_of
from support.plugin_source import SOUND, install_plugin, needing


def assert_works(client: httpx.Client, slug: str) -> None:
    response = client.post(f"/tools/{slug}/api/generate", json={"text": "hello", "response": "binary"})
    assert (response.status_code, response.content) == (200, b"HELLO")


def serving(folder: Path, *installed: Distribution, **config: Any) -> RunningHost:
    tables = {id_: table for distribution in installed for id_, table in distribution.plugins.items()}
    return RunningHost(settings_for_test({"plugins": tables, **config}, folder))


@pytest.mark.parametrize("name", EXEMPLARY)
def test_the_host_serves_the_other_tools(name: str, tmp_path: Path) -> None:
    site = tmp_path / "site"
    broken, sound = BROKEN[name](site), healthy(site)
    with on_path(site), serving(tmp_path / "data", broken, sound) as host, httpx.Client(base_url=host.url) as client:
        assert_works(client, "healthy")
        slugs = [tool["slug"] for tool in client.get("/tools/api").json()["tools"]]
        assert slugs == ["healthy", "qr-code-generator"]
        for expectation in broken.expected:
            assert (
                client.post(f"/tools/{slug_of(expectation.id)}/api/generate", json={"text": "hello"}).status_code == 404
            )
        assert client.get("/healthz").status_code == 200
        assert client.get("/openapi.json").status_code == 200


def test_the_host_keeps_serving_when_all_other_plugins_are_broken(tmp_path: Path) -> None:
    site = tmp_path / "site"
    installed = [factory(site) for factory in BROKEN.values()]
    running = serving(tmp_path / "data", *installed, healthy(site))
    with on_path(site), running as host, httpx.Client(base_url=host.url) as client:
        assert_works(client, "healthy")
        # One of the broken plugins is required.
        ready = client.get("/readyz")
        assert ready.status_code == 503
        assert [problem.partition(":")[0] for problem in ready.json()["problems"]] == ["qr_code_generatr"]


LIFESPAN = """
from contextlib import asynccontextmanager
from pathlib import Path

@asynccontextmanager
async def connection():
    BODY

@hookimpl
def pressroom_lifespan():
    return [Lifespan("connection", connection)]
"""

FAILING_LIFESPANS = {
    "refused": (
        LIFESPAN.replace("BODY", "raise ConnectionError('refused by the other side')\n    yield"),
        "ConnectionError: refused by the other side",
    ),
    "ends_early": (LIFESPAN.replace("BODY", "return\n    yield"), "generator didn't yield"),
    "no_manager": (LIFESPAN.replace("@asynccontextmanager", "").replace("BODY", "return 1"), "coroutine' object"),
    "exits": (LIFESPAN.replace("BODY", "raise SystemExit(2)\n    yield"), "SystemExit: 2 (plugin.py, line "),
    "cancels": (
        LIFESPAN.replace("BODY", "import asyncio; raise asyncio.CancelledError('by itself')\n    yield"),
        "CancelledError: by itself",
    ),
    "panics": (
        LIFESPAN.replace("BODY", "raise type('Panic', (BaseException,), {})('in native code')\n    yield"),
        "Panic: in native code",
    ),
    "times_out": (LIFESPAN.replace("BODY", "raise TimeoutError\n    yield"), "TimeoutError (plugin.py, line "),
}


@pytest.mark.parametrize("id_", FAILING_LIFESPANS)
# A lifespan that is not a context manager leaves an unawaited coroutine behind.
@pytest.mark.filterwarnings("ignore:coroutine 'connection' was never awaited")
async def test_a_failing_lifespan_removes_only_its_plugin(id_: str, tmp_path: Path, compile_with: Compile) -> None:
    more, words = FAILING_LIFESPANS[id_]
    compiled = compile_with(install_plugin(tmp_path, id_, SOUND + more), healthy(tmp_path))
    assert statuses(compiled)[id_] == "active"
    await started(compiled)
    record = record_of(compiled, id_)
    assert (record.status, record.phase, record.contributes) == ("broken", "lifespan", ())
    assert words in record.error
    assert f"enabled = false in [plugins.{id_}]" in record.hint
    assert statuses(compiled)["healthy"] == "active"
    assert list(compiled.catalog.tools) == ["healthy", "qr-code-generator"]


KEYS = """
@hookimpl
def pressroom_shared_keys():
    return [SharedKeys("own_keys", "[plugins.$id.config] own_keys", lambda: KEYS, configured=False, lost="nothing")]
"""


AT_LEAST_ONE = "read must return at least one key, as bytes"


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ("[]", AT_LEAST_ONE),
        ("None", "'NoneType' object is not iterable"),
        ("['keyof00001111']", AT_LEAST_ONE),
        ("b'keyof00001111'", AT_LEAST_ONE),
    ],
)
async def test_a_plugin_without_a_key_is_the_only_one_removed(
    keys: str, words: str, tmp_path: Path, compile_with: Compile
) -> None:
    compiled = compile_with(install_plugin(tmp_path, "keyless", SOUND + KEYS.replace("KEYS", keys)), healthy(tmp_path))
    await started(compiled)
    record = record_of(compiled, "keyless")
    assert (record.status, record.phase) == ("broken", "lifespan")
    assert words in record.error
    assert "keyof00001111" not in record.error
    assert statuses(compiled)["healthy"] == "active"


async def test_a_worker_setup_that_fails_counts_as_a_failure_of_its_plugin(
    tmp_path: Path, compile_with: Compile
) -> None:
    more = 'For tests.", worker_modules=("json",), worker_setup=("json:no_such_name",)'
    source = SOUND.replace('For tests."', more)
    compiled = compile_with(install_plugin(tmp_path, "heavy", source), executors={"start_plugin_processes": True})
    failed = asyncio.Event()
    compiled.gate.on_failure = failed.set
    host = Host(compiled)
    await host.start()
    try:
        async with asyncio.timeout(60):
            await failed.wait()
    finally:
        await host.close()
    assert str(compiled.gate.latest["heavy"].call) == "the worker setup json:no_such_name"
    assert "has no attribute 'no_such_name'" in compiled.gate.latest["heavy"].error


async def started(compiled: LoadedApp, while_open: Callable[[Host], object] = lambda _: None) -> None:
    """Start the host, call `while_open`, and close the host."""
    host = Host(compiled)
    await host.start()
    try:
        while_open(host)
    finally:
        await host.close()


async def test_dependants_of_a_plugin_with_a_failing_lifespan_are_removed(
    tmp_path: Path, compile_with: Compile
) -> None:
    more, _ = FAILING_LIFESPANS["refused"]
    entered = tmp_path / "entered"
    lifespan = LIFESPAN.replace("BODY", f"Path({str(entered)!r}).touch()\n    yield")
    compiled = compile_with(
        install_plugin(tmp_path, "refused", SOUND + more),
        needing(tmp_path, "satellite", "refused", more=lifespan),
        needing(tmp_path, "subsatellite", "satellite"),
        healthy(tmp_path),
    )
    await started(compiled)
    assert statuses(compiled) == {
        "refused": "broken",
        "satellite": "broken",
        "subsatellite": "broken",
        "healthy": "active",
    }
    assert not entered.exists()
    assert record_of(compiled, "subsatellite").error == "it needs satellite, which is not active"
    assert list(compiled.catalog.tools) == ["healthy", "qr-code-generator"]


async def test_lifespans_are_entered_by_id_and_exited_in_reverse(tmp_path: Path, compile_with: Compile) -> None:
    log = tmp_path / "log"
    body = f"""with Path({str(log)!r}).open("a") as log:
        log.write("enter $id\\n")
    yield
    with Path({str(log)!r}).open("a") as log:
        log.write("leave $id\\n")"""
    more = LIFESPAN.replace("BODY", body)
    installed = [install_plugin(tmp_path / "site", id_, SOUND + more) for id_ in ("cc", "aa", "bb")]
    await started(compile_with(*installed), lambda _: log.write_text(f"{log.read_text()}open\n"))
    assert log.read_text().splitlines() == [
        "enter aa",
        "enter bb",
        "enter cc",
        "open",
        "leave cc",
        "leave bb",
        "leave aa",
    ]


async def test_a_record_of_another_distribution_is_unaffected(tmp_path: Path, compile_with: Compile) -> None:
    more, _ = FAILING_LIFESPANS["refused"]
    first = install_plugin(tmp_path, "twofold", SOUND + more, name="acme-first")
    second = install_plugin(tmp_path, "twofold", SOUND, name="zeta-second")
    compiled = compile_with(first, second, plugins={"twofold": {"distribution": "acme-first"}})
    await started(compiled)
    records = [record for record in compiled.plugins.records if record.id == "twofold"]
    assert [(record.distribution, record.status) for record in records] == [
        ("acme-first", "broken"),
        ("zeta-second", "available"),
    ]
