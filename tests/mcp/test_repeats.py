"""Repeated calls with the same `client_request_id`: over HTTP, and after a crash."""

import json
import os
import re
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from pressroom.host.loaded_app import LoadedApp
from pressroom.sdk import Annotations, ClientRequestId, McpTool, Params, ToolResult
from pressroom.storage.database.engine import FILE_NAME
from pressroom.storage.database.tables import ClientRequestRow
from pressroom.testing import RunningHost
from pressroom.testing.running import settings_for_test
from pydantic import BaseModel, Field
from sqlalchemy import delete
from support.commands import run_command
from support.installing import on_path
from support.repeating_plugin import install_diary
from support.server import command_environment, serving
from support.tool_client import ToolClient, client_of

Start = Callable[[int], RunningHost]

ARTICLE = {"title": "Cold brew", "body": "Twelve hours in the fridge."}


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Return a function that starts a host with a quota on the same data, after stopping the one before."""
    running: list[RunningHost] = []

    def end() -> None:
        if running:
            running.pop().__exit__(None, None, None)

    def begin(quota: int) -> RunningHost:
        end()
        config = {
            "builtin_plugins": False,
            "plugins": {"content": {}, "images": {}, "diary": {}},
            "plans": {"free": {"quotas": {"articles_created": quota}}},
        }
        running.append(RunningHost(settings_for_test(config, tmp_path / "data")).__enter__())
        return running[-1]

    with on_path(install_diary(tmp_path / "site")):
        yield begin
        end()


def text(result: dict[str, Any]) -> str:
    content: str = result["content"][0]["text"]
    return content


def articles(client: ToolClient) -> list[str]:
    return [item["title"] for item in client.data("list_content")["items"]]


def test_a_repeat_does_not_use_the_quota(start: Start) -> None:
    ada = client_of(start(1), "ada@example.com")
    first = ada.call("create_content", **ARTICLE, client_request_id="one")
    second = ada.call("create_content", **ARTICLE, body_format="markdown", client_request_id="one")
    assert second["structuredContent"] == first["structuredContent"]
    assert text(second).endswith(f"Its result was:\n{text(first)}")
    refused = ada.refusal("create_content", title="Another", body="Text.", client_request_id="one")
    assert re.search(r"belongs to a call of 20\S+ at \S+ UTC with other values of body, title\.", refused)
    assert "articles_created" in ada.refusal("create_content", **ARTICLE, client_request_id="two")
    assert "articles_created" in ada.refusal("create_content", **ARTICLE)
    assert text(ada.call("create_content", **ARTICLE, client_request_id="one")) == text(second)
    assert articles(ada) == ["Cold brew"]


def test_a_repeat_after_a_restart_and_a_crash_creates_one_article(start: Start, tmp_path: Path) -> None:
    ada = client_of(start(1), "ada@example.com")
    first = ada.data("create_content", **ARTICLE, client_request_id="one")
    host = start(1)
    ada = ToolClient(host, ada.user_id, ada.connection, ada.key)
    assert ada.data("create_content", **ARTICLE, client_request_id="one") == first
    leave_as_a_crash_does(tmp_path / "data")
    resumed = ada.call("create_content", **ARTICLE, client_request_id="one")
    assert resumed["structuredContent"]["content_id"] == first["content_id"]
    assert "already" in text(resumed)
    host.run(forgotten(host))  # the stored response has expired; the article still has its ID
    refused = ada.refusal("create_content", title="Another", body="Text.", client_request_id="one")
    assert "articles_created" in refused
    host = start(2)
    ada = ToolClient(host, ada.user_id, ada.connection, ada.key)
    refused = ada.refusal("create_content", title="Another", body="Text.", client_request_id="one")
    assert f"client_request_id: made {first['content_id']} before, with other values of title, body" in refused
    assert "use update_content to change that one" in refused
    assert articles(ada) == ["Cold brew"]


@pytest.mark.parametrize(
    ("tool", "arguments", "listed", "members"),
    [
        ("import_content", {"html": "<h1>Tea</h1><p>Boil it.</p>"}, "list_content", "items"),
        ("connect_website", {"platform": "builtin", "name": "Tea"}, "list_websites", "websites"),
    ],
)
def test_other_tools_that_create_something_can_be_repeated(
    start: Start, tool: str, arguments: dict[str, Any], listed: str, members: str
) -> None:
    ada = client_of(start(9), "ada@example.com")
    first = ada.data(tool, **arguments, client_request_id="one")
    assert ada.data(tool, **arguments, client_request_id="one") == first
    assert len(ada.data(listed)[members]) == 1
    ada.data(tool, **arguments, client_request_id="two")
    ada.data(tool, **arguments)
    assert len(ada.data(listed)[members]) == 3


def test_a_repeated_request_returns_the_same_upload_link(start: Start) -> None:
    ada = client_of(start(1), "ada@example.com")
    link = ada.data("create_upload_url", content_type="image/png", client_request_id="one")
    assert ada.data("create_upload_url", content_type="image/png", client_request_id="one") == link
    assert ada.data("create_upload_url", content_type="image/png")["upload_url"] != link["upload_url"]


def test_request_ids_are_shared_by_connections_but_not_by_accounts(start: Start) -> None:
    host = start(1)
    ada, phone = client_of(host, "ada@example.com"), client_of(host, "ada@example.com", "phone")
    eve = client_of(host, "eve@example.com")
    first = ada.data("create_content", **ARTICLE, client_request_id="one")
    assert phone.data("create_content", **ARTICLE, client_request_id="one") == first
    assert eve.data("create_content", title="Mine", body="Text.", client_request_id="one")["content_id"] != first
    assert (articles(ada), articles(eve)) == (["Cold brew"], ["Mine"])


def test_a_client_that_gives_up_finds_its_result(start: Start) -> None:
    host = start(9)
    ada = client_of(host, "ada@example.com")
    import acme_diary  # type: ignore[import-not-found]  # noqa: PLC0415

    started = threading.Event()
    body = {"text": "tea", "way": "wait", "client_request_id": "one"}
    with ThreadPoolExecutor(1) as pool:
        leaving = pool.submit(give_up, ada, "note", body, started)
        started.wait()
        host.run(acme_diary.started.wait())
        leaving.result()
    host.run(set_event(acme_diary.go_on))
    assert ada.data("note", **body) == {"text": "tea", "number": 1}
    assert acme_diary.runs == ["tea"]


@pytest.mark.parametrize("tool", ["note", "sure_note"])
def test_a_repeat_after_the_server_was_killed_mid_call(tmp_path: Path, tool: str) -> None:
    """The resumable tool runs again; the other is not repeated, and the client is told."""
    site, log = install_diary(tmp_path / "site"), tmp_path / "diary.txt"
    config = "builtin_plugins = false\n[plugins.diary]\n"
    environment = {"PYTHONPATH": os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")]), "DIARY": str(log)}
    body = {"text": "tea", "client_request_id": "one"}
    with serving(tmp_path, config, environment) as server:
        key = new_key(tmp_path, environment)
        with ThreadPoolExecutor(1) as pool:
            future = pool.submit(call_tool, server.url, key, tool, body)
            while not log.exists() or log.read_text() != "tea\n":
                assert not future.done(), future.result()
                time.sleep(0.05)
            server.process.kill()
            assert isinstance(future.exception(), httpx.HTTPError)
    with serving(tmp_path, config, environment) as server:
        leave_as_a_crash_does(tmp_path / "data")  # expires the lease of the killed process
        repeated = call_tool(server.url, key, tool, body)
    if tool == "note":
        assert "was cut off, and it is unknown whether it took effect" in text(repeated)
        assert log.read_text() == "tea\n"
    else:
        assert text(repeated) == "It is there."
        assert log.read_text() == "tea\ntea\n"


def test_repeatable_tools_must_declare_the_sdk_type() -> None:
    class Result(BaseModel):
        text: str

    class Own(Params):
        client_request_id: str = Field(description="An id of its own.")

    class Good(Params):
        client_request_id: ClientRequestId = None

    def problems(params: type[Params], **options: Any) -> list[str]:
        async def function(params: Any, call: Any) -> ToolResult:
            raise NotImplementedError

        tool = McpTool(
            name="x", title="X", description="X.", params=params, result=Result, function=function, **options
        )
        return tool.problems()

    assert problems(Own) == ["params: declare client_request_id as pressroom.sdk.ClientRequestId"]
    assert problems(Good, resumes=True, changed_with="y") == []
    assert problems(Params, resumes=True) == ["resumes: params needs a client_request_id"]
    assert problems(Good, annotations=Annotations(read_only=True)) == [
        "params: a tool that is read_only needs no client_request_id"
    ]


def test_every_tool_that_creates_something_is_repeatable(tmp_path: Path) -> None:
    tools = LoadedApp(settings_for_test({}, tmp_path)).catalog.mcp_tools.values()
    declared = [tool.declaration for tool in tools if isinstance(tool.declaration, McpTool)]
    assert len(declared) > 30
    missing = [
        tool.name
        for tool in declared
        if not (tool.annotations.read_only or tool.annotations.idempotent or tool.repeatable)
    ]
    assert missing == [], "give their parameters client_request_id: ClientRequestId = None"
    names = {tool.name for tool in declared}
    assert {tool.changed_with for tool in declared} - {""} <= names


async def forgotten(host: RunningHost) -> None:
    async with host.host.database.writing() as session:
        await session.execute(delete(ClientRequestRow))


async def set_event(event: Any) -> None:
    event.set()


def leave_as_a_crash_does(data: Path) -> None:
    """Rewrite the stored calls as if their process was killed before it stored a response, a lease ago."""
    with closing(sqlite3.connect(data / FILE_NAME, timeout=30)) as database, database:
        database.execute("UPDATE client_requests SET until = 1, answer = NULL")


def give_up(client: ToolClient, name: str, arguments: dict[str, Any], started: threading.Event) -> None:
    """Make a call, and disconnect before the response arrives."""
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
    headers = {"authorization": f"Bearer {client.key}", "x-mcp-toolsets": "all"}
    started.set()
    with suppress(httpx.ReadTimeout):
        httpx.post(f"{client.host.url}/api/mcp", json=body, headers=headers, timeout=httpx.Timeout(60, read=1))


def call_tool(url: str, key: str, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Call a tool on a server in another process, and return the result."""
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
    headers = {"authorization": f"Bearer {key}", "mcp-protocol-version": "2025-06-18"}
    result: dict[str, Any] = httpx.post(f"{url}/api/mcp", json=body, headers=headers, timeout=60).json()["result"]
    return result


def new_key(folder: Path, environment: dict[str, str]) -> str:
    """Create an account, and return an API key for it."""

    def command(*arguments: str, stdin: str = "") -> dict[str, Any]:
        line = [*arguments, "--json", "--config", str(folder / "pressroom.toml")]
        result = run_command(line, cwd=folder, env=command_environment(folder, **environment), stdin=stdin)
        assert result.returncode == 0, result.stdout + result.stderr
        document: dict[str, Any] = json.loads(result.stdout)
        return document

    command("users", "add", "ada@example.com", "--name", "Ada", "--password-stdin", stdin="a long enough phrase 42\n")
    return str(command("keys", "create", "ada@example.com", "--name", "test")["key"])
