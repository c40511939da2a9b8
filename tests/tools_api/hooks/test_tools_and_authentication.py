"""Hooks for tools, authentication and authorisation: their effects, and containment of their failures."""

from itertools import count

import httpx
import pytest
from pressroom.errors import CallError, ConfigError
from support import third_party
from support.shared_hooks import AUTHENTICATOR, SHOUT, Plugins, code, shout
from support.tool_client import client_of


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
