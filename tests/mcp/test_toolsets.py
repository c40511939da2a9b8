"""Toolsets: which tools a client lists, and how it reaches the others."""

import gzip
import json
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pressroom.http.compression import PrecompressedText
from pressroom.testing import RunningHost
from pressroom.testing.plugin import settings_for_test
from support.mcp_peer import PATH, Account, Peer, account

Start = Callable[..., RunningHost]

HOST_TOOLS = {"find_tools", "call_tool"}
PLANS = {
    "free": {"tools": ["*"]},
    "small": {"title": "Small", "tools": ["list_*", "get_*", "generate_*"]},
    "writer": {"title": "Writer", "tools": ["*_content"]},
}


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return a host with all built-in tools."""
    with RunningHost(settings_for_test({"plans": PLANS}, tmp_path_factory.mktemp("full"))) as host:
        yield host


@pytest.fixture(scope="module")
def ada(full: RunningHost) -> Account:
    return account(full)


def listed(host: RunningHost, user: Account, query: str = "", **headers: str) -> set[str]:
    return {tool["name"] for tool in send_request(host, user, query, **headers)["result"]["tools"]}


def send_request(host: RunningHost, user: Account, query: str = "", method: str = "tools/list", **headers: str) -> Any:
    http_headers = {name.replace("_", "-"): value for name, value in headers.items()}
    message = {"jsonrpc": "2.0", "id": 1, "method": method}
    if method == "initialize":
        message["params"] = {"protocolVersion": "2025-06-18", "clientInfo": {"name": "x", "version": "1"}}
    response = httpx.post(f"{host.url}{PATH}{query}", json=message, headers={**user.bearer, **http_headers})
    assert response.status_code == 200, response.text
    return response.json()


def problem(host: RunningHost, user: Account, query: str = "", **headers: str) -> str:
    error = send_request(host, user, query, **headers)["error"]
    assert error["code"] == -32602
    text: str = error["message"]
    return text


def sets_of(host: RunningHost, name: str) -> tuple[str, ...]:
    return host.host.services.catalog.mcp_tools[name].info.toolsets


def test_get_account_usage_lists_tools_beyond_the_connections_access(full: RunningHost) -> None:
    user = account(full)
    full.run(full.host.accounts.connections.set_access(user.user_id, user.connection.id, "publish", None))
    tools = full.host.services.catalog.plans["free"].mcp_tools.items()
    destructive = {name for name, entry in tools if entry.tool.access == "full"}
    writing = {name for name, entry in tools if entry.tool.access != "read"}

    def hidden(**headers: str) -> dict[str, set[str]]:
        groups = Peer(full, user).call("get_account_usage", **headers)["structuredContent"]["hidden_tools"]
        return {group["reason"]: set(group["tools"]) for group in groups}

    page = f"{full.host.settings.public_url}/dashboard/connections/{user.connection.id}"
    beyond = f"beyond the access level of this connection; the user can change it at {page}"
    assert hidden()[beyond] == destructive
    narrowed = hidden(x_mcp_readonly="true")
    assert narrowed[beyond] == destructive
    assert narrowed["this client asked to read only"] == writing - destructive


def test_the_default_is_the_core_toolset_and_the_host_tools(full: RunningHost, ada: Account) -> None:
    names = listed(full, ada)

    assert names >= {
        "list_websites",
        "create_content",
        "check_blog_seo",
        "search_images",
        "publish_content",
        "get_seo_report",
        "get_search_performance",
        *HOST_TOOLS,
    }
    assert names == listed(full, ada, "?toolsets=core")
    assert all("core" in sets_of(full, name) for name in names - HOST_TOOLS)


def test_a_client_chooses_toolsets_in_the_url_or_in_a_header(full: RunningHost, ada: Account) -> None:
    seo = {name for name in full.host.services.catalog.mcp_tools if "seo" in sets_of(full, name)}

    assert listed(full, ada, "?toolsets=seo") == seo | HOST_TOOLS
    assert listed(full, ada, X_MCP_Toolsets="seo") == seo | HOST_TOOLS
    assert listed(full, ada, "?toolsets=SEO,%20seo,seo&toolsets=seo", X_MCP_Toolsets="seo") == seo | HOST_TOOLS
    assert listed(full, ada, "?toolsets=core,seo") == seo | listed(full, ada)
    assert listed(full, ada, "?toolsets=all") == set(full.host.services.catalog.mcp_tools)


def test_read_only_removes_every_tool_that_writes(full: RunningHost, ada: Account) -> None:
    for query, headers in (("?readonly=true&toolsets=all", {}), ("?toolsets=all", {"X_MCP_Readonly": "1"})):
        names = listed(full, ada, query, **headers)
        catalog = full.host.services.catalog.mcp_tools
        assert names - HOST_TOOLS == {name for name, tool in catalog.items() if tool.access == "read"}
        assert "publish_content" not in names
    tools = send_request(full, ada, "?readonly=true")["result"]["tools"]
    assert all(tool["annotations"].get("readOnlyHint") for tool in tools)
    assert listed(full, ada, "?readonly=false") == listed(full, ada)


def test_a_read_only_request_cannot_write_indirectly(full: RunningHost, ada: Account) -> None:
    message: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    create = {"name": "create_content", "arguments": {"title": "T", "body": "B"}}
    for params in (create, {"name": "call_tool", "arguments": create}):
        response = httpx.post(
            f"{full.url}{PATH}?readonly=true", json={**message, "params": params}, headers=ada.bearer
        ).json()["result"]
        assert response["isError"]
        assert "readonly=true" in response["content"][0]["text"]


@pytest.mark.parametrize(
    ("query", "headers", "words"),
    [
        ("?toolsets=core,imagse", {}, ["there is no toolset", "imagse", "did you mean images?", "this server has"]),
        ("?toolsets=", {}, ["toolsets is empty"]),
        ("?toolsets=%20,,", {}, ["toolsets is empty"]),
        ("?toolsets=core", {"X_MCP_Toolsets": "seo"}, ["disagree", "X-MCP-Toolsets", "core", "seo"]),
        ("?readonly=maybe", {}, ["readonly must be true or false", "maybe"]),
        ("?readonly=true&readonly=false", {}, ["readonly must be true or false"]),
        ("?readonly=false", {"X_MCP_Readonly": "true"}, ["disagree", "X-MCP-Readonly"]),
        ("?toolsets=" + "a," * 2000, {}, ["may have at most"]),
        ("?toolsets=%00%F0%9F%92%A9", {}, ["there is no toolset"]),
    ],
)
def test_an_invalid_choice_is_explained(
    full: RunningHost, ada: Account, query: str, headers: dict[str, str], words: list[str]
) -> None:
    for method in ("tools/list", "initialize"):
        error = send_request(full, ada, query, method, **headers)["error"]
        assert error["code"] == -32602
        assert all(word in error["message"] for word in words), error["message"]


def test_a_toolset_outside_the_plan_lists_the_plans_that_include_it(full: RunningHost) -> None:
    writer = account(full, "writer")

    text = problem(full, writer, "?toolsets=core,generators")
    assert "Writer" in text
    assert "generators" in text
    assert "Small" in text


def test_a_small_plan_is_listed_completely(start: Start) -> None:
    host = start(mcp={"list_all_up_to": 26})
    all_tools = listed(host, account(host))

    assert all_tools == set(host.host.services.catalog.mcp_tools)
    assert not all_tools & HOST_TOOLS


def test_a_tool_without_a_toolset_is_in_that_of_its_plugin(start: Start) -> None:
    host = start(mcp={"list_all_up_to": 0})
    user = account(host)

    assert listed(host, user) == HOST_TOOLS
    assert "count_words" in listed(host, user, "?toolsets=test_tools")
    assert "count_words" in Peer(host, user).call("find_tools", {"query": "count the words"})["content"][0]["text"]
    result = Peer(host, user).call("call_tool", {"name": "count_words", "arguments": {"text": "one two"}})
    assert (
        result["structuredContent"]
        == Peer(host, user, {"X-MCP-Toolsets": "all"}).call("count_words", {"text": "one two"})["structuredContent"]
    )


def test_the_operator_chooses_the_default_toolsets(start: Start) -> None:
    host = start(mcp={"list_all_up_to": 0, "toolsets": ["generators"]})

    assert listed(host, account(host)) == {"generate_qr_code", "make_image", "write_text_file", *HOST_TOOLS}


def test_the_owner_of_a_connection_chooses_its_toolsets(full: RunningHost) -> None:
    user = account(full)
    connections = full.host.accounts.connections
    full.run(connections.set_access(user.user_id, user.connection.id, "full", ["images"]))

    images = listed(full, user)
    assert images == listed(full, user, "?toolsets=images")
    assert listed(full, user, "?toolsets=seo") != images  # the toolsets that a client requests come first
    full.run(connections.set_access(user.user_id, user.connection.id, "read", ["gone"]))
    assert listed(full, user) == listed(full, account(full), "?readonly=true")


def test_an_unlisted_tool_is_refused_with_the_toolset_that_includes_it(full: RunningHost, ada: Account) -> None:
    peer = Peer(full, ada)

    text = peer.refused("export_content", {})
    assert "call_tool" in text
    assert "toolset writing" in text
    assert "?toolsets=core,writing" in text
    text = peer.refused("disconnect_website", {"website_id": "w_1", "confirm": True})
    assert "destructive" in text
    assert "?toolsets=core,websites" in text


def test_call_tool_runs_an_unlisted_tool_like_a_direct_call(full: RunningHost, ada: Account) -> None:
    peer = Peer(full, ada)
    everything = Peer(full, ada, {"X-MCP-Toolsets": "all"})

    direct = everything.call("generate_qr_code", {"text": "https://example.org"})
    through = peer.call("call_tool", {"name": "generate_qr_code", "arguments": {"text": "https://example.org"}})
    assert through["structuredContent"]["id"] == direct["structuredContent"]["id"]
    assert [block["type"] for block in through["content"]] == [block["type"] for block in direct["content"]]
    assert "text" in peer.refused("call_tool", {"name": "generate_qr_code", "arguments": {}})


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"name": "call_tool", "arguments": {"name": "list_websites"}}, ["name", "call it directly"]),
        ({"name": "find_tools"}, ["call it directly"]),
        ({"name": "disconnect_website", "arguments": {"website_id": "w_1", "confirm": True}}, ["destructive"]),
        ({"name": "no_such_tool"}, ["Unknown tool", "find_tools"]),
        ({"name": "generate_qr_cod"}, ["did you mean generate_qr_code?"]),
        ({"name": "generate_qr_code", "arguments": '{"text": "x"}'}, ["arguments", "must be an object"]),
        ({"name": "generate_qr_code", "arguments": ["x"]}, ["arguments", "must be an object"]),
        ({"name": "generate_qr_code", "text": "x"}, ["text", "unknown"]),
        ({"name": 7}, ["name"]),
        ({}, ["name"]),
    ],
)
def test_call_tool_refuses_what_it_must_not_run(
    full: RunningHost, ada: Account, arguments: dict[str, Any], words: list[str]
) -> None:
    text = Peer(full, ada).refused("call_tool", arguments)

    assert all(word in text for word in words), text


def test_call_tool_refuses_destructive_tools_that_are_listed_too(full: RunningHost, ada: Account) -> None:
    peer = Peer(full, ada, {"X-MCP-Toolsets": "all"})

    text = peer.refused(
        "call_tool", {"name": "disconnect_website", "arguments": {"website_id": "w_1", "confirm": True}}
    )
    assert "call it directly" in text


def test_refused_calls_of_unlisted_tools_are_in_the_activity(full: RunningHost) -> None:
    user = account(full)
    peer = Peer(full, user)
    peer.refused("generate_qr_code", {"text": "x"})
    peer.refused("call_tool", {"name": "disconnect_website", "arguments": {"website_id": "w_1", "confirm": True}})

    full.run(full.host.pipeline.settle(10))
    full.run(full.host.accounts.activity_log.flush())
    events = peer.call("call_tool", {"name": "list_activity", "arguments": {}})["structuredContent"]["events"]
    assert [(event["tool"], event["outcome"]) for event in events] == [
        ("disconnect_website", "forbidden"),
        ("generate_qr_code", "forbidden"),
    ]


def test_call_tool_refuses_tools_hidden_by_the_plan_or_disabled(full: RunningHost) -> None:
    small = Peer(full, account(full, "small"))
    text = small.refused("call_tool", {"name": "create_content", "arguments": {"title": "T", "body": "B"}})
    assert "is not in the plan Small" in text
    switched = Peer(full, account(full, off=("generate_qr_code",)))
    text = switched.refused("call_tool", {"name": "generate_qr_code", "arguments": {"text": "x"}})
    assert "is switched off" in text
    assert "generate_qr_code" not in switched.call("find_tools", {"query": "qr code"})["content"][0]["text"]


@pytest.mark.parametrize(
    ("query", "tool"),
    [
        ("qr code", "generate_qr_code"),
        ("delete an article", "delete_content"),
        ("Redirects", "list_redirects"),
        ("submit URLs to search engines", "submit_urls"),
        ("tracked keywords", "list_tracked_keywords"),
        ("export my articles", "export_content"),
        ("restore from the trash", "restore_content"),
    ],
)
def test_find_tools_searches_by_words(full: RunningHost, ada: Account, query: str, tool: str) -> None:
    result = Peer(full, ada).call("find_tools", {"query": query, "limit": 3})

    matches = {match["name"]: match for match in result["structuredContent"]["tools"]}
    assert tool in matches, matches.keys()
    all_tools = {entry["name"]: entry for entry in Peer(full, ada, {"X-MCP-Toolsets": "all"}).tools()}
    assert matches[tool]["inputSchema"] == all_tools[tool]["inputSchema"]
    assert matches[tool]["description"] == all_tools[tool]["description"]
    text = result["content"][0]["text"]
    assert json.dumps(matches[tool]["inputSchema"]["properties"], separators=(",", ":"), ensure_ascii=False) in text


def test_find_tools_treats_singular_and_plural_alike(full: RunningHost, ada: Account) -> None:
    for pair in ("image images", "article articles", "category categories", "movie movies", "copy copies"):
        singular, plural = (Peer(full, ada).call("find_tools", {"query": word, "limit": 20}) for word in pair.split())
        assert singular["structuredContent"] == plural["structuredContent"], pair


def test_find_tools_without_words_lists_every_tool_by_toolset(full: RunningHost, ada: Account) -> None:
    result = Peer(full, ada).call("find_tools")

    names = {tool["name"] for tool in result["structuredContent"]["tools"]}
    assert names == set(full.host.services.catalog.mcp_tools)
    assert "\nwriting: " in result["content"][0]["text"]


@pytest.mark.parametrize(
    "arguments", [{"query": 7}, {"query": "x" * 201}, {"limit": 0}, {"words": "x"}, {"query": "x", "limit": "5"}]
)
def test_find_tools_explains_invalid_arguments(full: RunningHost, ada: Account, arguments: dict[str, Any]) -> None:
    assert "The arguments of find_tools are not valid" in Peer(full, ada).refused("find_tools", arguments)


def test_find_tools_and_call_tool_take_null_as_left_out(full: RunningHost, ada: Account) -> None:
    peer = Peer(full, ada)
    assert peer.call("find_tools", {"query": "qr", "limit": None}) == peer.call("find_tools", {"query": "qr"})
    assert "events" in peer.call("call_tool", {"name": "list_activity", "arguments": None})["structuredContent"]


def test_find_tools_reports_when_nothing_matches(full: RunningHost, ada: Account) -> None:
    result = Peer(full, ada).call("find_tools", {"query": "zzxqy"})
    assert result["structuredContent"] == {"tools": []}
    assert "No tool fits 'zzxqy'" in result["content"][0]["text"]


def test_toolsets_apply_to_every_message_of_a_batch(full: RunningHost, ada: Account) -> None:
    batch = [
        {"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "disconnect_website", "arguments": {}}},
    ]
    response = httpx.post(
        f"{full.url}{PATH}?toolsets=images", json=batch, headers={**ada.bearer, "mcp-protocol-version": "2025-03-26"}
    ).json()

    assert {tool["name"] for tool in response[0]["result"]["tools"]} == listed(full, ada, "?toolsets=images")
    assert response[1]["result"]["isError"]


def test_the_list_is_sent_compressed_for_every_id(full: RunningHost, ada: Account) -> None:
    for number in (1, "an id", 2**40):
        message = {"jsonrpc": "2.0", "id": number, "method": "tools/list"}
        plain = httpx.post(full.url + PATH, json=message, headers={**ada.bearer, "accept-encoding": "identity"})
        with httpx.stream(
            "POST", full.url + PATH, json=message, headers={**ada.bearer, "accept-encoding": "gzip"}
        ) as response:
            assert response.headers["content-encoding"] == "gzip"
            sent = b"".join(response.iter_raw())
        assert gzip.decompress(sent) == plain.content
        assert len(sent) < len(plain.content) / 3


@settings(max_examples=100)
@given(st.binary(max_size=2000), st.binary(max_size=300), st.binary(max_size=300))
@example(b"a" * 32 + b"b", b"a" * 32 + b"c", b"a" * 40)  # the start of the text occurs several times
def test_a_precompressed_text_is_one_member_of_gzip(text: bytes, before: bytes, after: bytes) -> None:
    body = before + text + after

    sent = PrecompressedText(text).gzip(body)
    assert sent is not None
    reader = zlib.decompressobj(zlib.MAX_WBITS | 16)
    assert reader.decompress(sent) == body
    assert reader.eof
    assert not reader.unused_data


def test_a_text_missing_from_the_body_is_not_compressed() -> None:
    assert PrecompressedText(b"abc").gzip(b"xyz") is None
    assert PrecompressedText(b"abc").gzip(b"x" * 70_000 + b"abc") is None


def test_toolset_names_are_checked_when_a_plugin_is_loaded(tmp_path: Path) -> None:
    from pressroom.sdk import Call, Params, mcp_tool  # noqa: PLC0415 - next to the tool that they declare
    from pydantic import BaseModel  # noqa: PLC0415

    class Nothing(BaseModel):
        pass

    async def tool(params: Params, call: Call) -> Nothing:
        """Does nothing."""
        return Nothing()

    for toolset in ("all", "With Capitals", "", "x" * 33):
        declaration = mcp_tool(name="nothing", title="Nothing", toolsets=(toolset,))(tool)
        assert any("toolsets" in problem for problem in declaration.problems()), toolset
    assert not mcp_tool(name="nothing", title="Nothing", toolsets=("core", "my_set"))(tool).problems()
    for name in HOST_TOOLS:
        assert any("reserved for the host" in problem for problem in mcp_tool(name=name, title="X")(tool).problems())
