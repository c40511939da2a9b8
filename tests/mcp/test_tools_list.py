"""`tools/list`: how tools are described to models."""

import json
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from pressroom.testing import RunningHost
from pressroom.testing.plugin import settings_for_test
from support.mcp_peer import Peer, account, error

GOLDEN = Path(__file__).parent / "golden"
PLANS = {
    "free": {"tools": ["generate_*"]},
    "pro": {"title": "Professional", "tools": ["*"], "quotas": {"articles_created": 30}},
}
GENERATORS = ("account", "code_to_image", "favicon_generator", "image_generator", "qr_code_generator")
"""Plugins whose tools the lists contain; the article tools are covered by the generated reference."""

QUOTAS = ("articles_created", "articles_published", "images_generated", "seo_reports")

Start = Callable[..., RunningHost]


def same_as_golden(name: str, tools: list[dict[str, Any]]) -> None:
    """Compare with the committed document; PRESSROOM_TEST_UPDATE_GOLDEN=1 updates it."""
    file = GOLDEN / name
    if os.environ.get("PRESSROOM_TEST_UPDATE_GOLDEN"):
        file.parent.mkdir(exist_ok=True)
        file.write_text(json.dumps(tools, indent=2, ensure_ascii=False) + "\n")
    assert json.loads(file.read_text()) == tools


@pytest.mark.parametrize("plan", PLANS)
def test_the_list_of_a_plan_is_unchanged(tmp_path_factory: pytest.TempPathFactory, plan: str) -> None:
    config = {"builtin_plugins": False, "plugins": {name: {} for name in GENERATORS}, "plans": PLANS}
    with RunningHost(settings_for_test(config, tmp_path_factory.mktemp("data"))) as host:
        same_as_golden(f"{plan}.json", Peer(host, account(host, plan)).tools())


def objects(schema: Any) -> Iterator[dict[str, Any]]:
    """Yield every object schema nested in a schema."""
    if isinstance(schema, dict):
        if "properties" in schema:
            yield schema
        for child in schema.values():
            yield from objects(child)
    elif isinstance(schema, list):
        for child in schema:
            yield from objects(child)


def test_every_tool_has_what_clients_show_and_check(peer: Peer) -> None:
    for tool in peer.tools():
        assert set(tool) == {"name", "title", "description", "inputSchema", "outputSchema", "annotations"}
        assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", tool["name"])
        assert tool["title"]
        assert tool["annotations"].items() <= {
            ("readOnlyHint", True),
            ("destructiveHint", False),
            ("idempotentHint", True),
            ("openWorldHint", False),
        }, "a default of MCP is not sent"
        assert "description" not in json.dumps(tool["outputSchema"]), "few clients show it to a model"
        for schema in (tool["inputSchema"], tool["outputSchema"]):
            Draft202012Validator.check_schema(schema)
            assert schema["type"] == "object"
            assert not {"oneOf", "anyOf", "allOf", "$ref", "$defs"} & schema.keys()
            assert "$ref" not in json.dumps(schema)
        for schema in objects(tool["inputSchema"]):
            assert schema["additionalProperties"] is False
            assert all(field.get("description") for field in schema["properties"].values()), tool["name"]


@pytest.mark.parametrize("limit", [30, None], ids=["limited", "unlimited"])
def test_every_tool_states_its_cost_once(tmp_path_factory: pytest.TempPathFactory, limit: int | None) -> None:
    quotas = dict.fromkeys(QUOTAS, limit) if limit else {}
    plans = {"free": {"tools": ["*"], "quotas": quotas}}
    settings = settings_for_test({"plans": plans, "mcp": {"toolsets": ["all"]}}, tmp_path_factory.mktemp("data"))
    with RunningHost(settings) as host:
        catalog = host.host.compiled.catalog
        quota_of_tool = {tool.mcp_name: tool.quota for tool in catalog.tools.values() if tool.quota}
        limited = {name for name, limits in catalog.plans["free"].mcp_tools.items() if limits.advertised_rate}
        tools = Peer(host, account(host, "free")).tools()
    assert {tool["name"] for tool in tools} == set(catalog.mcp_tools)
    for tool in tools:
        description, quota = tool["description"], quota_of_tool.get(tool["name"])
        uses = [f"Uses one of the plan's 30 {quota} a month"] if quota and limit else []
        assert re.findall(r"Uses one of the plan's \d+ \w+ a month", description) == uses, tool["name"]
        assert ("Limited to " in description) == (tool["name"] in limited), tool["name"]
        for sentence in (*uses, "Limited to"):
            description = description.replace(sentence, "")
        assert not re.search(r"(?i)\bcosts?\b|counts? against|free of charge|\bcharged?\b", description), tool["name"]


def test_tools_are_sorted_by_name(peer: Peer) -> None:
    names = [tool["name"] for tool in peer.tools()]

    assert names == sorted(names)
    assert {"count_words", "generate_qr_code", "make_image", "write_text_file"} <= set(names)


def test_aliases_are_not_listed(peer: Peer) -> None:
    assert not {"wealthy"} & {tool["name"] for tool in peer.tools()}


def test_a_description_ends_with_the_cost_of_a_call(start: Start) -> None:
    host = start(plans=PLANS)
    descriptions = {
        plan: {tool["name"]: tool["description"] for tool in Peer(host, account(host, plan)).tools()} for plan in PLANS
    }

    assert descriptions["pro"]["count_words"].endswith("Returns the number of words.")
    assert descriptions["pro"]["scarce"] == (
        "Uses up a quota. Uses one of the plan's 30 articles_created a month. Limited to 3 per hour."
    )
    assert descriptions["free"]["generate_qr_code"].endswith(" Limited to 300 per hour; a repeat counts as 0.1.")


def test_each_plan_has_its_own_list(start: Start) -> None:
    host = start(plans=PLANS)

    assert [tool["name"] for tool in Peer(host, account(host, "free")).tools()] == ["generate_qr_code"]
    assert "count_words" in {tool["name"] for tool in Peer(host, account(host, "pro")).tools()}


def test_an_account_with_a_removed_plan_gets_the_anonymous_tools(start: Start) -> None:
    host = start()
    user = account(host)
    all_tools = {tool["name"] for tool in Peer(host, user).tools()}
    assert host.run(host.host.accounts.users.get(user.user_id)).plan in host.host.services.catalog.plans
    view = host.host.services.catalog.plans["long gone"]

    assert view.plan == "anonymous"
    assert set(view.mcp_tools) < all_tools


@pytest.mark.parametrize("off", [("count_words",), ("generate_qr_code", "wait"), ("qr-code-generator",)])
def test_tools_disabled_for_a_connection_are_not_listed(shared: RunningHost, off: tuple[str, ...]) -> None:
    all_tools = {tool["name"] for tool in Peer(shared, account(shared)).tools()}
    listed = {tool["name"] for tool in Peer(shared, account(shared, off=off)).tools()}

    hidden = {"generate_qr_code" if name == "qr-code-generator" else name for name in off}
    assert listed == all_tools - hidden


@pytest.mark.parametrize("cursor", ["", "x", 1, [], {}, True])
def test_there_is_only_one_page(peer: Peer, cursor: Any) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"cursor": cursor}}

    assert error(peer.post(message)) == (200, -32602)
    result = peer.request("tools/list", {"cursor": None, "_meta": {"progressToken": 1}})["result"]
    assert set(result) == {"tools"}


@pytest.mark.parametrize("number", [b"1", b'"a"', b"null", b"1.50"])
def test_the_list_is_byte_identical_for_every_id(peer: Peer, number: bytes) -> None:
    content = peer.post(b'{"jsonrpc":"2.0","id":%b,"method":"tools/list"}' % number).content

    start = b'{"jsonrpc":"2.0","id":%b,"result":' % number
    assert content.startswith(start)
    other = peer.post(b'{"jsonrpc":"2.0","id":7,"method":"tools/list"}').content
    assert content.removeprefix(start) == other.removeprefix(b'{"jsonrpc":"2.0","id":7,"result":')
