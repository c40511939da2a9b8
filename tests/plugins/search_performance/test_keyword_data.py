"""Search volume and difficulty: each phrase is paid for once, and the tool needs a configured provider."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from pressroom.testing import RunningHost
from pressroom_search_performance.config import SearchPerformanceConfig
from pressroom_search_performance.contract import KeywordFigures, KeywordQuestion
from pressroom_search_performance.keyword_data import KeywordData
from pressroom_search_performance.tables import KeywordDataRow
from pydantic import ValidationError
from sqlalchemy import select, update
from support.installing import install, on_path
from support.polling import wait_until
from support.standin_google import Google
from support.tool_client import ToolClient, client_of

from .conftest import config_for, started
from .dataforseo import LOGIN, PASSWORD, DataForSeo
from .standing_in import Apis

OTHER = """
from pressroom.sdk import Plugin, hookimpl
from pressroom_search_performance.contract import KeywordResult, KeywordFigures, KeywordSource

PLUGIN = Plugin(id="almanac", title="Almanac", summary="Knows phrases.", requires=("search_performance",))


async def ask(question, fetcher):
    return KeywordResult(tuple(KeywordFigures(one, volume=len(one)) for one in question.phrases[:1]), 0.5)


@hookimpl
def pressroom_keyword_sources(plugin):
    return [KeywordSource("almanac", "The Almanac", ask)]
"""

HOSTILE = (
    b'{"status_code": 20000, "cost": -1, "tasks": [{"status_code": 20000, "result": [{"keyword": "compost", '
    b'"search_volume": 1e999, "cpc": "x", "competition": 5, "location_type": "Country", "country_iso_code": "FR", '
    b'"location_code": 1, "items": [{"keyword": "compost", "keyword_difficulty": 1e300}]}]}]}'
)


@pytest.fixture
def provider(apis: Apis) -> DataForSeo:
    """Return a DataForSEO stand-in with data on two phrases."""
    api = apis.by_name["dataforseo"] = DataForSeo()
    api.volumes = {"compost": 5400, "worm farm": 90}
    api.difficulties = {"compost": 61}
    apis.received.clear()
    return api


@pytest.fixture
def client(full_host: RunningHost, provider: DataForSeo) -> ToolClient:
    """Return a client of a server with empty caches."""
    _forget(full_host)
    return client_of(full_host, "ada@example.com")


def _forget(host: RunningHost) -> None:
    _age(host, timedelta(days=400))


def _age(host: RunningHost, age: timedelta) -> None:
    plugin = host.host.compiled.plugins.contexts["search_performance"]

    async def change() -> None:
        async with plugin.services.database.writing() as session:
            await session.execute(update(KeywordDataRow).values(fetched_at=datetime.now(UTC) - age))

    host.run(change())


def rows(result: dict[str, Any]) -> list[tuple[str, int | None, int | None]]:
    return [(row["phrase"], row["volume"], row["difficulty"]) for row in result["rows"]]


def test_volume_and_difficulty_with_the_cost(client: ToolClient, provider: DataForSeo) -> None:
    result = client.data("get_keyword_data", phrases=["Worm  Farm", "compost", "unheard of", "compost"])

    assert rows(result) == [("worm farm", 90, None), ("compost", 5400, 61), ("unheard of", None, None)]
    assert (result["provider"], result["country"], result["language"]) == ("DataForSEO", "US", "en")
    assert result["cost"] == {"amount": provider.earned, "currency": "USD", "phrases_asked": 3}
    assert provider.earned == 0.1001
    first = result["rows"][1]
    assert (first["cpc"], first["competition"]) == (1.23, "low")


def test_a_phrase_is_paid_for_once(client: ToolClient, provider: DataForSeo, apis: Apis) -> None:
    client.data("get_keyword_data", phrases=["compost", "unheard of"])
    earned = provider.earned
    apis.received.clear()
    repeated = client.data("get_keyword_data", phrases=["unheard of", "COMPOST"])
    assert (repeated["cost"]["amount"], repeated["cost"]["phrases_asked"], provider.earned) == (0, 0, earned)
    assert rows(repeated) == [("unheard of", None, None), ("compost", 5400, 61)]
    more = client.data("get_keyword_data", phrases=["compost", "worm farm"])
    assert (
        more["cost"]["phrases_asked"],
        [request.json[0]["keywords"] for request in apis.requests("dataforseo")],
    ) == (
        1,
        [["worm farm"], ["worm farm"]],
    )


def test_concurrent_requests_pay_once(
    client: ToolClient, full_host: RunningHost, provider: DataForSeo, apis: Apis
) -> None:
    apis.gate = threading.Event()
    with ThreadPoolExecutor(2) as threads:
        calls = [threads.submit(client.data, "get_keyword_data", phrases=["compost"]) for _ in range(2)]
        wait_until(lambda: full_host.host.services.executors.running("async") >= 2)
        apis.gate.set()
        results = [call.result(30) for call in calls]
    assert sorted(result["cost"]["phrases_asked"] for result in results) == [0, 1]
    assert [rows(result) for result in results] == [[("compost", 5400, 61)]] * 2
    assert sum(result["cost"]["amount"] for result in results) == provider.earned


def test_another_country_is_a_separate_request(client: ToolClient, provider: DataForSeo, apis: Apis) -> None:
    client.data("get_keyword_data", phrases=["compost"])
    result = client.data("get_keyword_data", phrases=["compost"], country="de", language="DE")
    assert (result["cost"]["phrases_asked"], result["country"], result["language"]) == (1, "DE", "de")
    last = apis.requests("dataforseo")[-1].json[0]
    assert (last["location_code"], last["language_code"]) == (2276, "de")


def test_figures_are_fetched_again_once_they_are_old(client: ToolClient, provider: DataForSeo) -> None:
    client.data("get_keyword_data", phrases=["compost"])
    _age(client.host, timedelta(days=29))
    assert client.data("get_keyword_data", phrases=["compost"])["cost"]["amount"] == 0
    _age(client.host, timedelta(days=30, minutes=1))
    provider.volumes["compost"] = 6000
    assert rows(client.data("get_keyword_data", phrases=["compost"])) == [("compost", 6000, 61)]


def test_a_country_without_difficulties_still_has_volumes(client: ToolClient, provider: DataForSeo) -> None:
    assert rows(client.data("get_keyword_data", phrases=["compost"], country="LI")) == [("compost", 5400, None)]


def test_characters_that_google_rejects_are_left_out(client: ToolClient, provider: DataForSeo) -> None:
    result = client.data("get_keyword_data", phrases=["compost?", "???"])
    assert rows(result) == [("compost?", 5400, 61), ("???", None, None)]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"phrases": []}, "phrases"),
        ({"phrases": ["  "]}, "empty"),
        ({"phrases": ["a " * 12]}, "10 words"),
        ({"phrases": ["a" * 81]}, "phrases"),
        ({"phrases": [f"phrase {number}" for number in range(101)]}, "phrases"),
        ({"phrases": ["compost"], "country": "USA"}, "country"),
        ({"phrases": ["compost"], "country": "ZZ"}, "has no figures of ZZ"),
        ({"phrases": ["compost"], "language": "english"}, "language"),
    ],
)
def test_invalid_requests(client: ToolClient, provider: DataForSeo, arguments: dict[str, Any], problem: str) -> None:
    assert problem in client.refusal("get_keyword_data", **arguments)
    assert provider.earned == 0


@pytest.mark.parametrize(
    ("failing", "task", "expected"),
    [
        ((401, b'{"status_code": 40100, "status_message": "not Authorized"}', {}), None, "does not accept"),
        ((402, b'{"status_code": 40200, "status_message": "Payment Required."}', {}), None, "topped up"),
        ((200, b"<html>maintenance</html>", {}), None, "not JSON"),
        ((500, b'{"status_code": 50000, "status_message": "Internal Error."}', {}), None, "is not available right now"),
        (None, (40202, "The rate limit per minute has been exceeded."), "call again in 60 seconds"),
        (None, (40210, "Insufficient Funds."), "topped up"),
        (None, (40101, "Internal SE Server Error"), "is not available right now"),
    ],
)
def test_failures_are_reported_and_nothing_is_stored(
    client: ToolClient, provider: DataForSeo, failing: Any, task: Any, expected: str
) -> None:
    provider.failing, provider.task_error = failing, task
    text = client.refusal("get_keyword_data", phrases=["compost"])
    assert expected in text
    assert PASSWORD not in text
    assert LOGIN not in text
    provider.failing = provider.task_error = None
    assert rows(client.data("get_keyword_data", phrases=["compost"])) == [("compost", 5400, 61)]


@pytest.mark.parametrize(
    "content",
    [
        b"null",
        b"[]",
        b'{"tasks": 5, "cost": "free"}',
        b'{"status_code": 20000, "tasks": [{"status_code": 20000, "result": [null, {"keyword": 3, "items": {}}]}]}',
        HOSTILE,
    ],
)
def test_hostile_responses_are_survived(client: ToolClient, provider: DataForSeo, content: bytes) -> None:
    provider.failing = (200, content, {})
    # The server caches country codes: no other test uses this one.
    result = client.call("get_keyword_data", phrases=["compost"], country="FR")
    text = result["content"][0]["text"]
    assert not result.get("isError") or "has no figures" in text or "not JSON" in text, text


def test_it_is_stored_in_every_database(host: RunningHost) -> None:
    plugin = host.host.compiled.plugins.contexts["search_performance"]
    data = KeywordData(plugin, "test")
    question = KeywordQuestion(("a", "b", "c"), "US", "en")

    async def twice() -> tuple[Any, int]:
        await data.write(question, [KeywordFigures("a", 1, 2, 0.5, "high")])
        await data.write(KeywordQuestion(("a",), "US", "en"), [KeywordFigures("a", 7)])
        async with plugin.services.database.reading() as session:
            count = len(list(await session.scalars(select(KeywordDataRow.id).where(KeywordDataRow.source == "test"))))
        return await data.read(question), count

    stored, count = host.run(twice())
    assert {phrase: row.figures for phrase, row in stored.items()} == {
        "a": KeywordFigures("a", 7),
        "b": KeywordFigures("b"),
        "c": KeywordFigures("c"),
    }
    assert count == 3
    assert host.run(data.read(KeywordQuestion(("a",), "DE", "en"))) == {}


def _listed(client: ToolClient) -> set[str]:
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    headers = {"authorization": f"Bearer {client.key}", "mcp-protocol-version": "2025-06-18"}
    response = httpx.post(f"{client.host.url}/api/mcp?toolsets=all", json=body, headers=headers, timeout=60)
    return {tool["name"] for tool in response.json()["result"]["tools"]}


def test_without_a_provider_the_tool_is_not_listed_and_the_account_learns_why(tmp_path: Path) -> None:
    config = config_for(Google())
    config["plugins"]["account"] = {}
    with started(config, {}, tmp_path) as running:
        client = client_of(running, "ada@example.com")
        assert "get_keyword_data" not in _listed(client)
        usage = client.call("get_account_usage")
        [hidden] = usage["structuredContent"]["hidden_tools"]
        assert hidden["tools"] == ["get_keyword_data"]
        assert hidden["reason"].startswith("not available: the operator has to connect a provider")
        assert "- get_keyword_data: not available" in usage["content"][0]["text"]
        body = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": "get_keyword_data", "arguments": {"phrases": ["a"]}},
        }
        headers = {"authorization": f"Bearer {client.key}", "mcp-protocol-version": "2025-06-18"}
        result = httpx.post(f"{running.url}/api/mcp", json=body, headers=headers, timeout=60).json()["result"]
        assert result["isError"]
        assert "has to connect a provider" in result["content"][0]["text"]


def test_with_a_provider_it_is_listed(client: ToolClient) -> None:
    assert "get_keyword_data" in _listed(client)
    assert client.data("get_account_usage")["hidden_tools"] == []


def test_another_plugin_can_be_the_provider(tmp_path: Path) -> None:
    files = {"acme_almanac/__init__.py": "", "acme_almanac/plugin.py": OTHER}
    install(tmp_path / "site", "acme-almanac", files, {"almanac": "acme_almanac.plugin"})
    config = config_for(Google())
    config["plugins"]["almanac"] = {}
    with on_path(tmp_path / "site"), started(config, {}, tmp_path / "data") as running:
        client = client_of(running, "ada@example.com")
        result = client.data("get_keyword_data", phrases=["worm", "bin"])
        assert (result["provider"], result["cost"]["amount"]) == ("The Almanac", 0.5)
        assert rows(result) == [("worm", 4, None), ("bin", None, None)]


@pytest.mark.parametrize("given", [{"dataforseo_login": "x"}, {"dataforseo_password": "x"}])
def test_a_login_needs_its_password(given: dict[str, str]) -> None:
    with pytest.raises(ValidationError, match="need each other"):
        SearchPerformanceConfig.model_validate(given)
