"""The access that a person grants a client: the fields of the consent page, and what plugins list under publishing."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

import pytest
from pressroom.accounts.records import AccessChoice, Connection
from pressroom.errors import InvalidInput
from pressroom.http import access_form
from pressroom.http.access_form import level_options, publishing_targets, read_choice
from pressroom.plugins.contributions import Contribution, Contributions
from pressroom.sdk import PublishingTargets
from pressroom.sdk.declaration import ALL, CORE
from pressroom.testing import RunningHost
from support.oauth import Flow, Person

Names = Callable[[str], Awaitable[Iterable[str]]]


def connection(host: RunningHost, person: Person) -> Connection:
    [connection] = host.run(host.host.accounts.connections.list(person.id))
    return connection


@pytest.mark.parametrize("access", ["read", "drafts", "publish", "full"])
def test_the_chosen_access_is_stored_for_the_connection(
    host: RunningHost, flow: Flow, person: Person, access: str
) -> None:
    assert flow.decide(chosen={"access": access}).status_code == 303
    assert connection(host, person).choice == AccessChoice(access, None)  # type: ignore[arg-type]


def test_without_a_choice_the_client_may_write_drafts(host: RunningHost, flow: Flow, person: Person) -> None:
    assert flow.decide().status_code == 303
    assert connection(host, person).choice == AccessChoice("drafts", None)


@pytest.mark.parametrize("chosen", [{"access": "superuser"}, {"shown_set": "Core!"}, {"set": "all"}])
def test_an_invalid_choice_is_refused_and_connects_nothing(
    host: RunningHost, flow: Flow, person: Person, chosen: dict[str, str | list[str]]
) -> None:
    assert flow.decide(chosen=chosen).status_code == 400
    assert host.run(host.host.accounts.connections.list(person.id)) == []


def test_a_denied_client_gets_nothing_whatever_is_chosen(host: RunningHost, flow: Flow, person: Person) -> None:
    assert flow.decide("deny", chosen={"access": "full"}).status_code == 303
    assert host.run(host.host.accounts.connections.list(person.id)) == []


def test_a_read_only_client_cannot_write(host: RunningHost, flow: Flow, person: Person) -> None:
    code = flow.decide(chosen={"access": "read"}).headers["location"].partition("code=")[2].partition("&")[0]
    token = flow.exchange(code).json()["access_token"]
    call = {"name": "create_content", "arguments": {"title": "A title", "body": "A text."}}
    headers = {"Authorization": f"Bearer {token}", "Accept": "application/json, text/event-stream"}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    result = flow.http.post("/api/mcp", json=message, headers=headers).json()["result"]
    assert result["isError"]
    text = result["content"][0]["text"]
    assert "'Read only'" in text
    assert text.endswith(f"/dashboard/connections/{connection(host, person).id}")


@pytest.mark.parametrize(
    ("fields", "current", "expected"),
    [
        ({}, AccessChoice("read", frozenset({"seo"})), AccessChoice("read", frozenset({"seo"}))),
        ({"access": ["full"]}, AccessChoice("read", None), AccessChoice("full", None)),
        # Choosing the default, or nothing, keeps the server's default.
        ({"shown_set": ["core", "seo"], "set": ["core"]}, AccessChoice(), AccessChoice()),
        ({"shown_set": ["core", "seo"]}, AccessChoice("full", frozenset({"seo"})), AccessChoice()),
        ({"shown_set": ["core", "seo"], "set": ["seo"]}, AccessChoice(), AccessChoice("full", frozenset({"seo"}))),
        # A toolset that the form did not show keeps its state; one that it did not offer cannot be chosen.
        (
            {"shown_set": ["core"], "set": ["core"]},
            AccessChoice("full", frozenset({"gone"})),
            AccessChoice("full", frozenset({"core", "gone"})),
        ),
        ({"shown_set": ["core"], "set": ["core", "seo"]}, AccessChoice(), AccessChoice()),
    ],
)
def test_a_form_changes_only_its_own_fields(
    fields: dict[str, list[str]], current: AccessChoice, expected: AccessChoice
) -> None:
    assert read_choice(fields, current, frozenset({CORE})) == expected


def test_all_toolsets_are_the_default_where_every_tool_is_listed() -> None:
    every = {"shown_set": ["core", "seo"], "set": ["core", "seo"]}
    assert read_choice(every, AccessChoice(), frozenset({ALL})) == AccessChoice()
    only_core = {"shown_set": ["core", "seo"], "set": ["core"]}
    assert read_choice(only_core, AccessChoice(), frozenset({ALL})) == AccessChoice("full", frozenset({CORE}))


def test_an_unknown_access_level_is_refused_with_the_valid_ones() -> None:
    with pytest.raises(InvalidInput, match="read, drafts, publish, full"):
        read_choice({"access": ["root"]}, AccessChoice(), frozenset({CORE}))


def list_targets(*providers: Names) -> list[str]:
    records = [
        Contribution(f"plugin_{number}", PublishingTargets("targets", names)) for number, names in enumerate(providers)
    ]
    return asyncio.run(publishing_targets(Contributions(records), "u_1"))


async def blogs(subject: str) -> list[str]:
    return [f"{subject}.example", "blog.example"]


async def broken(_subject: str) -> list[str]:
    raise RuntimeError("it fails")


async def odd(_subject: str) -> Any:
    return ["line\nbreak \u202e.example", "", "x" * 200]


async def endless(_subject: str) -> list[str]:
    await asyncio.Event().wait()
    return []


def test_publishing_destinations_of_all_plugins_are_listed() -> None:
    assert list_targets(blogs, blogs) == ["u_1.example", "blog.example"]


def test_a_failing_plugin_loses_only_its_own_names() -> None:
    assert list_targets(broken, blogs) == ["u_1.example", "blog.example"]


def test_a_plugin_that_never_returns_does_not_delay_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access_form, "TARGETS_SECONDS", 1.0)
    assert list_targets(blogs, endless) == ["u_1.example", "blog.example"]


def test_names_are_single_line_and_printable() -> None:
    broken_line, long = list_targets(odd)
    assert broken_line == "line\\nbreak \\u202e.example"
    assert len(long) <= 60


@pytest.mark.parametrize(
    ("count", "ending"),
    [
        (0, "on your live websites."),
        (1, "websites: site0.example."),
        (2, "websites: site0.example and site1.example."),
        (5, "site3.example and site4.example."),
        (8, "site4.example and 3 more."),
        (100, "site4.example and many more."),
    ],
)
def test_long_lists_of_websites_are_shortened(host: RunningHost, count: int, ending: str) -> None:
    plan = host.host.compiled.catalog.plans["free"]
    options = level_options(plan, "read", [f"site{number}.example" for number in range(count)])
    assert options[2].description.endswith(ending)
    assert [option.chosen for option in options] == [True, False, False, False]
