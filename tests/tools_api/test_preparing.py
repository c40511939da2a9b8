"""Preparation in the server before a generator's run, and warnings."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from pressroom.sdk import Artifact, Call, Params, generator, per_hour
from pressroom.testing import RunningHost
from pressroom.testing.plugin import settings_for_test
from support.installing import on_path
from support.plugin_source import HEAD, install_plugin

SOURCE = (
    HEAD
    + '''
import asyncio
import os
from dataclasses import replace
from pathlib import Path


class NoteParams(Params):
    text: str = Field(max_length=2000, description="What to write.")
    log: str = Field(description="Path of a file that gets a line for each preparation.")


async def prepare(params, call):
    """Note that it ran, and where."""
    with Path(params.log).open("a") as log:
        log.write("prepared\\n")
    await asyncio.sleep(0)
    if params.text == "refuse":
        raise InvalidInput("text", "must not be refuse")
    if params.text == "fail":
        raise ZeroDivisionError
    if params.text == "fetch":
        try:
            await call.plugin.services.fetcher.get("https://127.0.0.1/", accept="*/*", max_bytes=1, seconds=1)
        except FetchRefused as error:
            raise InvalidInput("text", error.message) from None
    if params.text == "hang":
        await asyncio.Event().wait()
    if params.text == "stubborn":
        return lambda: None
    return os.getpid(), call.plugin.id, call.prepared


@generator(
    slug="note", name="Note", summary="Writes a note.", rate_limit=per_hour(100000), produces=("text/plain",),
    prepare=prepare, timeout=2, examples=(Example("One", {"text": "a", "log": "/dev/null"}),),
)
def note(params: NoteParams, call: Call) -> Artifact:
    """Writes where it was prepared and where it ran."""
    text = f"{call.prepared} {os.getpid()} {call.plugin}"
    return Artifact(text.encode(), "text/plain", warnings=tuple(params.text.split("|")))


@hookimpl
def pressroom_generators():
    return [note]
'''
)


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHost]:
    site = tmp_path_factory.mktemp("site")
    installed = install_plugin(site, "notes", SOURCE)
    settings = settings_for_test({"plugins": installed.plugins}, tmp_path_factory.mktemp("data"))
    with on_path(site), RunningHost(settings) as host:
        yield host


@pytest.fixture
def client(running: RunningHost) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=running.url, timeout=30) as http:
        yield http


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log"
    path.touch()
    return path


def note(client: httpx.Client, log: Path, text: str, response: str = "binary") -> httpx.Response:
    body = {"text": text, "log": str(log), "response": response}
    return client.post("/tools/note/api/generate", json=body)


def test_data_prepared_in_the_server_reaches_the_worker(client: httpx.Client, log: Path) -> None:
    prepared, _, worker = note(client, log, "a").text.partition(") ")
    server, plugin, before = prepared.removeprefix("(").split(", ")
    assert (plugin, before) == ("'notes'", "None")
    assert worker == f"{int(worker.split()[0])} None"
    assert worker.split()[0] != server


def test_nothing_is_prepared_for_a_cached_result(client: httpx.Client, log: Path) -> None:
    assert note(client, log, "b").headers["x-cache"] == "MISS"
    assert note(client, log, "b").headers["x-cache"] == "HIT"
    assert log.read_text() == "prepared\n"


def test_identical_calls_share_a_preparation(client: httpx.Client, log: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        responses = list(pool.map(lambda _: note(client, log, "c"), range(8)))
    assert {response.status_code for response in responses} == {200}
    assert log.read_text() == "prepared\n"


@pytest.mark.parametrize(
    ("text", "status", "code"),
    [
        ("refuse", 400, "validation_error"),
        ("fail", 500, "internal_error"),
        ("stubborn", 500, "internal_error"),
    ],
)
def test_a_failed_preparation_costs_nothing(client: httpx.Client, log: Path, text: str, status: int, code: str) -> None:
    before = note(client, log, "first").headers["ratelimit-remaining"]
    response = note(client, log, text)
    assert (response.status_code, response.json()["error"]["code"]) == (status, code)
    assert response.headers["ratelimit-remaining"] == before
    assert "ZeroDivision" not in response.text


def test_a_preparation_that_times_out_costs_as_much_as_a_run(client: httpx.Client, log: Path) -> None:
    before = int(note(client, log, "first").headers["ratelimit-remaining"])
    response = note(client, log, "hang")
    assert (response.status_code, response.json()["error"]["code"]) == (503, "timeout")
    assert int(response.headers["ratelimit-remaining"]) == before - 1


def test_it_can_fetch_but_not_from_private_networks(client: httpx.Client, log: Path) -> None:
    response = note(client, log, "fetch")
    assert response.json()["error"]["message"] == "text: 127.0.0.1 is not on the public internet"


@pytest.mark.parametrize("response", ["binary", "url"])
def test_warnings_are_in_a_header(client: httpx.Client, log: Path, response: str) -> None:
    reply = note(client, log, "Größe|line\nbreak", response)
    assert json.loads(reply.headers["x-warnings"]) == ["Größe", "line\nbreak"]
    assert "X-Warnings" in reply.headers["access-control-expose-headers"]
    if response == "url":
        assert reply.json()["data"]["warnings"] == ["Größe", "line\nbreak"]


def test_warnings_that_are_too_long_are_truncated(client: httpx.Client, log: Path) -> None:
    response = note(client, log, "ü" * 1000 + "|" + "|".join("ß" * 50 for _ in range(18)))
    header = response.headers["x-warnings"]
    assert len(header) <= 4000
    first, *warnings = json.loads(header)
    assert first == "ü" * 299 + "…"
    assert set(warnings) == {"ß" * 50}
    assert len(warnings) < 18


class Nothing(Params):
    """A tool without parameters."""


def make(params: Nothing, call: Call) -> Artifact:
    raise NotImplementedError


def not_a_coroutine(params: Nothing, call: Call) -> None:
    raise NotImplementedError


def test_a_preparation_that_is_not_a_coroutine_function_is_reported() -> None:
    declare = generator(
        slug="a",
        name="A",
        summary="Makes something.",
        rate_limit=per_hour(1),
        produces=("text/plain",),
        prepare=not_a_coroutine,  # type: ignore[arg-type]
    )
    assert declare(make).problems() == ["prepare must be an async function"]
