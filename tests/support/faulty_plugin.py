"""The source of a plugin that fails on demand at every extension point."""

from __future__ import annotations

from typing import Final

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
