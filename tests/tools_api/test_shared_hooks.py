"""Shared hooks used by real plugins: their effects, and containment of their failures."""

import importlib
import json
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import httpx
import pytest
import structlog
from jsonschema import Draft202012Validator
from pressroom.catalog.reserved_paths import shadowed_host_path
from pressroom.errors import BackendError, CallError, ConfigError
from pressroom.server.app import create_app
from pressroom.testing import RunningHost
from pressroom.testing.plugin import settings_for_test
from support import third_party
from support.commands import Done, run_command, run_forked
from support.server import command_environment
from support.tool_client import client_of

SHOUT = "/tools/shout/api/generate"

Start = Callable[..., RunningHost]

HEAD = (
    third_party.HEAD
    + '''
import asyncio
from contextlib import asynccontextmanager

SEEN = []


@generator(
    slug="shout", name="Shout", summary="Text in capitals.", rate_limit=per_hour(100), produces=("text/plain",),
    executor="async", tags=("loud",), examples=(Example("Hello", {"text": "hello"}),),
)
async def shout(params: ShoutParams, call: Call) -> Artifact:
    """Writes a text in capitals."""
    SEEN.append(params.text)
    return Artifact(f"{params.text.upper()} for {call.caller.subject or 'all'}".encode(), "text/plain")


@hookimpl
def pressroom_generators():
    return [shout]
'''
)

AUTHENTICATOR = """
async def badge(credentials):
    if not credentials.bearer.startswith("badge_"):
        return None
    if credentials.bearer == "badge_void":
        raise Rejected("this badge is no longer valid")
    if credentials.bearer == "badge_broken":
        raise RuntimeError("the secret ingredient is nutmeg")
    return Identity(credentials.bearer, "staff", disabled_tools={"shout"} & {credentials.bearer[6:]})

@hookimpl
def pressroom_authenticators():
    return [Authenticator("badge", badge)]
"""


class Plugins:
    """Writes plugins into a folder on the import path, and keeps the ID of the last one."""

    def __init__(self, folder: Path, start: Start) -> None:
        self.folder = folder
        self._start = start
        self.id = ""

    def write(self, source: str) -> str:
        self.id = third_party.write_plugin(self.folder, HEAD + source)
        return self.id

    def start(self, source: str, **config: Any) -> RunningHost:
        plugins = {self.write(source): {}, **config.pop("plugins", {})}
        return self._start(plugins=plugins, **config)

    @property
    def module(self) -> Any:
        return importlib.import_module(f"{self.id}_module")


@pytest.fixture
def plugins(tmp_path: Path, start: Start, monkeypatch: pytest.MonkeyPatch) -> Plugins:
    folder = tmp_path / "third parties"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    return Plugins(folder, start)


def shout(host: RunningHost, text: str = "hello", bearer: str = "", **params: Any) -> httpx.Response:
    headers = {"authorization": f"Bearer {bearer}"} if bearer else {}
    return httpx.post(host.url + SHOUT, json={"text": text, **params}, headers=headers, timeout=30)


def code(response: httpx.Response) -> tuple[int, str]:
    """Return the status and error code of a response, which must be an envelope without secrets."""
    body = response.json()
    assert set(body) == {"ok", "error", "meta", "pressroom"}
    assert response.headers["x-request-id"]
    assert "nutmeg" not in response.text
    return response.status_code, body["error"]["code"]


def status_of(host: RunningHost, plugin: str) -> tuple[str, str, str]:
    (record,) = (record for record in host.host.compiled.plugins.records if record.id == plugin)
    return record.status, record.phase, record.error


def command(
    plugins: Plugins, tmp_path: Path, *arguments: str, config: str = "", run: Callable[..., Done] = run_command
) -> Done:
    (tmp_path / "pressroom.toml").write_text(f"[plugins.{plugins.id}]\n{config}")
    environment = command_environment(tmp_path / "command")
    environment["PYTHONPATH"] += f":{plugins.folder}"
    return run(["--config", str(tmp_path / "pressroom.toml"), *arguments], cwd=tmp_path, env=environment)


def test_hook_generators(plugins: Plugins) -> None:
    host = plugins.start("")

    assert shout(host, response="binary").text == "HELLO for all"


def test_a_generators_own_error_has_its_own_code_and_status(plugins: Plugins) -> None:
    source = """
class FeedUnavailable(CallError):
    code = "feed_unavailable"
    http_status = 502


class Unnamed(CallError):
    code = "unnamed"


async def refuse(params, call):
    raise {"away": FeedUnavailable, "unnamed": Unnamed, "missing": NotFound}[params.text]("the feed is away")


shout = dataclasses.replace(shout, function=refuse, reference="")
"""
    host = plugins.start(f"import dataclasses\n{source}")

    assert [code(shout(host, text)) for text in ("away", "unnamed", "missing")] == [
        (502, "feed_unavailable"),
        (500, "unnamed"),
        (404, "not_found"),
    ]


@pytest.mark.parametrize("status", [200, 302, 399, 600])
def test_no_error_is_returned_as_a_success(status: int) -> None:
    with pytest.raises(ValueError, match=f"Odd.http_status is {status}; a failure has a status from 400 to 599"):
        type("Odd", (CallError,), {"http_status": status})


def test_hook_mcp_tools(plugins: Plugins) -> None:
    host = plugins.start(third_party.MCP_TOOL)

    assert host.call_tool("measure_volume", {"text": "four"}) == {"letters": 4}
    response = httpx.post(f"{host.url}/tools/measure_volume/api/generate", json={"text": "four"})
    assert code(response) == (404, "not_found")


def test_hook_authenticators(plugins: Plugins) -> None:
    host = plugins.start(AUTHENTICATOR, plans={"staff": {"rate_limits": {"shout": "7/hour"}}})

    assert shout(host).json()["meta"]["rateLimit"]["limit"] == 100
    assert shout(host, bearer="badge_ada").json()["meta"]["rateLimit"]["limit"] == 7
    assert shout(host, bearer="of another kind").json()["meta"]["rateLimit"]["limit"] == 100
    assert code(shout(host, bearer="badge_void")) == (401, "unauthorized")
    assert code(shout(host, bearer="badge_shout")) == (403, "forbidden")


COMPANY_KEY = """
async def company_key(credentials):
    given = credentials.headers.get("x-company-key")
    if given is None:
        return None
    if given != "k1":
        raise Rejected("this company key is not valid")
    return Identity("company", "staff")

@hookimpl
def pressroom_authenticators():
    return [Authenticator("company key", company_key)]
"""


@pytest.mark.parametrize("others", [{}, {"authorization": "Basic YTpi"}, {"authorization": "Bearer dummy"}])
def test_an_authenticator_may_read_any_header(plugins: Plugins, others: dict[str, str]) -> None:
    host = plugins.start(COMPANY_KEY)

    def shout_with(**headers: str) -> httpx.Response:
        credentials = {name.replace("_", "-"): value for name, value in headers.items()}
        return httpx.post(
            host.url + SHOUT, json={"text": "hi", "response": "binary"}, headers={**others, **credentials}
        )

    assert shout_with().text == "HI for all"
    assert code(shout_with(x_company_key="k2")) == (401, "unauthorized")


COOKIES = """
def ticket(name):
    async def ask(credentials):
        SEEN.append(name)
        given = credentials.cookies.get(name)
        if given is None:
            return None
        if given != "valid":
            raise Rejected(f"this {name} is not valid")
        return Identity(f"{credentials.headers.get('x-seat', 'nobody')} by {name}", "staff")
    return Authenticator(name, ask)

@hookimpl
def pressroom_authenticators():
    return [ticket(name) for name in ("day", "year")]
"""


def test_cookies_can_be_the_credential_on_every_request_in_the_operators_order(plugins: Plugins) -> None:
    host = plugins.start(COOKIES, auth={"authenticators": ["year", "day"]}, plans={"staff": {"tools": ["*"]}})

    def shout_with(*cookies: str) -> httpx.Response:
        headers = [("Cookie", cookie) for cookie in cookies] + [("X-Seat", "ada")]
        text = {"text": f"hi {next(numbers)}", "response": "binary"}
        return httpx.post(host.url + SHOUT, json=text, headers=headers)

    def whose(response: httpx.Response) -> str:
        return response.text.partition(" for ")[2]

    def listed(cookie: str) -> httpx.Response:
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        return httpx.post(f"{host.url}/api/mcp", json=body, headers={"cookie": cookie})

    numbers, visited = count(1), plugins.module.SEEN
    for _ in range(2):
        visited.clear()
        assert whose(shout_with("theme=dark; day=valid")) == "ada by day"
        assert visited[:2] == ["year", "day"]
    visited.clear()
    assert whose(shout_with("day=valid; year=valid")) == "ada by year"
    assert visited[0] == "year"
    assert "day" not in visited
    for cookies in (["day=forged"], ["day=valid; year=forged"], ["day=valid", "year="], ["day=forged; day=valid"]):
        assert code(shout_with(*cookies)) == (401, "unauthorized")
    assert whose(shout_with("day", 'theme="a; day"')) == "all"
    assert whose(shout_with('day="valid"', "theme=dark")) == "ada by day"
    assert listed("year=valid").json()["result"]["tools"]
    assert [listed(cookie).status_code for cookie in ("year=forged", "theme=dark")] == [401, 401]


def test_a_duplicate_header_is_not_read(plugins: Plugins) -> None:
    """A header that a client sends twice, or in addition to the proxy's, is not mistaken for the proxy's."""
    host = plugins.start(COMPANY_KEY)

    headers = [("X-Company-Key", "k1"), ("x-company-key", "k1")]
    assert code(httpx.post(host.url + SHOUT, json={"text": "hi"}, headers=headers)) == (401, "unauthorized")


def test_a_header_can_be_the_credential_over_mcp(plugins: Plugins) -> None:
    host = plugins.start(COMPANY_KEY)

    def ask(**headers: str) -> httpx.Response:
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        return httpx.post(f"{host.url}/api/mcp", json=body, headers=headers)

    assert ask().status_code == 401
    assert ask(**{"x-company-key": "k2"}).status_code == 401
    assert ask(**{"x-company-key": "k1"}).json()["result"]["tools"]


PLANS = {"staff": {"title": "Staff", "quotas": {"images_generated": 5}}}


def test_callers_without_an_account_can_request_their_plan(plugins: Plugins) -> None:
    host = plugins.start(COMPANY_KEY, builtin_plugins=True, plans=PLANS)

    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "get_account_usage"}}
    result = httpx.post(f"{host.url}/api/mcp", json=body, headers={"x-company-key": "k1"}).json()["result"]

    assert not result.get("isError"), result
    usage = result["structuredContent"]
    assert (usage["plan"], usage["plan_title"], usage["connections"]) == ("staff", "Staff", 0)
    assert usage["usage"]["images_generated"]["left"] == 5


def test_a_failing_authenticator_admits_no_caller(plugins: Plugins) -> None:
    host = plugins.start(AUTHENTICATOR)

    assert code(shout(host, bearer="badge_broken")) == (500, "internal_error")
    assert plugins.module.SEEN == []


def test_authenticators_are_tried_in_the_operators_order(plugins: Plugins) -> None:
    source = """
def named(name):
    async def ask(credentials):
        return Identity(name, "anonymous")
    return Authenticator(name, ask)

@hookimpl
def pressroom_authenticators():
    return [named(name) for name in ("ash", "birch", "cedar")]
"""
    host = plugins.start(source, auth={"authenticators": ["cedar"]})

    assert shout(host, bearer="any", response="binary").text == "HELLO for cedar"
    with pytest.raises(ConfigError, match="birhc") as exc_info:
        plugins.start(source, auth={"authenticators": ["birhc"]})
    assert "birch" in exc_info.value.hint


@pytest.mark.parametrize("body", ['{"text": "hello"}', "no JSON", "x" * 300_000])
def test_an_authorizer_that_hangs_is_cut_off_like_any_response(plugins: Plugins, body: str) -> None:
    source = """
async def hang(caller, tool):
    await asyncio.Event().wait()

@hookimpl
def pressroom_authorizers():
    return [Authorizer("hang", hang)]
"""
    host = plugins.start(source, server={"response_timeout": 0.5})
    headers = {"content-type": "application/json"}

    response = httpx.post(host.url + SHOUT, content=body, headers=headers, timeout=20)

    assert code(response) == (503, "timeout")
    assert response.headers["retry-after"]


def test_a_base_exception_becomes_an_internal_error(plugins: Plugins) -> None:
    source = """
class Panic(BaseException): ...

class Calm(BaseModel):
    calm: bool

@mcp_tool(name="panic", title="Panic")
async def panic(params: ShoutParams, call: Call) -> Calm:
    \"\"\"Panics as native code does.\"\"\"
    raise Panic("the secret ingredient is nutmeg")

@generator(
    slug="panics",
    name="Panics",
    summary="It panics.",
    rate_limit=per_hour(9),
    produces=("text/plain",),
    executor="async",
)
async def panics(params: ShoutParams, call: Call) -> Artifact:
    \"\"\"Panics as native code does.\"\"\"
    raise Panic("the secret ingredient is nutmeg")

@hookimpl
def pressroom_generators():
    return [shout, panics]

@hookimpl
def pressroom_mcp_tools():
    return [panic]

async def nervous(caller, tool):
    if tool.name == "shout":
        raise Panic("the secret ingredient is nutmeg")

@hookimpl
def pressroom_authorizers():
    return [Authorizer("nervous", nervous)]
"""
    host = plugins.start(source)

    assert code(shout(host)) == (500, "internal_error")
    assert code(httpx.post(f"{host.url}/tools/panics/api/generate", json={"text": "a"})) == (500, "internal_error")
    assert "internal error" in client_of(host, "ada@example.org").refusal("panic", text="a")


def test_hook_authorizers(plugins: Plugins) -> None:
    source = """
async def day_only(caller, tool):
    if tool.name != "shout":
        return None
    return "no shouting at night" if "loud" in tool.tags else None

async def anyone(caller, tool):
    return None

@hookimpl
def pressroom_authorizers():
    return [Authorizer("anyone", anyone), Authorizer("day only", day_only)]
"""
    host = plugins.start(source)

    refused = shout(host)
    assert code(refused) == (403, "forbidden")
    assert refused.json()["error"]["message"] == "no shouting at night"
    assert refused.json()["meta"]["rateLimit"]["remaining"] == 100
    assert httpx.post(f"{host.url}/tools/text-file/api/generate", json={"text": "x"}).status_code == 200


@pytest.mark.parametrize("result", ["1 / 0", "object()"])
def test_a_failing_authorizer_refuses_everyone(plugins: Plugins, result: str) -> None:
    source = f"""
async def broken(caller, tool):
    return {result}

@hookimpl
def pressroom_authorizers():
    return [Authorizer("broken", broken)]
"""
    host = plugins.start(source)

    assert code(shout(host))[0] in (403, 500)
    assert plugins.module.SEEN == []


def test_hook_rate_limits(plugins: Plugins) -> None:
    source = """
@hookimpl
def pressroom_rate_limits():
    return [RateLimit("burst", lambda tool, plan: per_minute(2) if "loud" in tool.tags else None)]
"""
    host = plugins.start(source)

    first, second, third = (shout(host, text) for text in "abc")
    assert [response.json()["meta"]["rateLimit"]["remaining"] for response in (first, second)] == [1, 0]
    assert code(third) == (429, "rate_limited")
    assert third.json()["meta"]["rateLimit"]["limit"] == 2
    assert 0 < third.json()["error"]["retryAfter"] <= 60
    descriptor = httpx.get(f"{host.url}/tools/shout/api").json()["data"]
    assert descriptor["rateLimit"] == {"requests": 100, "windowSec": 3600}


def test_a_call_refused_by_one_limit_costs_nothing_of_the_others(plugins: Plugins) -> None:
    source = """
@hookimpl
def pressroom_rate_limits():
    return [
        RateLimit("a day", lambda tool, plan: per_day(50), by_subject),
        RateLimit("burst", lambda tool, plan: per_minute(1) if tool.name == "shout" else None),
    ]
"""
    host = plugins.start(source)
    limiter = host.host.services.limiter
    (rule,) = (
        rule
        for rule in host.host.services.catalog.plans["anonymous"].tools["shout"].limits
        if rule.name.endswith("a day")
    )

    assert [shout(host, text).status_code for text in "abcd"] == [200, 429, 429, 429]
    status = host.run(limiter.peek(rule.rate, f"{rule.name}\nshout\n127.0.0.1"))
    assert status.remaining == 49


def test_a_failing_key_function_of_a_limit_is_an_error_that_costs_nothing(plugins: Plugins) -> None:
    source = """
BROKEN = []

def key(caller):
    if BROKEN:
        raise RuntimeError("the secret ingredient is nutmeg")
    return caller.client_ip

@hookimpl
def pressroom_rate_limits():
    return [RateLimit("odd", lambda tool, plan: per_day(50), key)]
"""
    host = plugins.start(source)
    assert shout(host, "before").json()["meta"]["rateLimit"]["remaining"] == 49

    plugins.module.BROKEN.append(True)
    assert code(shout(host, "during")) == (500, "internal_error")
    assert code(httpx.post(host.url + SHOUT, json={})) == (400, "validation_error")
    plugins.module.BROKEN.clear()

    assert shout(host, "after").json()["meta"]["rateLimit"]["remaining"] == 48
    default = host.host.services.catalog.plans["anonymous"].tools["shout"].limits[0]
    assert host.run(host.host.services.limiter.peek(default.rate, "default\nshout\n127.0.0.1")).remaining == 98


def test_hook_cache_rules(plugins: Plugins) -> None:
    source = """
@hookimpl
def pressroom_cache_rules():
    return [CacheRule("never loud", lambda tool, plan: CachePolicy(0) if "loud" in tool.tags else None)]
"""
    host = plugins.start(source)

    assert [shout(host).json()["data"]["cached"] for _ in range(3)] == [False] * 3
    assert plugins.module.SEEN == ["hello"] * 3
    text = [httpx.post(f"{host.url}/tools/text-file/api/generate", json={"text": "x"}).json() for _ in range(2)]
    assert [body["data"]["cached"] for body in text] == [False, True]


LONG_AND_GENEROUS = """
@hookimpl
def pressroom_rate_limits():
    return [
        RateLimit("generous", lambda tool, plan: per_hour(5000)),
        RateLimit("daily", lambda tool, plan: per_day(7000)),
    ]

@hookimpl
def pressroom_cache_rules():
    return [CacheRule("long", lambda tool, plan: CachePolicy(200_000))]
"""


def test_a_limit_and_a_cache_rule_of_a_plugin_replace_those_of_the_host(plugins: Plugins) -> None:
    host = plugins.start(LONG_AND_GENEROUS, limits={"default_limit": "generous"}, cache={"default_rule": "long"})

    assert shout(host).json()["meta"]["rateLimit"]["limit"] == 5000
    tool = host.host.services.catalog.plans["anonymous"].tools["shout"]
    assert [rule.name.partition(": ")[2] for rule in tool.limits] == ["generous", "daily"]
    assert tool.cache.seconds == 200_000


NO_LIMIT = """
@hookimpl
def pressroom_rate_limits():
    return [RateLimit("none", lambda tool, plan: None)]
"""


def test_a_tool_without_a_limit_has_a_page(plugins: Plugins) -> None:
    host = plugins.start(NO_LIMIT, limits={"default_limit": "none"})

    assert httpx.get(f"{host.url}/tools").status_code == 200
    page = httpx.get(f"{host.url}/tools/shout").text
    assert "The number of requests is not limited." in page
    assert "RateLimit-Remaining" not in page
    submitted = httpx.post(f"{host.url}/tools/shout", data={"text": "hi"})
    assert "requests left" not in submitted.text


def test_openapi_describes_a_tool_without_a_limit(plugins: Plugins) -> None:
    host = plugins.start(NO_LIMIT, limits={"default_limit": "none"})
    descriptor = httpx.get(f"{host.url}/tools/shout/api").json()
    assert descriptor["data"]["rateLimit"] is None

    document = httpx.get(f"{host.url}/openapi.json").json()
    described = document["paths"]["/tools/shout/api"]["get"]["responses"]["200"]["content"]["application/json"]
    Draft202012Validator({**described["schema"], "components": document["components"]}).validate(descriptor)


def test_a_limit_and_a_cache_rule_that_are_not_selected_add_to_those_of_the_host(plugins: Plugins) -> None:
    host = plugins.start(LONG_AND_GENEROUS)

    assert shout(host).json()["meta"]["rateLimit"]["limit"] == 100
    tool = host.host.services.catalog.plans["anonymous"].tools["shout"]
    assert (len(tool.limits), tool.cache.seconds) == (3, 75_600)


@pytest.mark.parametrize(
    ("section", "key", "name", "meant"),
    [("limits", "default_limit", "generos", "generous"), ("cache", "default_rule", "lang", "long")],
)
def test_an_unknown_limit_or_cache_rule_stops_the_start(
    plugins: Plugins, section: str, key: str, name: str, meant: str
) -> None:
    with pytest.raises(ConfigError, match=rf"{section}\.{key}: there is no '{name}'") as exc_info:
        plugins.start(LONG_AND_GENEROUS, **{section: {key: name}})
    assert exc_info.value.hint == f"did you mean {meant!r}?"


def test_doctor_reports_what_has_no_effect_because_of_a_replaced_limit(plugins: Plugins, tmp_path: Path) -> None:
    plugins.write(LONG_AND_GENEROUS)
    config = (
        "[limits]\ndefault_limit = 'generous'\n[cache]\ndefault_rule = 'short'\n"
        "[plans.staff.rate_limits]\nshout = '5/hour'\n"
    )
    completed = command(plugins, tmp_path, "doctor", "--json", config=config)

    rows = json.loads(completed.stdout)["checks"]
    assert "plans.staff.rate_limits: has no effect beside [limits] default_limit" in [row["message"] for row in rows]
    (finding,) = (row for row in rows if row["check"] == "choices")
    assert (finding["status"], finding["message"]) == ("error", "cache.default_rule: there is no 'short'")


def test_results_of_one_account_are_not_served_to_another(plugins: Plugins) -> None:
    source = (
        AUTHENTICATOR
        + """
@hookimpl
def pressroom_cache_rules():
    return [CacheRule("own", lambda tool, plan: CachePolicy(60, "subject"))]
"""
    )
    host = plugins.start(source, plans={"staff": {}})

    texts = [shout(host, bearer=token, response="binary").text for token in ("badge_a", "badge_b", "badge_a", "")]
    assert texts == ["HELLO for badge_a", "HELLO for badge_b", "HELLO for badge_a", "HELLO for all"]
    assert len(plugins.module.SEEN) == 3
    assert len({shout(host, bearer=who).json()["data"]["id"] for who in ("badge_a", "badge_b", "")}) == 3


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


def test_hook_routes(plugins: Plugins) -> None:
    source = """
async def page(request):
    SEEN.append(request)
    if request.path_params["name"] == "missing":
        raise NotFound("there is no such page")
    if request.path_params["name"] == "broken":
        raise RuntimeError("the secret ingredient is nutmeg")
    return HttpResponse(request.body or b"<h1>Colophon</h1>", headers={"X-Own": "1"})

@hookimpl
def pressroom_routes():
    return [Route("/colophon/<name>", page), Route("/colophon/<other>", page_by_post, ("POST",))]

async def page_by_post(request):
    return HttpResponse(request.body, 201, "text/plain")
"""
    host = plugins.start(source, server={"trusted_proxies": 1})
    with httpx.Client(base_url=host.url) as http:
        page = http.get("/colophon/a?x=1&x=2", headers={"X-Forwarded-For": "203.0.113.9", "X-Own": "Yes"})
        assert (page.status_code, page.text, page.headers["x-own"]) == (200, "<h1>Colophon</h1>", "1")
        assert page.headers["content-type"] == "text/html; charset=utf-8"
        assert page.headers["x-content-type-options"] == "nosniff"
        (request,) = plugins.module.SEEN
        assert (request.method, request.path, request.query, request.client_ip) == (
            "GET",
            "/colophon/a",
            {"x": "2"},
            "203.0.113.9",
        )
        assert request.headers["x-own"] == "Yes"
        assert request.request_id == page.headers["x-request-id"]
        assert http.head("/colophon/a").headers["content-length"] == "17"
        response = http.post("/colophon/a", content=b"new")
        assert (response.status_code, response.content) == (201, b"new")
        assert code(http.get("/colophon/missing")) == (404, "not_found")
        assert code(http.get("/colophon/broken")) == (500, "internal_error")
        refused = http.put("/colophon/a")
        assert (code(refused)[0], refused.headers["allow"]) == (405, "GET, HEAD, POST")


@pytest.mark.parametrize(
    "path",
    ["/tools", "/tools/", "/tools/shout", "/tools/<x>/api", "/tools/shout/api/generate", "/", "/metrics", "/llms.txt"],
)
def test_a_route_cannot_take_over_a_path_of_the_host(plugins: Plugins, path: str) -> None:
    source = f"""
async def page(request):
    return HttpResponse(b"taken over")

@hookimpl
def pressroom_routes():
    return [Route({path!r}, page)]
"""
    host = plugins.start(source)

    status, phase, error = status_of(host, plugins.id)
    assert (status, phase) == ("broken", "validate")
    assert "host itself" in error
    assert shout(host).status_code == 404
    assert "shout" not in [tool["slug"] for tool in httpx.get(f"{host.url}/tools/api").json()["tools"]]
    assert httpx.get(host.url + path.replace("<x>", "text-file")).text != "taken over"


def test_hook_index_entries(plugins: Plugins) -> None:
    source = """
async def guides():
    return [IndexEntry("B style", "/guides/style", "how we write", "Be brief."), IndexEntry("A\\nstart", "https://a.example")]

@hookimpl
def pressroom_index_entries():
    return [IndexEntries("Guides", guides), IndexEntries("Articles", guides)]
"""
    host = plugins.start(source)

    lines = httpx.get(f"{host.url}/llms.txt").text.splitlines()
    assert [line for line in lines if line.startswith("## ")] == [
        "## Docs",
        "## Articles",
        "## Tools",
        "## API",
        "## Guides",
    ]
    start = lines.index("## Guides")
    assert lines[start + 2 : start + 4] == [
        "- [A start](https://a.example)",
        f"- [B style]({host.url}/guides/style): how we write",
    ]
    assert "Be brief." in httpx.get(f"{host.url}/llms-full.txt").text
    assert "Be brief." not in "\n".join(lines)


def test_dated_entries_are_first_and_texts_are_only_read_for_the_full_index(plugins: Plugins) -> None:
    source = """
from datetime import UTC, datetime
READ = []

async def read():
    READ.append(1)
    return "The whole text."

async def broken():
    raise RuntimeError("no text")

async def articles():
    return [
        IndexEntry("Undated", "/u"),
        IndexEntry("Old", "/o", published_at=datetime(2020, 1, 1, tzinfo=UTC), read=broken),
        IndexEntry("New", f"/n{len(READ)}", published_at=datetime(2025, 1, 1, tzinfo=UTC), read=read),
    ]

@hookimpl
def pressroom_index_entries():
    return [IndexEntries("Guides", articles)]
"""
    host = plugins.start(source)

    for _ in range(2):
        lines = httpx.get(f"{host.url}/llms.txt").text.splitlines()
        start = lines.index("## Guides")
        assert lines[start + 2 : start + 5] == [
            f"- [New]({host.url}/n0)", f"- [Old]({host.url}/o)", f"- [Undated]({host.url}/u)",
        ]  # fmt: skip
    full = httpx.get(f"{host.url}/llms-full.txt").text
    assert "The whole text." in full
    assert f"- [Undated]({host.url}/u)" in full


@pytest.mark.parametrize("result", ["1 / 0", "None", "['text']", "[IndexEntry(1, '/x')]", "[IndexEntry('a', None)]"])
def test_failing_index_entries_do_not_affect_the_others(plugins: Plugins, result: str) -> None:
    source = f"""
async def broken():
    return {result}

@hookimpl
def pressroom_index_entries():
    return [IndexEntries("Tools", broken)]
"""
    host = plugins.start(source)

    for path in ("/llms.txt", "/llms-full.txt"):
        response = httpx.get(host.url + path)
        assert response.status_code == 200
        assert "- [Shout](" in response.text


def test_hook_observers(plugins: Plugins) -> None:
    source = """
async def watch(record):
    SEEN.append(record)

async def broken(record):
    raise RuntimeError("the secret ingredient is nutmeg")

@hookimpl
def pressroom_observers():
    return [Observer("broken", broken), Observer("watch", watch)]
"""
    host = plugins.start(source, metrics={"token": "abcdef"})
    responses = [
        shout(host),
        shout(host),
        httpx.post(host.url + SHOUT, json={}),
        httpx.post(f"{host.url}/tools/x/api/generate"),
    ]
    metrics = httpx.get(f"{host.url}/metrics", headers={"authorization": "Bearer abcdef"}).text
    host.__exit__(None, None, None)

    records = [record for record in plugins.module.SEEN if not isinstance(record, str)]
    assert [(record.tool, record.code, record.cached) for record in records] == [
        ("shout", "ok", False),
        ("shout", "ok", True),
        ("shout", "validation_error", False),
        ("", "not_found", False),
    ]
    assert [record.request_id for record in records] == [response.headers["x-request-id"] for response in responses]
    assert all(record.duration > 0 for record in records)
    assert [record.run_duration is not None for record in records] == [True, False, False, False]
    assert 'observer="broken"} 4.0' in metrics


def test_an_observer_can_be_a_plain_function(plugins: Plugins) -> None:
    source = """
def note(record):
    SEEN.append(record.code)

def broken(record):
    raise RuntimeError("the secret ingredient is nutmeg")

@hookimpl
def pressroom_observers():
    return [Observer("broken", broken), Observer("note", note)]
"""
    host = plugins.start(source, metrics={"token": "abcdef"})
    with structlog.testing.capture_logs() as logs:
        assert shout(host).status_code == 200
        assert httpx.post(host.url + SHOUT, json={}).status_code == 400
        assert [code for code in plugins.module.SEEN if code in {"ok", "validation_error"}] == [
            "ok",
            "validation_error",
        ]
        metrics = httpx.get(f"{host.url}/metrics", headers={"authorization": "Bearer abcdef"}).text

    assert 'observer="broken"} 2.0' in metrics
    assert 'observer="note"' not in metrics
    failures = [line for line in logs if line["event"] == "a plugin failed"]
    assert [(line["point"], line["name"], line["error"]) for line in failures] == [
        ("observer", "broken", "RuntimeError: the secret ingredient is nutmeg")
    ]


@pytest.mark.timeout(20)
def test_an_observer_that_hangs_delays_neither_responses_nor_the_shutdown(plugins: Plugins) -> None:
    source = """
async def hang(record):
    await asyncio.Event().wait()

@hookimpl
def pressroom_observers():
    return [Observer("hang", hang)]
"""
    host = plugins.start(source, server={"shutdown_timeout": 0.2})

    assert [shout(host, text).status_code for text in "abc"] == [200] * 3
    host.__exit__(None, None, None)


@pytest.mark.timeout(15)
def test_an_abandoned_run_ends_at_the_operators_time_limit(start: Start, tmp_path: Path) -> None:
    host = start(server={"shutdown_timeout": 0.2})
    body = {"gate": str(tmp_path / "gate"), "log": str(tmp_path / "log")}
    with pytest.raises(httpx.ReadTimeout):
        httpx.post(f"{host.url}/tools/gate/api/generate", json=body, timeout=httpx.Timeout(5, read=1))
    while not (tmp_path / "log").exists():
        time.sleep(0.01)
    host.__exit__(None, None, None)


def test_hook_checks(plugins: Plugins, tmp_path: Path) -> None:
    plugins.write("""
async def fonts():
    return CheckResult("warning", "no CJK font", hint="install the extra")

async def broken():
    raise RuntimeError("no")

async def nothing():
    pass

@hookimpl
def pressroom_checks():
    return [Check("fonts", fonts), Check("broken", broken), Check("nothing", nothing)]
""")
    completed = command(plugins, tmp_path, "doctor", "--json")

    assert completed.returncode == 1, completed.stderr
    rows = {row["check"]: row for row in json.loads(completed.stdout)["checks"]}
    assert rows[f"{plugins.id}: fonts"]["message"] == "no CJK font"
    assert "RuntimeError: no" in rows[f"{plugins.id}: broken"]["message"]
    assert "NoneType" in rows[f"{plugins.id}: nothing"]["message"]


def test_doctor_names_a_failing_backend_and_brander(plugins: Plugins, tmp_path: Path) -> None:
    plugins.write("""
@hookimpl
def pressroom_backends():
    return [Backend("cache", "odd", lambda settings: 1 / 0)]

@hookimpl
def pressroom_branding():
    return [Brander("odd", lambda branding: 1 / 0)]
""")
    config = "[cache]\nbackend = 'odd'\n[branding]\nbrander = 'odd'\n[auth]\nauthenticators = ['nobody']\n"
    completed = command(plugins, tmp_path, "doctor", "--json", config=config)

    assert completed.returncode == 1, completed.stderr
    rows = {row["check"]: row for row in json.loads(completed.stdout)["checks"]}
    assert "ZeroDivisionError" in rows["branding"]["message"]
    assert "the cache backend 'odd' failed" in rows["stores"]["message"]
    assert "nobody" in rows["authentication"]["message"]
    assert "Traceback" not in completed.stderr


def test_hook_commands(plugins: Plugins, tmp_path: Path) -> None:
    plugins.write("""
import click

@click.command()
@click.argument("text")
def whisper(text):
    click.echo(text.lower())

@hookimpl
def pressroom_commands():
    return [whisper]
""")
    completed = command(plugins, tmp_path, "x", plugins.id, "whisper", "QUIET", run=run_forked)

    assert (completed.returncode, completed.stdout) == (0, "quiet\n")


def test_a_command_that_uses_services_of_the_server_gets_a_clear_error(plugins: Plugins, tmp_path: Path) -> None:
    plugins.write("""
import click

@hookimpl
def pressroom_commands(plugin):
    @click.command()
    def tidy():
        plugin.services.database
    return [tidy]
""")
    completed = command(plugins, tmp_path, "x", plugins.id, "tidy", run=run_forked)

    assert completed.returncode != 0
    assert "the services of the server can be used once it starts" in completed.stderr
    assert "hooks and commands run without a server" in completed.stderr
    assert "Traceback" not in completed.stderr


LIFESPANS = """
def span(name, *, enter=None, leave=None):
    @asynccontextmanager
    async def live():
        SEEN.append(f"{name} opens")
        if enter is not None:
            raise enter
        try:
            yield
        finally:
            SEEN.append(f"{name} closes")
        if leave is not None:
            raise leave
    return Lifespan(name, live)

@hookimpl
def pressroom_lifespan():
    return [SPANS]
"""


def test_hook_lifespan(plugins: Plugins) -> None:
    host = plugins.start(LIFESPANS.replace("SPANS", "span('one'), span('two'), span('three')"))
    shout(host)
    host.__exit__(None, None, None)

    assert plugins.module.SEEN[:4] == ["one opens", "two opens", "three opens", "hello"]
    assert plugins.module.SEEN[4:] == ["three closes", "two closes", "one closes"]


@pytest.mark.parametrize("error", ["ValueError('no')", "SystemExit(3)"])
def test_a_failed_lifespan_disables_its_plugin_and_those_that_require_it(plugins: Plugins, error: str) -> None:
    broken = plugins.write(LIFESPANS.replace("SPANS", f"span('one'), span('two', enter={error}), span('three')"))
    broken_module = plugins.module
    needing = plugins.write("")
    source = (plugins.folder / f"{needing}_module.py").read_text()
    source = source.replace('slug="shout"', 'slug="whisper"').replace(
        'summary="Text in capitals.")', f'summary="Text.", requires=("{broken}",))'
    )
    (plugins.folder / f"{needing}_module.py").write_text(source + LIFESPANS.replace("SPANS", "span('needing')"))
    host = plugins._start(plugins={broken: {}, needing: {"required": True}})

    assert status_of(host, broken)[:2] == ("broken", "lifespan")
    assert status_of(host, needing)[0] == "broken"
    assert shout(host).status_code == 404
    assert httpx.get(f"{host.url}/readyz").status_code == 503
    assert httpx.post(f"{host.url}/tools/text-file/api/generate", json={"text": "x"}).status_code == 200
    host.__exit__(None, None, None)
    assert broken_module.SEEN == ["one opens", "two opens", "one closes"]
    assert plugins.module.SEEN == []


def test_a_lifespan_that_fails_at_the_end_leaves_nothing_open(plugins: Plugins) -> None:
    host = plugins.start(LIFESPANS.replace("SPANS", "span('one'), span('two', leave=ValueError('no'))"))

    with structlog.testing.capture_logs() as logs, pytest.raises(ValueError, match="no"):
        host.__exit__(None, None, None)

    (failed,) = (line for line in logs if line["event"] == "a plugin failed")
    assert (failed["plugin"], failed["point"], failed["name"]) == (plugins.id, "lifespan", "two")
    assert "ValueError: no" in failed["error"]
    assert plugins.module.SEEN == ["one opens", "two opens", "two closes", "one closes"]


def test_a_failed_start_closes_what_was_open(plugins: Plugins, tmp_path: Path) -> None:
    id_ = plugins.write(LIFESPANS.replace("SPANS", "span('one')"))
    config = {"plugins": {id_: {}}, "cache": {"backend": "missing"}}

    with pytest.raises(ConfigError, match=r"cache.backend"), RunningHost(settings_for_test(config, tmp_path / "data")):
        pass

    assert plugins.module.SEEN == ["one opens", "one closes"]


def test_plugins_cannot_take_any_path_of_the_host(start: Start) -> None:
    host = start(builtin_plugins=False, metrics={"token": "abcdef"})

    served = {f"/{route.path}".replace(":str>", ">") for route in create_app(host.host).router.routes}

    # A plugin may define these itself.
    replaceable = {"/favicon.ico", "/robots.txt", "/sitemap.xml"}
    assert {path for path in served if shadowed_host_path(path) is None} == replaceable
