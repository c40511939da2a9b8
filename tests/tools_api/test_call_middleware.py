"""Call middleware of plugins in real calls: its arguments, its order, and containment of its failures."""

import importlib
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
import structlog
from pressroom.errors import ConfigError
from pressroom.testing import RunningHost
from support import third_party
from support.tool_client import client_of

Start = Callable[..., RunningHost]

HEAD = (
    third_party.HEAD
    + """
import asyncio, time
from contextvars import ContextVar

SEEN = []
SPAN = ContextVar("SPAN", default="none")
"""
)

TOOL = '''
STARTED = asyncio.Event()


@generator(
    slug="shout", name="Shout", summary="Text in capitals.", rate_limit=per_hour(100), produces=("text/plain",),
    executor="async", mcp=Mcp("shout"), examples=(Example("Hello", {"text": "hello"}),),
)
async def shout(params: ShoutParams, call: Call) -> Artifact:
    """Writes a text in capitals."""
    SEEN.append(f"runs in {SPAN.get()}")
    if params.text == "fail":
        raise RuntimeError("the secret ingredient is nutmeg")
    if params.text == "wait":
        STARTED.set()
        await asyncio.Event().wait()
    return Artifact(params.text.upper().encode(), "text/plain")


@hookimpl
def pressroom_generators():
    return [shout]
'''

RECORDER = """
def enter(call):
    SEEN.append(f"{NAME} enters {call.tool.name} of {call.tool.plugin} over {call.interface}")
    SPAN.set(NAME)
    return call.request_id

async def leave(request_id, record):
    assert request_id == record.request_id
    assert 0 <= (record.run_duration or 0) <= record.duration
    await asyncio.sleep(0)
    SEEN.append(f"{NAME} exits {record.tool}: {record.code}{', cached' if record.cached else ''}")

@hookimpl
def pressroom_call_middleware():
    return [CallMiddleware(NAME, enter, leave)]
"""


class Written:
    """Installs plugins in a folder on the import path."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def write(self, source: str) -> tuple[str, Any]:
        id_ = third_party.write_plugin(self._folder, HEAD + source)
        return id_, importlib.import_module(f"{id_}_module")


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Written:
    folder = tmp_path / "third parties"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    return Written(folder)


def shout(host: RunningHost, text: str = "hello") -> httpx.Response:
    return httpx.post(f"{host.url}/tools/shout/api/generate", json={"text": text}, timeout=30)


def failures(host: RunningHost, plugin: str) -> float:
    """Return how often a plugin's middleware failed, in any way."""
    families = host.host.services.metrics.registry.collect()
    samples = [sample for family in families if family.name == "pressroom_plugin_failures" for sample in family.samples]
    return sum(
        sample.value
        for sample in samples
        if (sample.labels["plugin"], sample.labels["point"]) == (plugin, "middleware")
    )


TRACER = """
def enter(call):
    SEEN.append((call.interface, dict(call.trace)))

@hookimpl
def pressroom_call_middleware():
    return [CallMiddleware("tracer", enter)]
"""


def test_it_can_continue_a_clients_trace_over_both_interfaces(written: Written, start: Start) -> None:
    id_, module = written.write(TOOL + TRACER)
    host = start(plugins={id_: {}})
    parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    headers = [("traceparent", parent), ("tracestate", "a=1"), ("tracestate", "b=2"), ("X-Company-Key", "sesame")]
    trace = {"traceparent": parent, "tracestate": "a=1,b=2"}

    httpx.post(f"{host.url}/tools/shout/api/generate", json={"text": "hello"}, headers=headers)
    params = {"name": "shout", "arguments": {"text": "hello"}}
    key = ("Authorization", f"Bearer {client_of(host, 'ada@example.com').key}")
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    httpx.post(f"{host.url}/api/mcp?toolsets=all", json=message, headers=[key, *headers])
    shout(host)

    expected = [("http", trace), "runs in none", ("mcp", trace), ("http", {})]
    assert expected == module.SEEN


def test_it_receives_each_call_and_its_outcome(written: Written, start: Start) -> None:
    id_, module = written.write(f"NAME = 'trace'\n{TOOL}{RECORDER}")
    host = start(plugins={id_: {}})

    def seen(text: str) -> list[str]:
        module.SEEN.clear()
        shout(host, text)
        return list(module.SEEN)

    enters = f"trace enters shout of {id_} over http"
    assert seen("hello") == [enters, "runs in trace", "trace exits shout: ok"]
    assert seen("hello") == [enters, "trace exits shout: ok, cached"]
    assert seen("") == [enters, "trace exits shout: validation_error"]
    assert seen("fail") == [enters, "runs in trace", "trace exits shout: internal_error"]
    module.SEEN.clear()
    assert httpx.post(f"{host.url}/tools/none/api/generate", json={}).status_code == 404
    assert module.SEEN == []

    client_of(host, "ada@example.com").call("shout", text="hello")
    assert [f"trace enters shout of {id_} over mcp", "trace exits shout: ok, cached"] == module.SEEN


def test_the_order_follows_plugin_ids_or_the_configuration(written: Written, start: Start) -> None:
    ids = {}
    modules = {}
    for name in ("first", "second", "third"):
        ids[name], modules[name] = written.write(f"NAME = {name!r}\n{RECORDER}")
    tool, module = written.write(TOOL)
    for recorder in modules.values():
        recorder.SEEN = module.SEEN  # hooks and functions look it up in their module

    def order(**middleware: Any) -> list[str]:
        host = start(plugins={id_: {} for id_ in (tool, *reversed(ids.values()))}, middleware=middleware)
        module.SEEN.clear()
        assert shout(host).status_code == 200
        return [line.split()[0] for line in module.SEEN if not line.startswith("runs")]

    by_id = sorted(ids, key=lambda name: ids[name])
    assert order() == [*by_id, *reversed(by_id)]
    remaining = [name for name in by_id if name not in ("third", "second")]
    assert order(order=["third", "second"]) == ["third", "second", *remaining, *remaining, "second", "third"]


def test_an_unknown_name_in_the_order_stops_the_start(written: Written, start: Start) -> None:
    id_, _ = written.write(f"NAME = 'trace'\n{TOOL}{RECORDER}")
    with pytest.raises(ConfigError, match=r"middleware\.order: there is no 'trase'") as exc_info:
        start(plugins={id_: {}}, middleware={"order": ["trase"]})
    assert exc_info.value.hint == "did you mean 'trace'?"


def test_two_plugins_cannot_have_middleware_of_one_name(written: Written, start: Start) -> None:
    first, _ = written.write(f"NAME = 'trace'\n{TOOL}{RECORDER}")
    second, _ = written.write(f"NAME = 'trace'\n{RECORDER}")
    host = start(plugins={first: {}, second: {}})
    records = {record.id: record for record in host.host.compiled.plugins.records}
    assert {records[first].status, records[second].status} == {"conflict"}
    assert "the middleware trace is offered by" in records[first].error


SELDOM = """
async def quit(*_): raise SystemExit("no")
def close(*_): raise GeneratorExit
async def close_later(*_):
    await asyncio.sleep(0)
    raise GeneratorExit
async def cancel(*_): raise asyncio.CancelledError
async def cancelled_future(*_):
    future = asyncio.get_running_loop().create_future()
    future.cancel()
    await future
async def hang(*_): await asyncio.Event().wait()
async def deaf(*_):
    while True:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            pass
def fail(*_): raise RuntimeError("nutmeg")
"""


@pytest.mark.parametrize(
    "function", ["fail", "quit", "close", "close_later", "cancel", "cancelled_future", "hang", "deaf"]
)
@pytest.mark.parametrize("step", ["enter", "exit"])
def test_its_failures_and_hangs_never_change_the_response(
    written: Written, start: Start, step: str, function: str
) -> None:
    hook = f"""
def well(*_): SEEN.append("ran")

@hookimpl
def pressroom_call_middleware():
    return [CallMiddleware("odd", **{{"enter": well, "exit": well}} | {{{step!r}: {function}}})]
"""
    id_, module = written.write(TOOL + SELDOM + hook)
    host = start(plugins={id_: {}}, middleware={"timeout": 0.05})

    with structlog.testing.capture_logs() as logs:
        responses = [shout(host, text) for text in ("one", "two")]
        responses.append(shout(host, "fail"))

    assert [response.status_code for response in responses] == [200, 200, 500]
    assert "nutmeg" not in responses[0].text
    (line,) = [line for line in logs if line.get("point") == "middleware"]
    assert (line["event"], line["plugin"], line["name"]) == ("a plugin failed", id_, f"odd ({step})")
    assert failures(host, id_) == 3
    # If `enter` failed, `exit` is not called.
    assert module.SEEN.count("ran") == (0 if step == "enter" else 3)
    if function in ("hang", "deaf"):
        assert "0.05 s" in line["error"]


def test_a_failure_is_logged_again_after_a_success(written: Written, start: Start) -> None:
    hook = """
def moody(call):
    if call.caller.client_ip and SEEN.count("good") % 2 == 0 and "bad" in SEEN:
        raise RuntimeError("a mood")

@hookimpl
def pressroom_call_middleware():
    return [CallMiddleware("moody", moody)]
"""
    id_, module = written.write(TOOL + hook)
    host = start(plugins={id_: {}})

    with structlog.testing.capture_logs() as logs:
        for mood in (["bad"], ["bad"], ["good"], ["bad"]):
            module.SEEN[:] = mood
            assert shout(host).status_code == 200
    assert len([line for line in logs if line.get("point") == "middleware"]) == 2
    assert failures(host, id_) == 3


def test_it_exits_for_a_call_whose_client_left(written: Written, start: Start) -> None:
    source = TOOL + RECORDER.replace(
        'SEEN.append(f"{NAME} exits', 'asyncio.get_running_loop().call_soon(LEFT.set); SEEN.append(f"{NAME} exits'
    )
    id_, module = written.write(f"NAME = 'trace'\nimport threading\nLEFT = threading.Event()\n{source}")
    host = start(plugins={id_: {}})
    body = b'{"text": "wait"}'
    with socket.create_connection(("127.0.0.1", httpx.URL(host.url).port or 0)) as connection:
        head = "POST /tools/shout/api/generate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        connection.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        host.run(module.STARTED.wait())
    assert module.LEFT.wait(10)
    assert module.SEEN[-1] == "trace exits shout: client_left"
