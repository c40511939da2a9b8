"""`tools/call`: results, errors, and abandoned calls."""

import base64
import re
import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from jsonschema import Draft202012Validator
from pressroom.errors import BackendError
from pressroom.sdk import Generator
from pressroom.testing import RunningHost
from pressroom.testing.plugin import settings_for_test
from support import mcp_tools
from support.mcp_peer import Account, Peer, account, error, head

Start = Callable[..., RunningHost]

NEW = {"mcp_protocol_version": "2025-06-18"}

GOOD: dict[str, dict[str, Any]] = {
    "count_words": {"text": "a b c"},
    "generate_qr_code": {"text": "hello"},
    "make_image": {},
    "rich": {"title": "x", "parts": [{}, {"weight": 1.5}]},
    "scarce": {},
    "show": {},
    "write_text_file": {"text": "hello"},
}


@pytest.mark.parametrize("version", ["2025-06-18", "2025-03-26"])
@pytest.mark.parametrize("name", GOOD)
def test_a_result_is_text_and_an_object_that_matches_its_schema(start: Start, name: str, version: str) -> None:
    host = start(tools={"scarce": {"rate_limit": "100/hour"}})
    peer = Peer(host, account(host))
    schema = next(tool["outputSchema"] for tool in peer.tools() if tool["name"] == name)

    for _ in range(2):
        result = peer.call(name, GOOD[name], mcp_protocol_version=version)

        assert set(result) == {"content", "structuredContent"}
        assert result["content"][0]["type"] == "text"
        assert result["content"][0]["text"]
        Draft202012Validator(schema).validate(result["structuredContent"])
        links = [content for content in result["content"] if content["type"] == "resource_link"]
        assert len(links) == ("url" in result["structuredContent"] and version == "2025-06-18")


def test_these_tests_cover_every_tool(peer: Peer) -> None:
    other_tools = {"fail", "guarded", "wait"}

    assert {tool["name"] for tool in peer.tools()} == GOOD.keys() | other_tools


def test_every_kind_of_member_matches_the_schema(peer: Peer) -> None:
    schema = next(tool["outputSchema"] for tool in peer.tools() if tool["name"] == "rich")
    assert {"ownName", "count", "note"} <= schema["properties"].keys()
    tries: list[dict[str, Any]] = [
        {"title": ""},
        {"title": "t", "parts": [{"kind": "part", "weight": None}] * 3, "mood": "calm"},
        {"title": "t", "mood": None, "parts": []},
    ]
    for arguments in tries:
        data = peer.call("rich", arguments)["structuredContent"]
        Draft202012Validator(schema).validate(data)
        assert (data["ownName"], data["note"], data["count"]) == (7, None, len(data["parts"]))


@pytest.mark.parametrize(("kind", "media_type"), [("png", "image/png"), ("jpeg", "image/jpeg")])
def test_an_image_is_shown_and_linked(peer: Peer, kind: str, media_type: str) -> None:
    for cached in (False, True):
        result = peer.call("make_image", {"kind": kind, "size": 5000}, **NEW)
        text, image, link = result["content"]

        assert image == {"type": "image", "mimeType": media_type, "data": base64.b64encode(b"x" * 5000).decode()}
        data = result["structuredContent"]
        assert (data["cached"], data["width"], data["frames"]) == (cached, 5000, None)
        assert link == {
            "type": "resource_link",
            "uri": data["url"],
            "name": f"image-maker.{'jpg' if kind == 'jpeg' else kind}",
            "title": "Image maker",
            "mimeType": media_type,
            "size": 5000,
        }
        assert httpx.get(data["url"]).content == b"x" * 5000
        assert data["url"] in text["text"]
        assert data["expiresAt"] in text["text"]
        assert "It is no image." in text["text"]
        assert data["warnings"] == ["It is no image."]


@pytest.mark.parametrize("kind", ["svg", "zip"])
def test_other_files_are_only_linked(peer: Peer, kind: str) -> None:
    result = peer.call("make_image", {"kind": kind}, **NEW)

    assert [content["type"] for content in result["content"]] == ["text", "resource_link"]


@pytest.mark.parametrize(("size", "shown"), [(1_048_576, True), (1_048_577, False)])
def test_an_image_that_is_too_large_is_only_linked(peer: Peer, size: int, shown: bool) -> None:
    result = peer.call("make_image", {"size": size}, **NEW)

    assert ("image" in {content["type"] for content in result["content"]}) is shown
    assert ("1 MiB" in result["content"][0]["text"]) is not shown


def test_an_image_that_cannot_be_read_is_still_a_link(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    host = start()
    peer = Peer(host, account(host))
    peer.call("make_image")

    async def gone(key: str) -> bytes:
        raise BackendError(f"the disk with {key} is gone")

    monkeypatch.setattr(host.host.services.files, "read", gone)
    result = peer.call("make_image", **NEW)

    assert [content["type"] for content in result["content"]] == ["text", "resource_link"]
    assert "could not be read just now" in result["content"][0]["text"]
    assert "disk" not in result["content"][0]["text"]


def test_a_tools_own_images_are_shown_beside_its_own_text(peer: Peer) -> None:
    text, image = peer.call("show")["content"]
    assert (text["text"], image["mimeType"]) == ("Here it is.", "image/png")
    assert base64.b64decode(image["data"]) == b"pppp"

    (text,) = peer.call("show", {"size": 2_000_000})["content"]
    assert text["text"].startswith("Here it is.\n")
    assert "1 MiB" in text["text"]


def test_an_optional_argument_that_is_null_is_left_out(peer: Peer) -> None:
    arguments = {"title": "t", "parts": [{"kind": None, "weight": None}], "mood": None}

    assert (
        peer.call("rich", arguments)["structuredContent"]
        == peer.call("rich", {"title": "t", "parts": [{}]})["structuredContent"]
    )
    assert "title: is required" in peer.refused("rich", {"title": None})


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"arguments": {"text": "x"}},
        {"name": None},
        {"name": 7},
        {"name": ["count_words"]},
        {"name": "count_words", "arguments": []},
        {"name": "count_words", "arguments": "text"},
        {"name": "count_words", "arguments": 7},
        {"name": "count_words", "arguments": False},
    ],
    ids=str,
)
def test_invalid_call_params_are_refused(peer: Peer, params: dict[str, Any]) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}

    assert error(peer.post(message)) == (200, -32602)


@pytest.mark.parametrize(
    "name", ["", "Count_words", "count_words ", "text-file", "x" * 10_000, "\u202e\x00'\"", "gate"]
)
def test_an_unknown_tool_is_a_protocol_error(peer: Peer, name: str) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name}}
    response = peer.post(message)

    assert error(response) == (200, -32602)
    assert response.json()["error"]["message"].startswith("Unknown tool: ")
    assert response.json()["error"]["message"].isprintable()


def test_a_misspelt_tool_gets_a_suggestion(peer: Peer) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "count_word"}}

    assert peer.post(message).json()["error"]["message"] == "Unknown tool: count_word; did you mean count_words?"


def test_a_tool_disabled_by_the_operator_is_unknown(start: Start) -> None:
    host = start(tools={"count_words": {"enabled": False}})
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "count_words"}}

    assert error(Peer(host, account(host)).post(message)) == (200, -32602)


def test_arguments_may_be_omitted(peer: Peer) -> None:
    assert peer.call("make_image")["structuredContent"]["width"] == 4
    message = {"name": "make_image", "arguments": None}
    assert peer.request("tools/call", message)["result"]["structuredContent"]["width"] == 4
    assert "text" in peer.refused("count_words")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, ["text", "required"]),
        ({"text": 7}, ["text", "must be a string", "7"]),
        ({"text": "x" * 1001}, ["text", "1000"]),
        ({"txet": "x"}, ["text", "txet", "did you mean text?"]),
        ({"text": "x", "response": "binary"}, ["response"]),
        ({"text": "a\x00b"}, ["text", "NUL"]),
        ({"text": "x", "a\x00b": 1}, ["NUL"]),
    ],
    ids=str,
)
def test_invalid_arguments_are_explained(peer: Peer, arguments: Any, words: list[str]) -> None:
    text = peer.refused("count_words", arguments)

    assert text.startswith("The arguments of count_words are not valid. ")
    assert [word for word in words if word not in text] == []


def test_every_invalid_field_is_listed(peer: Peer) -> None:
    text = peer.refused("generate_qr_code", {"size": "big", "margin": 99, "fgColor": "red", "x": 1})

    assert all(f"{field}: " in text for field in ("text", "size", "margin", "fgColor", "x"))


def test_a_rate_limit_says_when_to_retry(start: Start) -> None:
    host = start()
    peer = Peer(host, account(host))
    for _ in range(3):
        peer.call("scarce")

    assert re.search(r"try again in \d+ seconds", peer.refused("scarce"))


def test_a_quota_says_when_it_resets(start: Start) -> None:
    host = start(plans={"free": {"quotas": {"articles_created": 1}}})
    peer = Peer(host, account(host))
    peer.call("scarce")

    text = peer.refused("scarce")
    assert "articles_created" in text or "articles created" in text
    assert re.search(r"\d{4}|\d+ \w+", text)


def test_a_tool_outside_the_plan_lists_the_plans_that_include_it(start: Start) -> None:
    plans = {"free": {"title": "Free", "tools": ["generate_*"]}, "pro": {"title": "Pro"}, "max": {"title": "Max"}}
    host = start(plans=plans)

    text = Peer(host, account(host, "free")).refused("count_words", {"text": "x"})

    assert text == "count_words is not in the plan Free; it is in Pro and Max"


def test_a_disabled_tool_says_where_to_enable_it(shared: RunningHost) -> None:
    user = account(shared, off=("count_words",))
    text = Peer(shared, user).refused("count_words", {"text": "x"})

    assert text.startswith("count_words is switched off for the connection 'a test'")
    assert text.endswith(f"{shared.url}/dashboard/connections/{user.connection.id}")


def test_an_authorizers_message_is_returned(peer: Peer) -> None:
    assert peer.refused("guarded") == "guarded is for nobody"


def test_a_tools_refusal_is_returned(peer: Peer) -> None:
    assert peer.refused("fail", {"way": "forbid"}) == "this name is taken by another account. Choose another one."
    assert "0.2 s" in peer.refused("fail", {"way": "endless"})


@pytest.mark.parametrize("way", ["raise", "wrong_type", "surrogate", "none"])
def test_a_failure_has_a_reference_and_no_internal_details(
    peer: Peer, way: str, capfd: pytest.CaptureFixture[str]
) -> None:
    params = {"name": "fail", "arguments": {"way": way}}
    response = peer.post({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})

    assert response.status_code == 200
    result = response.json()["result"]
    assert result["isError"] is True
    text = result["content"][0]["text"]
    assert response.headers["x-request-id"] in text
    assert not re.search("nutmeg|Error|Traceback|pydantic|support", text)
    logged = "".join(capfd.readouterr())
    assert "fail" in logged
    assert ("nutmeg" in logged) is (way == "raise")


def test_an_alias_is_callable(peer: Peer) -> None:
    assert peer.call("wealthy", {"title": "x"})["structuredContent"]["title"] == "x"


def test_an_alias_is_disabled_with_its_tool(shared: RunningHost) -> None:
    assert "rich is switched off" in Peer(shared, account(shared, off=("rich",))).refused("wealthy", {"title": "x"})


@contextmanager
def calling(host: RunningHost, one: Account, *names: str) -> Iterator[list[Any]]:
    """Keep calls of `wait` in flight inside the block; afterwards the list holds their results."""
    results: list[Any] = []
    with ThreadPoolExecutor(len(names)) as pool:
        calls = [pool.submit(Peer(host, one).call, "wait", {"name": name}) for name in names]
        host.run(mcp_tools.waiting(*names))
        try:
            yield results
        finally:
            host.run(mcp_tools.go_on())
        results += [call.result() for call in calls]


def test_concurrent_calls_of_a_connection_are_limited(start: Start) -> None:
    host = start(mcp={"concurrency": 2})
    first, other = account(host), account(host)
    with calling(host, first, "a", "b") as results:
        text = Peer(host, first).refused("count_words", {"text": "x"})
        assert "2 calls under way" in text
        assert "try again" in text
        assert Peer(host, first).tools()
        assert Peer(host, other).call("count_words", {"text": "x"})["structuredContent"] == {"words": 1}
    assert [result["structuredContent"]["word"] for result in results] == ["a", "b"]
    assert Peer(host, first).call("count_words", {"text": "x"})["structuredContent"] == {"words": 1}


def test_calls_in_a_batch_wait_for_each_other(start: Start) -> None:
    host = start(mcp={"concurrency": 2})
    params = {"name": "count_words", "arguments": {"text": "x"}}
    batch = [{"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params} for number in range(20)]

    responses = Peer(host, account(host)).post(batch).json()

    assert [response["result"]["structuredContent"] for response in responses] == [{"words": 1}] * 20


def test_connections_of_one_account_have_separate_slots(start: Start) -> None:
    host = start(mcp={"concurrency": 1})
    user = account(host)
    connection, key = host.run(host.host.accounts.api_keys.create(user.user_id, "another"))
    with calling(host, user, "a"):
        other = Account(user.user_id, connection, key)
        assert Peer(host, other).call("count_words", {"text": "x"})["structuredContent"] == {"words": 1}


def message(name: str, *, batch: bool) -> bytes:
    call = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wait","arguments":{"name":"%b"}}}'
    return b"[%b]" % (call % name.encode()) if batch else call % name.encode()


@pytest.mark.parametrize("batch", [False, True])
def test_a_disconnected_clients_call_is_cancelled_and_its_slot_freed(start: Start, batch: bool) -> None:
    host = start(mcp={"concurrency": 1})
    user = account(host)
    body = message("left", batch=batch)
    sent = head(f"Authorization: Bearer {user.key}", "Content-Type: application/json", f"Content-Length: {len(body)}")
    with socket.create_connection(("127.0.0.1", host.settings.server.port), timeout=20) as connection:
        connection.sendall(sent + body)
        host.run(mcp_tools.waiting("left"))
    host.run(mcp_tools.waiting())

    assert Peer(host, user).call("count_words", {"text": "x"})["structuredContent"] == {"words": 1}


def test_a_generator_continues_for_others_when_its_client_leaves(start: Start) -> None:
    host = start()
    user = account(host)
    arguments = {"text": "shared by many"}
    peers = [Peer(host, user) for _ in range(4)]
    barrier = threading.Barrier(len(peers))

    def call(peer: Peer) -> dict[str, Any]:
        barrier.wait()
        return peer.call("generate_qr_code", arguments)

    with ThreadPoolExecutor(len(peers)) as pool:
        results = list(pool.map(call, peers))

    assert {result["structuredContent"]["id"] for result in results} == {results[0]["structuredContent"]["id"]}
    assert sorted(result["structuredContent"]["cached"] for result in results) == [False, True, True, True]


def test_calls_are_in_the_activity_of_their_account(start: Start) -> None:
    host = start()
    user = account(host)
    peer = Peer(host, user)
    peer.call("count_words", {"text": "x"})
    peer.refused("count_words", {})
    peer.refused("fail", {"way": "raise"})

    host.run(host.host.pipeline.settle(5))
    host.run(host.host.accounts.activity_log.flush())
    calls = host.run(host.host.accounts.activity(user.user_id))
    assert {(call.tool, call.code) for call in calls} == {
        ("count_words", "ok"),
        ("count_words", "validation_error"),
        ("fail", "internal_error"),
    }


def test_every_built_in_tool_returns_what_its_schema_says(tmp_path: Path) -> None:
    with RunningHost(settings_for_test({"mcp": {"toolsets": ["all"]}}, tmp_path)) as host:
        peer = Peer(host, account(host))
        catalog = host.host.services.catalog
        called = set()
        for tool in peer.tools():
            declaration = catalog.mcp_tools[tool["name"]].declaration
            examples = declaration.examples if isinstance(declaration, Generator) else ()
            tries: list[dict[str, Any]] = [dict(example.params) for example in examples] or [{}]
            for arguments in tries:
                result = peer.call(tool["name"], arguments)
                if "isError" not in result:
                    Draft202012Validator(tool["outputSchema"]).validate(result["structuredContent"])
                    called.add(tool["name"])
        assert "generate_qr_code" in called
