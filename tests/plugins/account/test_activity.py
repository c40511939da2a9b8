"""The account's audit trail."""

from typing import Any

import pytest
from pressroom.testing import RunningHost
from support.tool_client import ToolClient, client_of


def events(client: ToolClient, **arguments: Any) -> list[dict[str, Any]]:
    """Return the listed calls after all pending ones are written."""
    client.host.run(client.host.host.pipeline.settle(10))
    client.host.run(client.host.host.accounts.activity_log.flush())
    activity: list[dict[str, Any]] = client.data("list_activity", **arguments)["events"]
    return activity


def test_it_lists_who_did_what(ada: ToolClient) -> None:
    ada.data("get_account_usage")
    ada.refusal("get_job", job_id="j_nothing")
    ada.refusal("count_words", text="not in the plan")
    refused, failed, succeeded = events(ada)
    assert [succeeded["tool"], failed["tool"], refused["tool"]] == ["get_account_usage", "get_job", "count_words"]
    assert [succeeded["outcome"], failed["outcome"], refused["outcome"]] == ["ok", "not_found", "forbidden"]
    assert (succeeded["client"], succeeded["connection_id"], succeeded["address"]) == (
        "laptop",
        ada.connection.id,
        "127.0.0.1",
    )
    assert succeeded["at"] <= failed["at"] <= refused["at"]


def test_a_generator_is_listed_by_its_mcp_name(ada: ToolClient) -> None:
    for _ in range(2):
        ada.data("generate_qr_code", text=ada.user_id)
    assert [(event["tool"], event["cached"]) for event in events(ada, tool="generate_qr_code")] == [
        ("generate_qr_code", True),
        ("generate_qr_code", False),
    ]


def test_results_are_paged(ada: ToolClient) -> None:
    for _ in range(5):
        ada.data("get_account_usage")
    newest = events(ada, tool="get_account_usage", limit=3)
    first = ada.data("list_activity", tool="get_account_usage", limit=3)
    second = ada.data("list_activity", tool="get_account_usage", limit=3, cursor=first["next_cursor"])
    assert first["events"] == newest
    assert (len(first["events"]), len(second["events"]), second["next_cursor"]) == (3, 2, None)
    exact = ada.data("list_activity", tool="get_account_usage", limit=5)
    assert (len(exact["events"]), exact["next_cursor"]) == (5, None)


def test_events_of_another_account_are_not_shown(host: RunningHost, ada: ToolClient, eve: ToolClient) -> None:
    eve.data("get_account_usage")
    assert {event["connection_id"] for event in events(ada)} <= {ada.connection.id}
    assert {event["connection_id"] for event in events(ada, cursor="9" * 18)} == {ada.connection.id}


def test_events_can_be_filtered_by_date(ada: ToolClient) -> None:
    ada.data("get_account_usage")
    assert [event["tool"] for event in events(ada, since="2020-01-01")] == ["get_account_usage"]
    assert events(ada, since="9999-12-31") == []
    assert ada.call("list_activity", since="9999-12-31")["content"][0]["text"] == "No calls match."


def test_events_can_be_filtered_by_website(ada: ToolClient) -> None:
    ada.data("get_account_usage")
    ada.data("list_activity", website_id="w_1")
    assert [(event["tool"], event["website_id"]) for event in events(ada, website_id="w_1")] == [
        ("list_activity", "w_1")
    ]


def test_a_revoked_connection_keeps_its_name(host: RunningHost, ada: ToolClient) -> None:
    email = host.run(host.host.accounts.users.get(ada.user_id)).email
    phone = client_of(host, email, "phone")
    phone.data("get_account_usage")
    host.run(host.host.accounts.connections.revoke(ada.user_id, phone.connection.id))
    assert [event["client"] for event in events(ada)] == ["phone"]


@pytest.mark.parametrize("cursor", ["x", "-1", "1.0", "٣", "1" * 19, " 1", "1e3"])
def test_an_invalid_cursor_is_refused(ada: ToolClient, cursor: str) -> None:
    assert "cursor: must be the next_cursor of an earlier result" in ada.refusal("list_activity", cursor=cursor)


@pytest.mark.parametrize(
    "arguments",
    [
        {"since": "yesterday!"},
        {"since": "2026-11-21T10:00:00Z"},
        {"since": "2026-02-30"},
        {"since": "2026-W01-1"},
        {"since": 5},
        {"limit": 0},
        {"limit": 201},
        {"tool": ""},
        {"user": "u_1"},
    ],
)
def test_invalid_arguments_are_named(ada: ToolClient, arguments: dict[str, Any]) -> None:
    assert next(iter(arguments)) in ada.refusal("list_activity", **arguments)


@pytest.mark.parametrize("since", ["yesterday", "2026-11-21T10:00:00Z", "2026-1-1", ""])
def test_an_error_shows_the_date_format(ada: ToolClient, since: str) -> None:
    assert "since: must be a day such as 2026-11-21" in ada.refusal("list_activity", since=since)
