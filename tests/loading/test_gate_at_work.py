"""Plugins that hang or raise uncaught exceptions in a running server: others keep working, and the log names them."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Iterator
from typing import Any, Final

import httpx
import pytest
from pressroom.cli.diagnosis import diagnose
from pressroom.http.access_form import publishing_targets
from pressroom.plugins import gated
from pressroom.server import plugin_requests
from pressroom.testing import RunningHost, ToolFailed
from pressroom.testing.plugin import settings_for_test
from support.installing import on_path
from support.plugin_source import SOUND, install_plugin

FAULTS: Final = ("hang", "stubborn", "panic", "exit", "close", "interrupt", "cancel", "error")

SOURCE: Final = '''
import asyncio

from pydantic import field_validator
from datetime import UTC, datetime

class Panic(BaseException): ...

class Bare(CallError):
    def __init__(self): ...

FAULT = ""
LET_GO = False

async def fault(name=None):
    match FAULT if name is None else name:
        case "hang":
            await asyncio.Event().wait()
        case "stubborn":
            while not LET_GO:
                try:
                    await asyncio.Event().wait()
                except asyncio.CancelledError:
                    pass
        case "":
            return
        case other:
            raise_it(other)

def raise_it(name):
    match name:
        case "panic": raise Panic("no way")
        case "exit": raise SystemExit(3)
        case "close": raise GeneratorExit
        case "interrupt": raise KeyboardInterrupt
        case "cancel": raise asyncio.CancelledError
        case "error": raise ValueError("no way")
        case "unhandled": raise FetchFailed("no way of the website")
        case "no message": raise NotFound("")
        case "spaces": raise NotFound(" ")
        case "null": raise NotFound(None)
        case "surrogate": raise NotFound(chr(0xD800))
        case "bare": raise Bare
        case "essay": raise NotFound("a" * 100_000, hint="b")

class FaultParams(Params):
    fault: str = Field(default="", description="What goes wrong.")

class Nothing(BaseModel):
    fault: str

@mcp_tool(name="liar", title="Lie")
async def liar(params: FaultParams, call: Call) -> Nothing:
    """Returns something else than it declares."""
    nothing = Nothing(fault="")
    return {
        "none": None,
        "dict": {"fault": ""},
        "other": params,
        "unwritable": Nothing.model_construct(fault=object()),
        "no text": ToolResult(None, nothing),
        "surrogate": ToolResult(chr(0xD800), nothing),
        "text as image": ToolResult("", nothing, images=(("image/png", "text"),)),
        "no pair": ToolResult("", nothing, images=(b"image",)),
        "no type": ToolResult("", nothing, images=((3, b"image"),)),
        "no images": ToolResult("", nothing, images=None),
        "dict as content": ToolResult("", nothing, content=({"type": "text"},)),
        "one block": ToolResult("", nothing, content=AudioContent(b"sound", "audio/wav")),
        "text as sound": ToolResult("", nothing, content=(AudioContent("sound", "audio/wav"),)),
        "surrogate as document": ToolResult("", nothing, content=(EmbeddedResource("urn:a", chr(0xD800), "text/a"),)),
        "number as document": ToolResult("", nothing, content=(EmbeddedResource("urn:a", 7, "text/a"),)),
        "no link": ToolResult("", nothing, content=(ResourceLink("", "a"),)),
    }[params.fault]

@mcp_tool(name="victim", title="Fail", timeout=1)
async def victim(params: FaultParams, call: Call) -> Nothing:
    """Fails in a way that you choose."""
    if params.fault.startswith("tool "):
        await fault(params.fault.removeprefix("tool "))
    return Nothing(fault=params.fault)

@hookimpl
def pressroom_mcp_tools(): return [victim, liar, large, careless]

async def authenticate(credentials):
    await fault(credentials.headers.get("x-fault", ""))

@hookimpl
def pressroom_authenticators(): return [Authenticator("own", authenticate)]

async def authorize(caller, tool):
    if tool.name == "victim" and AT == "authorizer":
        await fault()

AT = ""

@hookimpl
def pressroom_authorizers(): return [Authorizer("own", authorize)]

async def observe(record):
    if AT == "observer":
        await fault()

def note(record):
    if AT == "note":
        raise_it(FAULT)

@hookimpl
def pressroom_observers(): return [Observer("own", observe), Observer("note", note)]

def key(caller):
    if AT == "limit":
        raise_it(FAULT)
    return "everybody"

@hookimpl
def pressroom_rate_limits():
    return [RateLimit("own", lambda tool, plan: per_hour(1000) if tool.name == "victim" else None, key)]

async def entries():
    if AT == "index":
        await fault()
    return [IndexEntry("An entry", "/own", read=text, version=FAULT)]

async def text():
    if AT == "text":
        await fault()
    return "the text"

@hookimpl
def pressroom_index_entries(): return [IndexEntries("Own", entries)]

async def page(request):
    match request.query["fault"]:
        case "text": return HttpResponse("page")
        case "csv": return HttpResponse("a,b", media_type="text/csv")
        case "object": return HttpResponse({"a": 1})
        case "status": return HttpResponse(b"page", "200")
        case "type": return HttpResponse(b"page", media_type=None)
        case "headers": return HttpResponse(b"page", headers=None)
        case other: await fault(other)
    return HttpResponse(b"page")

async def before(request):
    await fault(request.query.get("before", ""))

@hookimpl
def pressroom_routes():
    return [
        Route("/own", page),
        Route("/before", page, before_body=before),
        Route("/dashboard/own", page, page=DashboardPage("Own")),
        Route("/titled", page, title="Own"),
    ]

async def hosts():
    if AT == "hosts":
        await fault()
    return ["own.example.org"]

@hookimpl
def pressroom_virtual_hosts(): return [VirtualHosts("own", hosts, page)]

class CarelessParams(Params):
    fault: str = Field(default="", description="Where it fails.")

    @field_validator("fault")
    @classmethod
    def check(cls, value):
        raise_it(value.removeprefix("validator "))
        return value

def counts(params):
    raise_it(params.fault.removeprefix("counts "))
    return True

@mcp_tool(title="Fail early", quota="careless", counts=counts)
async def careless(params: CarelessParams, call: Call) -> Nothing:
    """Fails before it runs."""
    return Nothing(fault=params.fault)

class SizeParams(Params):
    text: int = Field(default=0, description="MiB of text.")
    sound: int = Field(default=0, description="MiB of sound.")
    data: int = Field(default=0, description="MiB of data.")

@mcp_tool(name="large", title="Return a lot", result=Nothing)
async def large(params: SizeParams, call: Call) -> ToolResult:
    """Returns as much as you choose."""
    mib = 1_048_576
    sound = AudioContent(b"s" * params.sound * mib, "audio/wav")
    return ToolResult("t" * params.text * mib, Nothing(fault="d" * params.data * mib), content=(sound,))

class DrawParams(Params):
    fault: str = Field(description="What goes wrong.")

@generator(
    slug="threaded", name="Threaded", summary="Fails.", rate_limit=per_hour(1000), produces=("text/plain",),
    executor="thread", examples=(Example("Nothing", {"fault": "none"}),),
)
def threaded(params: DrawParams, call: Call) -> Artifact:
    """Fails in a way that you choose."""
    raise_it(params.fault)
    if params.fault == "details":
        return Artifact(b"fine", "text/plain", Nothing.model_construct(fault=object()))
    fields = {"content": "fine"} if params.fault == "content" else {"content": b"fine"}
    if params.fault in ("preview", "no pair"):
        fields["preview"] = {"preview": ("image/png", "fine"), "no pair": b"fine"}[params.fault]
    if params.fault in ("text", "numbers", "nothing"):
        fields["warnings"] = {"text": "one", "numbers": (1,), "nothing": None}[params.fault]
    return Artifact(media_type="text/plain", **fields)

async def prepare(params, call):
    await fault(params.fault)

@generator(
    slug="prepared", name="Prepared", summary="Fails.", rate_limit=per_hour(1000), produces=("text/plain",), timeout=1,
    prepare=prepare, executor="thread", examples=(Example("Nothing", {"fault": "none"}),),
)
def prepared(params: DrawParams, call: Call) -> Artifact:
    """Fails before it runs."""
    return Artifact(b"fine", "text/plain")

@hookimpl
def pressroom_generators(): return [shout, threaded, prepared]

async def work(run):
    match run.payload["fault"]:
        case "number": return 5
        case "object": return {"book": object()}
        case "surrogate": return {"book": chr(0xD800)}
        case "naive": return Reschedule(datetime(2026, 1, 1))
        case "payload": return Reschedule(datetime.now(UTC), {"book": object()})
        case "pause": return Pause("5")
        case "past": return Pause(-5)
        case other: await fault(other)

@hookimpl
def pressroom_jobs(): return [Job("own", work, attempts=1, timeout=1)]

async def names(subject):
    if AT == "targets":
        await fault()
    return ["own.example"]

@hookimpl
def pressroom_publishing_targets(): return [PublishingTargets("own", names)]

async def section(subject):
    if AT == "section":
        await fault()
    return "<h2>My work</h2>"

@hookimpl
def pressroom_overview(): return [OverviewSection("own", section)]

async def check():
    if AT == "check":
        await fault()
    return CheckResult("ok", "fine")

@hookimpl
def pressroom_checks(): return [Check("own", check)]

async def measure(session, subject):
    if AT == "storage" and FAULT in ("none", "text"):
        return {"none": None, "text": "5"}[FAULT]
    if AT == "storage":
        await fault()
    return 0

@hookimpl
def pressroom_storage(): return [StorageKind("own", "own things", measure, advice="delete them")]

class Index:
    async def open(self): ...
    async def close(self): ...
    async def get(self, content_id):
        if AT == "get":
            await fault()
    async def put(self, content_id, entry, *, seconds):
        if AT == "put":
            await fault()
    async def delete(self, content_id): ...

@hookimpl
def pressroom_backends(): return [Backend("cache", "own", lambda settings: Index())]
'''

_RAISED: Final = ("panic", "exit", "interrupt", "cancel", "error")
_WORDS: Final = {
    "panic": "Panic: no way",
    "exit": "SystemExit: 3",
    "close": "GeneratorExit",
    "interrupt": "KeyboardInterrupt",
    "cancel": "CancelledError",
    "error": "ValueError: no way",
    "unhandled": "no way of the website",
    "hang": "did not end within",
    "stubborn": "did not end within",
}


def waited(probe: Callable[[], Any]) -> Any:
    """Poll the function until it returns something truthy, and return that."""
    end = time.monotonic() + 30
    while not (result := probe()):
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)
    return result


class Faulty:
    """A running host with a plugin that fails on demand, and one that works."""

    def __init__(self, host: RunningHost, module: Any) -> None:
        self.host = host
        self._module = module

    def fails(self, at: str, name: str) -> None:
        self._module.AT, self._module.FAULT = at, name

    def works(self) -> None:
        """Check that the other plugin works, and this one too once its fault is switched off."""
        self.fails("", "")
        response = httpx.post(f"{self.host.url}/tools/sound/api/generate", json={"text": "hello"}, timeout=30)
        assert response.status_code == 200
        assert httpx.get(f"{self.host.url}/healthz").status_code == 200
        assert self.host.call_tool("victim", {"fault": ""}) == {"fault": ""}

    def failures(self, point: str) -> int:
        counts = self.host.host.compiled.gate.failures
        return sum(count for (plugin, at, _), count in counts.items() if (plugin, at) == ("own", point))


@pytest.fixture(scope="module")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Faulty]:
    folder = tmp_path_factory.mktemp("gate")
    install_plugin(folder / "site", "own", SOUND + SOURCE)
    install_plugin(folder / "site", "sound")
    config = {
        "plugins": {"own": {}, "sound": {}},
        "cache": {"backend": "own"},
        "tools": {name: {"rate_limit": "100000/hour"} for name in ("own", "sound", "threaded", "prepared")},
        "builtin_plugins": False,
    }
    with pytest.MonkeyPatch.context() as patch, on_path(folder / "site"):
        for name in (
            "ACCESS_SECONDS",
            "OBSERVER_SECONDS",
            "INDEX_SECONDS",
            "CHECK_SECONDS",
            "TARGETS_SECONDS",
            "OVERVIEW_SECONDS",
            "STORAGE_SECONDS",
            "HOSTS_SECONDS",
        ):
            patch.setattr(gated, name, 0.3)
        patch.setattr(plugin_requests, "MAX_NAMES_AGE", 0.0)  # the plugin is queried again on each request
        patch.setattr(gated, "JOB_CANCEL_SECONDS", 1.0)
        with RunningHost(settings_for_test(config, folder / "data")) as host:
            module: Any = importlib.import_module("acme_own.plugin")
            yield Faulty(host, module)
            module.LET_GO = True


def _mcp(faulty: Faulty, headers: dict[str, str] | None = None, fault: str = "") -> httpx.Response:
    message = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "victim", "arguments": {"fault": fault}},
    }
    key = faulty.host.account().api_key()
    all_headers = {"Authorization": f"Bearer {key}", "Accept": "application/json, text/event-stream", **(headers or {})}
    return httpx.post(f"{faulty.host.url}/api/mcp", json=message, headers=all_headers, timeout=30)


def _authenticator(faulty: Faulty, name: str) -> None:
    response = httpx.post(
        f"{faulty.host.url}/tools/sound/api/generate", json={"text": "hello"}, headers={"X-Fault": name}, timeout=30
    )
    assert response.status_code in (500, 503, 504)
    assert "the credential could not be checked" in response.json()["error"]["message"]


def _authorizer(faulty: Faulty, name: str) -> None:
    faulty.fails("authorizer", name)
    assert _mcp(faulty).json()["result"]["isError"]


def _calls(at: str) -> Callable[[Faulty, str], None]:
    def call(faulty: Faulty, name: str) -> None:
        faulty.fails(at, name)
        assert faulty.host.call_tool("victim", {"fault": ""}) == {"fault": ""}
        faulty.host.run(faulty.host.host.pipeline.settle(10))

    return call


def _limit(faulty: Faulty, name: str) -> None:
    faulty.fails("limit", name)
    assert _mcp(faulty).json()["result"]["isError"]


def _index(at: str) -> Callable[[Faulty, str], None]:
    def read(faulty: Faulty, name: str) -> None:
        faulty.fails(at, name)
        response = httpx.get(f"{faulty.host.url}/llms-full.txt", timeout=30)
        assert response.status_code == 200
        assert "## Tools" in response.text

    return read


def _route(path: str) -> Callable[[Faulty, str], None]:
    def ask(faulty: Faulty, name: str) -> None:
        assert httpx.get(f"{faulty.host.url}{path}{name}", timeout=30).status_code == 500

    return ask


def _page(faulty: Faulty, name: str) -> None:
    cookies = faulty.host.account().session_cookies()
    page = httpx.get(f"{faulty.host.url}/dashboard/own?fault={name}", cookies=cookies, timeout=30)
    assert page.status_code == 500
    assert "Something failed" in page.text


def _on_virtual_host(faulty: Faulty, name: str) -> None:
    url = f"{faulty.host.url}/?fault={name}"
    assert httpx.get(url, headers={"Host": "own.example.org"}, timeout=30).status_code == 500


def _hosts(faulty: Faulty, name: str) -> None:
    """The previous names stay in effect, even while the plugin is being queried."""

    def page() -> tuple[int, str]:
        response = httpx.get(f"{faulty.host.url}/?fault=none", headers={"Host": "own.example.org"}, timeout=30)
        return response.status_code, response.text

    waited(lambda: page() == (200, "page"))
    before = faulty.failures("virtual hosts")
    faulty.fails("hosts", name)
    assert page() == (200, "page")
    waited(lambda: faulty.failures("virtual hosts") > before)


def _generator(faulty: Faulty, name: str) -> None:
    response = httpx.post(f"{faulty.host.url}/tools/threaded/api/generate", json={"fault": name}, timeout=30)
    assert response.status_code == 500


def _prepare(faulty: Faulty, name: str) -> None:
    response = httpx.post(f"{faulty.host.url}/tools/prepared/api/generate", json={"fault": name}, timeout=30)
    assert response.status_code == (503 if name in ("hang", "stubborn") else 500)
    assert response.json()["error"]["message"].startswith("prepared ")


def _job(faulty: Faulty, name: str) -> None:
    jobs = faulty.host.host.jobs
    job = faulty.host.run(jobs.enqueue("own", {"fault": name}))

    assert waited(lambda: (status := faulty.host.run(jobs.status(job))).finished_at and status).state == "failed"


def _targets(faulty: Faulty, name: str) -> None:
    faulty.fails("targets", name)
    contributions = faulty.host.host.compiled.plugins.contributions
    assert faulty.host.run(publishing_targets(contributions, "somebody")) == []


def _section(faulty: Faulty, name: str) -> None:
    faulty.fails("section", name)
    cookies = faulty.host.account().session_cookies()
    page = httpx.get(f"{faulty.host.url}/dashboard", cookies=cookies, timeout=30)
    assert page.status_code == 200
    assert "Latest calls" in page.text
    assert "My work" not in page.text


def _check(faulty: Faulty, name: str) -> None:
    faulty.fails("check", name)
    rows = {row.check: row.result for row in faulty.host.run(diagnose(faulty.host.host.compiled, lambda: None))}
    assert rows["own: own"].status == "error"
    assert _WORDS[name] in rows["own: own"].message


def _storage(faulty: Faulty, name: str) -> None:
    faulty.fails("storage", name)
    with pytest.raises(Exception, match=_WORDS[name]):
        faulty.host.run(faulty.host.host.accounts.stored.storage("0" * 32))


def _cache(at: str) -> Callable[[Faulty, str], None]:
    def generate(faulty: Faulty, name: str) -> None:
        faulty.fails(at, name)
        response = httpx.post(f"{faulty.host.url}/tools/own/api/generate", json={"text": f"{at} {name}"}, timeout=30)
        assert response.status_code == 200, response.text

    return generate


def _tool(faulty: Faulty, name: str) -> None:
    assert _mcp(faulty, fault=f"tool {name}").json()["result"]["isError"]


POINTS: Final[dict[str, tuple[str, Callable[[Faulty, str], Any], tuple[str, ...]]]] = {
    "authenticator": ("authenticator", _authenticator, FAULTS),
    "authorizer": ("authorizer", _authorizer, FAULTS),
    "observer": ("observer", _calls("observer"), FAULTS),
    "plain_observer": ("observer", _calls("note"), _RAISED),
    "limit_key": ("rate limit", _limit, _RAISED),
    "index": ("index", _index("index"), FAULTS),
    "text": ("index", _index("text"), FAULTS),
    "route": ("route", _route("/own?fault="), _RAISED),
    "before_body": ("route", _route("/before?fault=&before="), _RAISED),
    "page": ("route", _page, _RAISED),
    "on_virtual_host": ("route", _on_virtual_host, _RAISED),
    "hosts": ("virtual hosts", _hosts, FAULTS),
    "generator": ("tool", _generator, ("unhandled", *_RAISED)),
    "prepare": ("tool", _prepare, FAULTS),
    "job": ("job", _job, FAULTS),
    "targets": ("publishing targets", _targets, FAULTS),
    "section": ("overview section", _section, FAULTS),
    "check": ("check", _check, FAULTS),
    "storage": ("storage", _storage, FAULTS),
    "cache_get": ("backend", _cache("get"), FAULTS),
    "cache_put": ("backend", _cache("put"), FAULTS),
    "tool": ("tool", _tool, ("hang", "close", "unhandled", *_RAISED)),
}


@pytest.mark.parametrize(("point", "name"), [(point, name) for point in POINTS for name in POINTS[point][2]])
def test_a_failure_at_work_is_reported_and_affects_no_other_plugin(faulty: Faulty, point: str, name: str) -> None:
    counted_as, fail, _ = POINTS[point]
    before = faulty.failures(counted_as)
    fail(faulty, name)
    assert faulty.failures(counted_as) > before
    assert _WORDS[name] in faulty.host.host.compiled.gate.latest["own"].error
    faulty.works()


@pytest.mark.parametrize(
    ("returned", "expected"),
    [
        ("none", "NoneType"),
        ("dict", "dict"),
        ("other", "FaultParams"),
        ("unwritable", "Nothing, which cannot be written as JSON"),
        ("no text", "NoneType as the text of its ToolResult"),
        ("surrogate", "str '\\ud800' as the text of its ToolResult"),
        ("text as image", "str 'text' as an image; it must be bytes"),
        ("no pair", "bytes b'image' as an image; it must be a pair such as"),
        ("no type", "tuple (3, b'image') as an image; it must be a pair such as"),
        ("no images", "NoneType as images; they must be a tuple"),
        ("dict as content", "dict {'type': 'text'} as content; it must be AudioContent"),
        (
            "one block",
            "AudioContent AudioContent(data=b'sound', media_type='audio/wav') as content; it must be a tuple",
        ),
        ("text as sound", "AudioContent with str 'sound' as its data; it must be bytes"),
        ("surrogate as document", "EmbeddedResource with str '\\ud800' as its content; it must be a str without"),
        (
            "number as document",
            "EmbeddedResource with int 7 as its content; it must be a str without surrogates or bytes",
        ),
        ("no link", "ResourceLink with an empty uri"),
    ],
)
def test_a_tool_that_returns_an_undeclared_type_is_reported(faulty: Faulty, returned: str, expected: str) -> None:
    before = faulty.failures("tool")
    with pytest.raises(ToolFailed, match="internal_error") as caught:
        faulty.host.call_tool("liar", {"fault": returned})
    assert f"liar returned {expected}" in str(caught.value.__cause__.__cause__)  # type: ignore[union-attr]
    assert faulty.failures("tool") == before + 1
    assert f"returned {expected}" in faulty.host.host.compiled.gate.latest["own"].error
    faulty.works()


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("no message", "NotFound"),
        ("spaces", "NotFound"),
        ("null", "NotFound"),
        ("surrogate", "NotFound"),
        ("bare", "Bare"),
    ],
)
def test_a_refusal_without_a_text_is_named_and_gets_one(faulty: Faulty, name: str, kind: str) -> None:
    before = faulty.failures("tool")
    (block,) = _mcp(faulty, fault=f"tool {name}").json()["result"]["content"]
    assert block["text"] == "victim refused this call without giving a reason."
    assert faulty.failures("tool") == before + 1
    assert faulty.host.host.compiled.gate.latest["own"].error == f"raised {kind} without a message that can be sent"


@pytest.mark.parametrize("where", ["validator", "counts"])
@pytest.mark.parametrize("name", ["panic", "exit", "interrupt"])
def test_code_of_a_tool_that_fails_before_the_run_is_named(faulty: Faulty, where: str, name: str) -> None:
    before = faulty.failures("tool")
    with pytest.raises(ToolFailed, match="internal_error"):
        faulty.host.call_tool("careless", {"fault": f"{where} {name}"})
    assert faulty.failures("tool") == before + 1
    assert _WORDS[name] in faulty.host.host.compiled.gate.latest["own"].error
    faulty.works()


def test_a_refusal_that_is_too_long_is_cut(faulty: Faulty) -> None:
    (block,) = _mcp(faulty, fault="tool essay").json()["result"]["content"]
    assert block["text"] == "a" * 9_999 + "…. b"


@pytest.mark.parametrize("parts", [("text",), ("sound",), ("data",), ("text", "sound", "data")])
def test_a_result_that_is_too_large_is_named_and_not_sent(faulty: Faulty, parts: tuple[str, ...]) -> None:
    before = faulty.failures("tool")
    faulty.host.call_tool("large", dict.fromkeys(parts, 15 // len(parts)))
    assert faulty.failures("tool") == before
    with pytest.raises(ToolFailed, match=r"large returned .* bytes; a result may have at most 16,777,216"):
        faulty.host.call_tool("large", dict.fromkeys(parts, -(-17 // len(parts))))
    assert faulty.failures("tool") == before + 1
    assert "at most 16,777,216: return less" in faulty.host.host.compiled.gate.latest["own"].error
    faulty.works()


@pytest.mark.parametrize(
    ("returned", "expected"),
    [
        ("content", "made content of type str; it must be bytes"),
        ("preview", "made a preview with content of type str; it must be bytes"),
        ("no pair", "made the preview bytes b'fine'; it must be a pair such as ('image/png', b'…')"),
        ("nothing", "returned the warnings NoneType; they must be a tuple of str"),
        ("text", "returned the warnings str 'one'; they must be a tuple of str"),
        ("numbers", "returned the warnings tuple (1,); they must be a tuple of str"),
        ("details", "returned Nothing, which cannot be written as JSON"),
    ],
)
def test_a_generator_that_returns_something_unstorable_is_reported(
    faulty: Faulty, returned: str, expected: str
) -> None:
    before = faulty.failures("tool")
    for _ in range(2):  # nothing is stored for the second call either
        _generator(faulty, returned)
    assert faulty.failures("tool") == before + 2
    assert expected in faulty.host.host.compiled.gate.latest["own"].error
    faulty.works()


@pytest.mark.parametrize(
    ("returned", "expected"),
    [
        ("number", "a job returns a JSON object, Pause, Reschedule or None, not int 5"),
        ("object", "dict {'book': <object object>} cannot be stored as JSON: TypeError"),
        ("surrogate", "cannot be stored as JSON: UnicodeEncodeError"),
        ("naive", "Reschedule.at must be a datetime with a time zone, not datetime"),
        ("payload", "dict {'book': <object object>} cannot be stored as JSON: TypeError"),
        ("pause", "Pause.seconds must be a number, not str '5'"),
        ("past", "Pause.seconds must be 0 or more, not int -5"),
    ],
)
def test_a_job_that_returns_something_unstorable_is_reported(faulty: Faulty, returned: str, expected: str) -> None:
    before = faulty.failures("job")
    _job(faulty, returned)
    assert faulty.failures("job") == before + 1
    assert expected in faulty.host.host.compiled.gate.latest["own"].error


@pytest.mark.parametrize(
    ("path", "returned", "expected"),
    [
        ("/own", "object", "the body of the HttpResponse must be bytes, not dict {'a': 1}"),
        ("/own", "status", "the status of the HttpResponse must be a number such as 200, not str '200'"),
        ("/titled", "text", "the body of the HttpResponse must be bytes, not str 'page'"),
        ("/dashboard/own", "text", "the body of the HttpResponse must be bytes, not str 'page'"),
        ("/dashboard/own", "status", "the status of the HttpResponse must be a number such as 200, not str '200'"),
        ("/dashboard/own", "type", "the media_type of the HttpResponse must be a str, not NoneType"),
        ("/dashboard/own", "headers", "the headers of the HttpResponse must be a mapping, not None"),
    ],
)
def test_a_route_that_returns_something_unsendable_is_reported(
    faulty: Faulty, path: str, returned: str, expected: str
) -> None:
    before = faulty.failures("route")
    cookies = faulty.host.account().session_cookies()
    response = httpx.get(f"{faulty.host.url}{path}?fault={returned}", cookies=cookies, timeout=30)
    assert response.status_code == 500
    assert faulty.failures("route") == before + 1
    assert expected in faulty.host.host.compiled.gate.latest["own"].error


@pytest.mark.parametrize("path", ["/own", "/titled", "/dashboard/own"])
def test_a_file_may_be_a_string(faulty: Faulty, path: str) -> None:
    cookies = faulty.host.account().session_cookies()
    assert httpx.get(f"{faulty.host.url}{path}?fault=csv", cookies=cookies, timeout=30).text == "a,b"


@pytest.mark.parametrize(
    ("name", "expected"), [("none", "not NoneType"), ("text", "not str '5'"), ("error", "ValueError: no way")]
)
def test_usage_is_shown_without_the_storage_a_plugin_fails_to_measure(faulty: Faulty, name: str, expected: str) -> None:
    account = faulty.host.account()

    def kinds() -> list[str]:
        stored = faulty.host.run(faulty.host.host.accounts.usage(account.id)).storage
        return [] if stored is None else [kind.name for kind in stored.kinds]

    assert kinds() == ["own"]
    faulty.fails("storage", name)
    before = faulty.failures("storage")
    assert kinds() == []
    assert faulty.failures("storage") == before + 1
    assert expected in faulty.host.host.compiled.gate.latest["own"].error
    faulty.works()
