"""Token budgets: the size of the real tool lists in bytes, as models see them."""

import re
from collections.abc import Iterator
from typing import Any

import httpx
import orjson
import pytest
from pressroom.testing import RunningHost
from pressroom.testing.plugin import settings_for_test
from support.mcp_peer import PATH, Account, account

CONTRACT = {
    "list_websites",
    "create_content",
    "check_blog_seo",
    "search_images",
    "publish_content",
    "get_seo_report",
    "get_search_performance",
}
"""The tools listed in the interface contract."""


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHost]:
    with RunningHost(settings_for_test({}, tmp_path_factory.mktemp("full"))) as host:
        yield host


@pytest.fixture(scope="module")
def ada(full: RunningHost) -> Account:
    return account(full)


def sent(host: RunningHost, user: Account, query: str = "") -> tuple[list[dict[str, Any]], int, int]:
    """Return the tools of a list, the size of the response in bytes, and its compressed size on the network."""
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    headers = {**user.bearer, "accept-encoding": "gzip"}
    with httpx.stream("POST", f"{host.url}{PATH}{query}", json=message, headers=headers) as response:
        compressed = b"".join(response.iter_raw())
        assert response.headers["content-encoding"] == "gzip"
    uncompressed = httpx.post(f"{host.url}{PATH}{query}", json=message, headers=headers)
    return uncompressed.json()["result"]["tools"], len(uncompressed.content), len(compressed)


def read_by_models(tools: list[dict[str, Any]]) -> int:
    """Return the size in bytes of the fields that clients pass to their models."""
    return len(orjson.dumps([{key: tool[key] for key in ("name", "description", "inputSchema")} for tool in tools]))


def test_the_core_toolset_is_small(full: RunningHost, ada: Account) -> None:
    tools, _, compressed_size = sent(full, ada)

    names = {tool["name"] for tool in tools}
    assert names >= CONTRACT | {"find_tools", "call_tool"}
    assert len(tools) <= 26
    assert read_by_models(tools) <= 30_000
    assert compressed_size <= 10_000


def test_the_number_and_size_of_all_tools_are_bounded(full: RunningHost, ada: Account) -> None:
    tools, size, _ = sent(full, ada, "?toolsets=all")

    assert {tool["name"] for tool in tools} == set(full.host.services.catalog.mcp_tools)
    assert len(tools) <= 56
    assert read_by_models(tools) <= 60_000
    assert size <= 110_000


def test_no_tool_is_larger_than_a_tenth_of_the_core(full: RunningHost, ada: Account) -> None:
    tools, _, _ = sent(full, ada, "?toolsets=all")

    assert {tool["name"]: size for tool in tools if (size := read_by_models([tool])) > 3_000} == {}


def test_every_tool_that_a_description_mentions_exists(full: RunningHost, ada: Account) -> None:
    known = {*full.host.services.catalog.mcp_tools, "find_tools", "call_tool"}
    verbs = sorted({name.partition("_")[0] for name in known} | {"retry", "reschedule", "crosspost", "duplicate"})
    pattern = re.compile(rf"\b(?:{'|'.join(verbs)})_[a-z]+(?:_[a-z]+)*\b")
    tools, _, _ = sent(full, ada, "?toolsets=all")

    for tool in tools:
        members = _members(tool["inputSchema"]) | _members(tool["outputSchema"]) | _values(tool["inputSchema"])
        mentioned = set(pattern.findall(orjson.dumps([tool["description"], tool["inputSchema"]]).decode()))
        assert mentioned - known - members == set(), tool["name"]


def _members(schema: Any) -> set[str]:
    if isinstance(schema, dict):
        names = set(schema["properties"]) if isinstance(schema.get("properties"), dict) else set()
        return names.union(*map(_members, schema.values()))
    return set().union(*map(_members, schema)) if isinstance(schema, list) else set()


def _values(schema: Any) -> set[str]:
    if isinstance(schema, dict):
        values = {value for value in schema.get("enum", ()) if isinstance(value, str)}
        return values.union(*map(_values, schema.values()))
    return set().union(*map(_values, schema)) if isinstance(schema, list) else set()
