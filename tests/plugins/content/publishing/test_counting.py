"""Quota counting: work counts once it starts; repeated calls and dry runs do not count."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import count
from typing import Any

import pytest
from pressroom.testing import RunningHost
from pressroom.testing.running import settings_for_test
from support.tool_client import ToolClient, client_of

YEAR = datetime.now(UTC).year + 1

CONFIG = {
    "builtin_plugins": False,
    "plugins": {"content": {}},
    "fetch": {"private_networks": ["127.0.0.0/8"]},
    "plans": {"free": {"quotas": {"articles_created": 4, "articles_published": 3}}},
}


_numbers = count(1)


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHost]:
    with RunningHost(settings_for_test(CONFIG, tmp_path_factory.mktemp("counting"))) as running:
        yield running


@pytest.fixture
def ada(host: RunningHost) -> ToolClient:
    """Return a client of an account that no other test uses."""
    return client_of(host, f"ada.{next(_numbers)}@example.com")


def used(client: ToolClient) -> dict[str, int]:
    return dict(client.host.run(client.host.host.accounts.quotas.used(client.user_id)))


def article(client: ToolClient, title: str, **fields: Any) -> str:
    content_id: str = client.data("create_content", title=title, body="Some text.", **fields)["content_id"]
    return content_id


def website(client: ToolClient, name: str) -> str:
    website_id: str = client.data("connect_website", platform="builtin", name=name)["website_id"]
    return website_id


def test_an_article_requested_twice_counts_once(ada: ToolClient) -> None:
    first = article(ada, "Tea", client_request_id="one")
    repeated = ada.call("create_content", title="Tea", body="Some text.", client_request_id="one")
    assert repeated["structuredContent"]["content_id"] == first
    assert repeated["content"][0]["text"].startswith("This call was made before, on 20")
    assert used(ada) == {"articles_created": 1}
    article(ada, "Tea", client_request_id="two")
    assert used(ada) == {"articles_created": 2}


def test_a_publication_is_counted_once_when_it_starts(ada: ToolClient) -> None:
    site, content_id = website(ada, "Tea"), article(ada, "Tea")
    assert ada.data("publish_content", content_id=content_id, website_id=site, dry_run=True)["status"] == "dry_run"
    assert used(ada)["articles_created"] == 1
    assert used(ada).get("articles_published", 0) == 0
    for _ in range(3):
        assert ada.data("publish_content", content_id=content_id, website_id=site)["status"] == "published"
    assert used(ada)["articles_published"] == 1


def test_a_dry_run_is_allowed_when_the_quota_is_used_up(ada: ToolClient) -> None:
    site = website(ada, "Tea")
    ids = [article(ada, f"Tea {number}") for number in range(4)]
    for content_id in ids[:3]:
        ada.data("publish_content", content_id=content_id, website_id=site)
    assert "articles_published" in ada.refusal("publish_content", content_id=ids[3], website_id=site)
    assert ada.data("publish_content", content_id=ids[3], website_id=site, dry_run=True)["status"] == "dry_run"
    assert used(ada)["articles_published"] == 3


def test_a_repeated_call_gets_its_result_when_the_quota_is_used_up(ada: ToolClient) -> None:
    site = website(ada, "Tea")
    ids = [article(ada, f"Tea {number}", client_request_id=f"article {number}") for number in range(4)]
    for number, content_id in enumerate(ids[:3]):
        request = f"publication {number}"
        ada.data("publish_content", content_id=content_id, website_id=site, client_request_id=request)
    assert "articles_created" in ada.refusal("create_content", title="Tea", body="x", client_request_id="another")
    assert article(ada, "Tea 3", client_request_id="article 3") == ids[3]
    published = {"content_id": ids[2], "website_id": site}
    repeated = ada.data("publish_content", **published, client_request_id="publication 2")
    assert repeated["status"] == "published"
    other = {"content_id": ids[3], "website_id": site, "client_request_id": "publication 2"}
    assert "with other values of content_id" in ada.refusal("publish_content", **other)
    assert used(ada) == {"articles_created": 4, "articles_published": 3}


def test_each_copy_counts_once_and_not_when_repeated(ada: ToolClient) -> None:
    site, copies, content_id = website(ada, "Tea"), [website(ada, f"Copy {n}") for n in range(2)], article(ada, "Tea")
    original = ada.data("publish_content", content_id=content_id, website_id=site)
    for _ in range(2):
        for other in copies:
            copy = ada.data(
                "publish_content",
                content_id=content_id,
                website_id=other,
                canonical_publication_id=original["publication_id"],
                mode="publish",
            )
            assert copy["status"] == "published"
            assert copy["verified"]["canonical"] == original["url"]
    assert used(ada)["articles_published"] == 3


def test_updates_reschedules_and_retries_are_allowed_when_the_quota_is_used_up(ada: ToolClient) -> None:
    site = website(ada, "Tea")
    ids = [article(ada, f"Tea {number}") for number in range(4)]
    for content_id in ids[:2]:
        ada.data("publish_content", content_id=content_id, website_id=site)
    planned = {"content_id": ids[2], "website_id": site}
    ada.data("publish_content", **planned, publish_at=f"{YEAR}-05-01T08:00:00Z")
    assert "articles_published" in ada.refusal("publish_content", content_id=ids[3], website_id=site)

    ada.data("update_content", content_id=ids[0], expected_version=1, fields={"title": "Green tea"})
    updated = ada.data("publish_content", content_id=ids[0], website_id=site)
    assert (updated["status"], updated["article_version"]) == ("published", 2)
    moved = ada.data("publish_content", **planned, publish_at=f"{YEAR}-06-01T08:00:00Z")
    assert (moved["status"], moved["publish_at"][:10]) == ("scheduled", f"{YEAR}-06-01")
    assert ada.data("publish_content", **planned, mode="draft")["status"] == "draft"
    assert ada.data("publish_content", **planned, mode="publish")["status"] == "published"
    assert used(ada)["articles_published"] == 3
