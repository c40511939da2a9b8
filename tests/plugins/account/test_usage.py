"""The account's quotas and usage."""

from datetime import UTC, datetime

from pressroom.accounts.quotas import next_month
from pressroom.testing import RunningHost
from support.tool_client import ToolClient, client_of


def test_a_new_account_has_no_usage(ada: ToolClient) -> None:
    data = ada.data("get_account_usage")
    resets_at = next_month(datetime.now(UTC)).isoformat().replace("+00:00", "Z")
    assert (data["plan"], data["plan_title"], data["connections"]) == ("free", "Free", 1)
    assert data["usage"] == {"images_generated": {"used": 0, "limit": 2, "left": 2, "resets_at": resets_at}}


def test_images_are_counted_unless_they_are_cached(ada: ToolClient) -> None:
    for text in ("one", "two", "one"):
        ada.data("generate_qr_code", text=f"{ada.user_id} {text}")
    assert ada.data("get_account_usage")["usage"]["images_generated"]["left"] == 0
    reset_at = next_month(datetime.now(UTC))
    refusal = ada.refusal("generate_qr_code", text=f"{ada.user_id} three")
    assert "includes 2 images_generated a month, and all of them are used" in refusal
    assert f"{reset_at:%Y-%m-%d}" in refusal
    ada.data("generate_qr_code", text=f"{ada.user_id} one")
    text = ada.call("get_account_usage")["content"][0]["text"]
    assert f"images_generated: 2 of 2 used, 0 left until {reset_at:%Y-%m-%d} (UTC)." in text


def test_a_failed_call_is_not_counted(ada: ToolClient) -> None:
    ada.refusal("generate_qr_code", text="é" * 1000, errorCorrection="H")
    assert ada.data("get_account_usage")["usage"]["images_generated"]["used"] == 0


def test_it_explains_why_tools_are_missing(host: RunningHost, ada: ToolClient) -> None:
    accounts = host.host.accounts
    host.run(accounts.connections.set_disabled_tools(ada.user_id, ada.connection.id, ["get_job", "no_such_tool"]))
    groups = ada.data("get_account_usage")["hidden_tools"]
    hidden = {name: group["reason"] for group in groups for name in group["tools"]}
    assert len({group["reason"] for group in groups}) == len(groups)
    assert hidden["count_words"] == "in the plans Professional, Team"
    assert hidden["get_job"].startswith("switched off for this connection; the user can switch them on at http")
    assert hidden["get_job"].endswith(f"/dashboard/connections/{ada.connection.id}")
    assert "no_such_tool" not in hidden
    text = ada.call("get_account_usage")["content"][0]["text"]
    [line] = [line for line in text.splitlines() if line.endswith(": in the plans Professional, Team")]
    assert "count_words" in line


def test_a_hidden_tool_is_refused_with_the_reason(host: RunningHost, ada: ToolClient) -> None:
    refusal = ada.refusal("count_words", text="one two")
    assert refusal.startswith("count_words is not in the plan Free; it is in Professional and Team")
    host.run(host.host.accounts.connections.set_disabled_tools(ada.user_id, ada.connection.id, ["get_job"]))
    refusal = ada.refusal("get_job", job_id="j_1")
    assert "get_job is switched off for the connection 'laptop'" in refusal
    assert refusal.count("/dashboard/connections/") == 1


def test_a_disabled_tool_is_disabled_for_one_connection_only(host: RunningHost, ada: ToolClient) -> None:
    email = host.run(host.host.accounts.users.get(ada.user_id)).email
    second = client_of(host, email, "phone")
    host.run(host.host.accounts.connections.set_disabled_tools(ada.user_id, ada.connection.id, ["get_account_usage"]))
    ada.refusal("get_account_usage")
    assert second.data("get_account_usage")["connections"] == 2


def test_a_plan_change_applies_immediately(host: RunningHost, ada: ToolClient) -> None:
    ada.refusal("count_words", text="one two")
    host.run(host.host.accounts.users.set_plan(ada.user_id, "pro"))
    assert ada.data("count_words", text="one two") == {"words": 2}
    data = ada.data("get_account_usage")
    assert (data["plan_title"], data["hidden_tools"]) == ("Professional", [])
    assert data["usage"]["images_generated"]["limit"] is None
