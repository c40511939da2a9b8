"""Hooks for branding and backends: their effects, and containment of their failures."""

import httpx
import pytest
import structlog
from pressroom.errors import BackendError
from support.shared_hooks import Plugins, shout


def test_hook_branding(plugins: Plugins) -> None:
    source = """
@hookimpl
def pressroom_branding():
    return [Brander("short", lambda branding: {"name": branding.name})]
"""
    host = plugins.start(source, branding={"brander": "short", "name": "Acme", "key": "acme"})

    assert shout(host).json()["acme"] == {"name": "Acme"}
    assert httpx.get(f"{host.url}/tools/api").json()["acme"] == {"name": "Acme"}


@pytest.mark.parametrize("block", ["1 / 0", "{'name': object()}", "None"])
def test_a_failing_brander_is_left_out_with_its_plugin(plugins: Plugins, block: str) -> None:
    source = f"""
@hookimpl
def pressroom_branding():
    return [Brander("short", lambda branding: {block})]
"""
    with structlog.testing.capture_logs() as logs:
        host = plugins.start(source, branding={"brander": "short", "name": "Acme", "key": "acme"})

    (failed,) = (line for line in logs if line["event"] == "a plugin failed")
    assert (failed["plugin"], failed["point"], failed["name"]) == (plugins.id, "brander", "short")
    assert httpx.get(f"{host.url}/tools/api").json()["acme"]["name"] == "Acme"


def test_hook_backends(plugins: Plugins) -> None:
    source = """
class Forgetful:
    async def open(self): SEEN.append("open")
    async def close(self): SEEN.append("close")
    async def get(self, content_id): return None
    async def put(self, content_id, entry, *, seconds): SEEN.append("put")
    async def delete(self, content_id): pass

@hookimpl
def pressroom_backends():
    return [Backend("cache", "forgetful", lambda settings: Forgetful())]
"""
    host = plugins.start(source, cache={"backend": "forgetful"})

    assert [shout(host).json()["data"]["cached"] for _ in range(2)] == [False] * 2
    host.__exit__(None, None, None)
    assert plugins.module.SEEN == ["open", "hello", "put", "hello", "put", "close"]


@pytest.mark.parametrize(
    "factory", ["lambda settings: 1 / 0", "lambda settings: object()", "lambda settings: Unopenable()"]
)
def test_a_failing_backend_stops_the_start_with_a_clear_error(plugins: Plugins, factory: str) -> None:
    source = f"""
class Unopenable:
    async def open(self): raise RuntimeError("no")
    async def close(self): pass
    async def get(self, content_id): pass
    async def put(self, content_id, entry, *, seconds): pass
    async def delete(self, content_id): pass

@hookimpl
def pressroom_backends():
    return [Backend("cache", "odd", {factory})]
"""
    with pytest.raises(BackendError, match="the cache backend 'odd'"):
        plugins.start(source, cache={"backend": "odd"})


CLOSING = """
from pathlib import Path
from pressroom.plugins import defaults

class Panic(BaseException): ...

async def hang():
    await asyncio.Event().wait()

async def stubborn():
    for _ in range(3):
        try:
            await asyncio.sleep(2)
        except asyncio.CancelledError:
            pass

async def panic(): raise Panic("no way")
async def leave(): raise SystemExit(3)
async def cancel(): raise asyncio.CancelledError
async def error(): raise ValueError("no way")
async def told(): raise BackendError("no way")

class Closing:
    def __init__(self, store, fault):
        self._store, self._fault = store, fault
    def __getattr__(self, name):
        return getattr(self._store, name)
    async def close(self):
        SEEN.append(self._fault.__name__)
        await self._store.close()
        await self._fault()

def closing(kind, factory, fault):
    return Backend(kind, "own", lambda settings: Closing(factory(settings), fault))

@hookimpl
def pressroom_backends():
    return [
        closing("files", defaults.local_files, FILES),
        closing("cache", defaults.memory_cache, CACHE),
        closing("limits", defaults.memory_limits, LIMITS),
    ]
"""


@pytest.mark.parametrize(
    "faults", [("hang", "panic", "error"), ("cancel", "leave", "told"), ("panic", "told", "stubborn")]
)
def test_a_backend_that_fails_to_close_is_named_and_does_not_stop_the_others_from_closing(
    plugins: Plugins, faults: tuple[str, str, str]
) -> None:
    source = CLOSING
    for kind, fault in zip(("FILES", "CACHE", "LIMITS"), faults, strict=True):
        source = source.replace(kind, fault)
    host = plugins.start(source, storage={"files": "own"}, cache={"backend": "own"}, limits={"backend": "own"})
    gate = host.host.compiled.gate

    with structlog.testing.capture_logs() as logs:
        host.__exit__(None, None, None)

    assert sorted(plugins.module.SEEN) == sorted(faults)
    failures = {line["name"]: line for line in logs if line["event"] == "a plugin failed"}
    assert failures.keys() == {"files own", "cache own", "limits own"}
    for kind, fault in zip(("files", "cache", "limits"), faults, strict=True):
        reason = "timeout" if fault in ("hang", "stubborn") else "failed"
        assert (failures[f"{kind} own"]["plugin"], failures[f"{kind} own"]["reason"]) == (plugins.id, reason)
    assert sum(gate.failures[plugins.id, "backend", reason] for reason in ("failed", "timeout")) == len(faults)
