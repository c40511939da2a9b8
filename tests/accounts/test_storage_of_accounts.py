"""Storage quotas: an account cannot fill the disk."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from itertools import count, cycle
from typing import Any

import httpx
import pytest
from pressroom.accounts.quotas import AccountStorage
from pressroom.host.loaded_app import LoadedApp
from pressroom.interfaces.dashboard.views import storage_meter
from pressroom.sdk import QuotaExceeded
from pressroom.storage.database import SqlDatabase
from pressroom.testing import RunningHost
from pressroom.testing.running import settings_for_test
from pressroom_content.articles import exporting
from pressroom_content.articles.fields import Draft
from pressroom_content.articles.store import Articles
from pressroom_content.tables import ExportRow
from sqlalchemy import func, select
from support import databases
from support.content_client import Client, client_of, content_of

_numbers = count(1)
STORAGE = 300_000


@pytest.fixture(scope="module", params=databases.KINDS)
def host(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHost]:
    """Return a host whose plan includes 300 kB of storage."""
    folder = tmp_path_factory.mktemp("storage")
    with databases.database_config(request.param, folder) as storage:
        config: dict[str, Any] = {
            "plugins": {"content": {}, "account": {}, "images": {}},
            "plans": {"free": {"title": "Free", "storage": "300KB"}},
            "accounts": {"connections": 1000},
            "storage": storage,
        }
        settings = settings_for_test(config, folder)
        if request.param == "postgresql":
            asyncio.run(_migrate(LoadedApp(settings)))
        with RunningHost(settings) as running:
            yield running


async def _migrate(compiled: LoadedApp) -> None:
    database = SqlDatabase(compiled.settings)
    await database.open()
    try:
        await compiled.migrator(database).migrate()
    finally:
        await database.close()


@pytest.fixture
def bob(host: RunningHost) -> Client:
    return client_of(host, f"bob.{next(_numbers)}@example.com")


def test_a_new_export_replaces_the_previous_one_of_its_format(host: RunningHost, bob: Client) -> None:
    bob.data("create_content", title="Large", body="word " * 2_000)
    links = [bob.data("export_content", format="json")["download_url"] for _ in range(4)]
    assert _exports(host, bob) == 1
    assert [httpx.get(link).status_code for link in links] == [404, 404, 404, 200]
    bob.data("export_content", format="markdown")
    assert _exports(host, bob) == 2, "one of each format"


def test_concurrent_exports_leave_one_per_format(host: RunningHost, bob: Client) -> None:
    bob.data("create_content", title="Small", body="A few words.")
    plugin = content_of(host)

    async def many() -> None:
        export = exporting.export
        await asyncio.gather(
            *(export(plugin, bob.user_id, "json", website_id=None, content_ids=None) for _ in range(8))
        )

    host.run(many())
    assert _exports(host, bob) == 1


# 20 kB, and again as much for the version. A few long words cost the server less time than many short ones.
BODY = f"{'word' * 250}\n" * 20


def fill(client: Client) -> list[str]:
    """Create articles until storage is full, and return their IDs."""
    ids: list[str] = []
    for number in range(20):
        result = client.call("create_content", title=f"Article {number}", body=BODY)
        if result.get("isError"):
            return ids
        ids.append(result["structuredContent"]["content_id"])
    raise AssertionError("nothing bounds what an account stores")


def test_articles_beyond_the_plans_storage_are_refused(bob: Client) -> None:
    ids = fill(bob)
    assert len(ids) == 7
    message = bob.refusal("create_content", title="One more", body=BODY)
    assert "282.4 kB of 300 kB" in message
    assert "articles with their versions 282.4 kB" in message
    assert "delete articles with delete_content" in message
    assert "Article 0" in str(bob.data("get_content", content_id=ids[0])), "what is there can be read"
    bob.data("create_content", title="Small", body="A few words.")


def test_versions_count_towards_the_storage_limit(bob: Client) -> None:
    article = bob.data("create_content", title="Large", body=BODY)
    message = ""
    for number in range(2, 20):
        fields = {"body": BODY + f"{number}"}
        result = bob.call(
            "update_content", content_id=article["content_id"], expected_version=number - 1, fields=fields
        )
        if result.get("isError"):
            message = str(result["content"])
            break
    assert "storage is full" in message
    assert number == 14


def test_usage_shows_storage_by_kind(bob: Client) -> None:
    bob.data("create_content", title="Large", body=BODY)
    bob.data("export_content", format="json")
    storage = bob.data("get_account_usage")["storage"]
    assert storage["limit_bytes"] == STORAGE
    assert 40_000 < storage["kinds"]["articles"]["bytes"] < 41_000
    assert 20_000 < storage["kinds"]["exports"]["bytes"] < 21_000
    assert storage["kinds"]["images"]["bytes"] == 0
    assert storage["used_bytes"] == sum(kind["bytes"] for kind in storage["kinds"].values())
    assert storage["left_bytes"] == STORAGE - storage["used_bytes"]


def test_the_dashboard_shows_storage_by_kind(host: RunningHost, bob: Client) -> None:
    fill(bob)
    meter = storage_meter(host.run(host.host.accounts.stored.storage(bob.user_id)))
    assert (meter.title, meter.count, meter.state) == ("Storage", "282.4 kB of 300 kB", "low")
    assert meter.note == "articles with their versions 282.4 kB"


def test_deleting_frees_storage(bob: Client) -> None:
    ids = fill(bob)
    bob.data("delete_content", confirm=True, content_id=ids[0])
    bob.data("restore_content", content_id=ids[0])
    bob.refusal("create_content", title="One more", body=BODY)
    bob.data("delete_content", confirm=True, content_id=ids[0])
    bob.data("create_content", title="One more", body=BODY)
    assert "no article" in bob.refusal("get_content", content_id=ids[0]), "the trash gives way"
    bob.refusal("create_content", title="Two more", body=BODY)


def test_exports_still_work_when_storage_is_full(bob: Client) -> None:
    ids = fill(bob)
    for form in ("json", "markdown", "wxr"):
        bob.data("export_content", format=form, content_ids=ids[:1])
    bob.data("create_content", title="Small", body="A few words.")


def test_concurrent_creations_cannot_exceed_the_storage_limit(host: RunningHost, bob: Client) -> None:
    fill(bob)
    ids = bob.data("list_content")["items"]
    bob.data("delete_content", confirm=True, content_id=ids[0]["content_id"])
    plugin = content_of(host)

    async def many() -> list[Any]:
        drafts = [Draft(title=f"At once {number}", body=BODY) for number in range(6)]
        writing = [Articles(plugin).create(bob.user_id, draft) for draft in drafts]
        return await asyncio.gather(*writing, return_exceptions=True)

    results = host.run(many())
    assert sum(not isinstance(result, BaseException) for result in results) == 1
    assert sum(isinstance(result, QuotaExceeded) for result in results) == 5


def test_writing_through_several_hosts_cannot_exceed_the_storage_limit(
    host: RunningHost, bob: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    local_storage = host.host.accounts.stored
    hosts = [local_storage, *(AccountStorage(host.host.settings, host.host.database) for _ in range(3))]
    for other in hosts[1:]:
        other.know_kinds(host.host.compiled.storage_kinds)
    turns = cycle([storage.reserve for storage in hosts])

    async def reserve(session: Any, subject: str, size: int) -> None:
        await next(turns)(session, subject, size)

    monkeypatch.setattr(local_storage, "reserve", reserve)

    async def until_refused() -> None:
        for number in range(1000):
            draft = Draft(title=f"Number {number}", body="a " * 500)
            await Articles(content_of(host)).create(bob.user_id, draft)

    with pytest.raises(QuotaExceeded):
        host.run(until_refused())
    used = host.run(local_storage.storage(bob.user_id)).used
    assert STORAGE * 29 / 30 < used <= STORAGE * (1 + 3 / 64)


def test_storage_of_another_account_does_not_count(host: RunningHost, bob: Client) -> None:
    fill(bob)
    eve = client_of(host, f"eve.{next(_numbers)}@example.com")
    eve.data("create_content", title="Mine", body=BODY)


def test_exports_are_rate_limited(bob: Client) -> None:
    bob.data("create_content", title="Small", body="A few words.")
    results = [bob.call("export_content", format="wxr") for _ in range(31)]
    assert "the limit of 30 per minute is used up" in str(results[-1])


def _exports(host: RunningHost, client: Client) -> int:
    async def counted() -> int:
        async with host.host.database.reading() as session:
            statement = select(func.count()).select_from(ExportRow).where(ExportRow.user_id == client.user_id)
            return int(await session.scalar(statement) or 0)

    return int(host.run(counted()))
