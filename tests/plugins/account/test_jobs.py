"""The account's background jobs."""

from datetime import UTC, datetime
from typing import Any

import pytest
from pressroom.columns import new_id
from pressroom.storage.database.tables import JobRow
from pressroom.testing import RunningHost
from support.tool_client import ToolClient

NOW = datetime(2026, 11, 21, 1, 2, 3, tzinfo=UTC)


def job(host: RunningHost, user_id: str, **values: Any) -> str:
    """Insert a job of an account into the database, and return its ID."""
    id_ = new_id("j")
    state = {"state": "queued"} | values

    async def add() -> None:
        async with host.host.database.writing() as session:
            session.add(JobRow(**({"id": id_, "kind": "crawl", "subject": user_id, "created_at": NOW} | state)))

    host.run(add())
    return id_


def test_a_running_job_is_returned(host: RunningHost, ada: ToolClient) -> None:
    id_ = job(host, ada.user_id, state="running", progress=0.4, message="40 of 100 pages")
    assert ada.data("get_job", job_id=id_) == {
        "job_id": id_,
        "kind": "crawl",
        "status": "running",
        "progress": 0.4,
        "message": "40 of 100 pages",
        "result": None,
        "error": None,
        "created_at": "2026-11-21T01:02:03Z",
        "finished_at": None,
    }
    text = ada.call("get_job", job_id=id_)["content"][0]["text"]
    assert text == "crawl: running, 40%. 40 of 100 pages\nCall this again after a few seconds."


def test_a_successful_job_is_returned(host: RunningHost, ada: ToolClient) -> None:
    result = {"pages": 100, "worst": {"url": "https://a.example/ü", "redirects": True}}
    id_ = job(host, ada.user_id, state="succeeded", progress=1.0, result=result, finished_at=NOW)
    data = ada.data("get_job", job_id=id_)
    assert (data["result"], data["error"], data["finished_at"]) == (result, None, "2026-11-21T01:02:03Z")
    expected = 'crawl: succeeded.\npages: 100\nworst: {"url": "https://a.example/ü", "redirects": true}'
    assert ada.call("get_job", job_id=id_)["content"][0]["text"] == expected


def test_a_failed_job_is_returned(host: RunningHost, ada: ToolClient) -> None:
    id_ = job(host, ada.user_id, state="failed", message="the site does not respond", finished_at=NOW)
    data = ada.data("get_job", job_id=id_)
    assert (data["status"], data["error"], data["result"]) == ("failed", "the site does not respond", None)


def test_a_job_of_another_account_is_not_found(host: RunningHost, ada: ToolClient, eve: ToolClient) -> None:
    theirs = job(host, eve.user_id)
    refusal = ada.refusal("get_job", job_id=theirs)
    assert refusal.replace(theirs, "") == ada.refusal("get_job", job_id="j_nothing").replace("j_nothing", "")
    assert eve.data("get_job", job_id=theirs)["status"] == "queued"


@pytest.mark.parametrize("id_", ["j_unknown", "'; --", "é", "x" * 64])
def test_an_unknown_id_is_refused(ada: ToolClient, id_: str) -> None:
    assert "exactly as the tool that started the work returned it" in ada.refusal("get_job", job_id=id_)


@pytest.mark.parametrize("id_", ["", "x" * 65, 7, None])
def test_an_invalid_id_is_refused(ada: ToolClient, id_: Any) -> None:
    assert "job_id" in ada.refusal("get_job", job_id=id_)
