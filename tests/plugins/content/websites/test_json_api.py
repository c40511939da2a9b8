"""The shared client for JSON APIs: requests, response parsing, and where errors are created."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
from pressroom.sdk import CallError, Fetched, FetchFailed, FetchRefused, FetchUnknown
from pressroom_content.contract import JsonApi, JsonResponse, with_query


class Spoken(CallError):
    """The error that this module's policy raises for any failure."""

    code = "spoken"


class Policy:
    """Treats a status of 400 or more as a failure."""

    def no_response(self, title: str, error: FetchFailed | FetchRefused | FetchUnknown) -> Spoken:
        return Spoken(f"{title}: {type(error).__name__}")

    def failure(self, title: str, method: str, response: JsonResponse) -> Spoken | None:
        return Spoken(f"{title}: {method} {response.status} {response.body}") if response.status >= 400 else None


@dataclass
class Fetching:
    """Responds with a fixed result, and records what was sent."""

    result: Fetched | Exception
    sent: dict[str, Any] = field(default_factory=dict)

    async def request(self, method: str, url: str, **sent: Any) -> Fetched:
        self.sent = {"method": method, "url": url, **sent}
        if isinstance(self.result, Exception):
            raise self.result
        return self.result


def respond_with(content: bytes = b"", status: int = 200, headers: Mapping[str, str] | None = None) -> Fetching:
    return Fetching(Fetched("https://a.example/", status, "application/json", content, headers or {}))


def ask(fetching: Any, **arguments: Any) -> JsonResponse:
    api = JsonApi("Example", Policy(), {"Authorization": "Bearer s"}, max_values=9)
    return asyncio.run(api.request(fetching, "POST", "https://a.example/x", **arguments))


def test_a_document_is_sent_as_json_with_the_headers_of_the_api() -> None:
    fetching = respond_with(b'{"id": 1}')
    response = ask(fetching, document={"title": "Käse"})
    assert (response.body, response.problem, response.size, response.empty) == ({"id": 1}, "", 9, False)
    assert fetching.sent["content"] == '{"title": "Käse"}'.encode()
    assert fetching.sent["headers"] == {
        "Accept": "application/json",
        "Authorization": "Bearer s",
        "Content-Type": "application/json",
    }


@pytest.mark.parametrize(
    ("content", "problem", "empty"),
    [
        (b"", "", True),
        (b" \n", "", True),
        (b"<html>", "returned something that is not JSON", False),
        (b"[[], [], [], [], [], [], [], [], []]", "returned more than 9 values", False),
    ],
)
def test_an_unreadable_response_reports_the_reason(content: bytes, problem: str, empty: bool) -> None:
    response = ask(respond_with(content))
    assert (response.body, response.problem, response.empty) == (None, problem, empty)


@pytest.mark.parametrize("error", [FetchFailed("away"), FetchRefused("no"), FetchUnknown("lost")])
def test_the_policy_decides_without_a_response(error: Exception) -> None:
    with pytest.raises(Spoken, match=f"Example: {type(error).__name__}"):
        ask(Fetching(error))


def test_the_policy_is_consulted_for_every_response() -> None:
    with pytest.raises(Spoken, match=r"Example: POST 422 \{'error': 'no'\}"):
        ask(respond_with(b'{"error": "no"}', 422))


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("7", 7),
        ("9999999999", 86_400),
        ("soon", None),
        ("", None),
        ("Mon, 01 Jan 2024 00:00:00 GMT", 0),
        ("Fri, 01 Jan 2100 00:00:00 GMT", 86_400),
    ],
)
def test_retry_after_is_read_in_both_forms(value: str, seconds: int | None) -> None:
    assert ask(respond_with(headers={"retry-after": value})).retry_after == seconds


def test_empty_query_parameters_are_omitted() -> None:
    assert with_query("https://a.example/x", {"a": "", "b": None}) == "https://a.example/x"
    assert with_query("https://a.example/x?y=1", {"a": [1, 2], "b": "ä"}) == "https://a.example/x?y=1&a=1&a=2&b=%C3%A4"
