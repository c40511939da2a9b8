"""Scheduling a post on its platform: it is moved, cancelled, published, and optionally trashed and restored."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from pressroom.testing import RunningHost
from pressroom.testing.running import settings_for_test
from pressroom_content.websites.store import Websites

from support.content_client import client_of

State = Callable[[str], str]
"""Returns a post's state on the site by its id: draft, scheduled, live or trashed."""


def schedule_and_cancel(
    folder: Path, platform: str, url: str, credential: Mapping[str, str], state: State, *, trash: bool
) -> None:
    """Schedule, move, cancel and publish an article on a real site; with `trash`, also trash and restore it."""
    config = {"fetch": {"private_networks": ["127.0.0.0/8"]}, "plugins": {"content": {}, platform: {}}}
    with RunningHost(settings_for_test({"builtin_plugins": False, **config}, folder / "data")) as host:
        ada = client_of(host, "ada@example.com")
        website = host.run(Websites(ada.plugin).add(ada.user_id, platform, name="Blog", url=url, credential=credential))
        article = ada.data("create_content", title="Tea in the evening", body="Some words about tea.")
        pair = {"content_id": article["content_id"], "website_id": website.id}

        def published(**arguments: Any) -> dict[str, Any]:
            publication: dict[str, Any] = ada.data("publish_content", **pair, **arguments)
            assert not publication["error"], publication
            return publication

        publish_at = datetime.now(UTC).replace(microsecond=0) + timedelta(hours=2)
        post = published(publish_at=publish_at.isoformat())
        assert (post["status"], state(post["external_id"])) == ("scheduled", "scheduled")
        later = (publish_at + timedelta(days=1)).isoformat()
        moved = published(publish_at=later)
        assert datetime.fromisoformat(moved["publish_at"]) == datetime.fromisoformat(later)
        assert state(post["external_id"]) == "scheduled"

        assert published(mode="draft")["status"] == "draft"
        assert state(post["external_id"]) == "draft"
        assert published(publish_at=later)["status"] == "scheduled"
        ada.data("update_content", content_id=pair["content_id"], expected_version=1, fields={"title": "Tea at night"})
        saved = published(mode="draft")
        assert (saved["status"], saved["article_version"], state(post["external_id"])) == ("draft", 2, "draft")

        live = published(mode="publish")
        assert (live["status"], state(post["external_id"])) == ("published", "live")
        assert live["verified"]["title_found"] is True
        if trash:
            ada.data("unpublish_content", publication_id=post["publication_id"], mode="trash", confirm=True)
            assert state(post["external_id"]) == "trashed"
            back = published()
            assert (back["status"], back["url"], back["warnings"]) == ("published", live["url"], live["warnings"])
