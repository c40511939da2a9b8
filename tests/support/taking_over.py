"""Take over, edit, merge and publish posts of a real website through the tools."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

from pressroom.testing import RunningHost
from pressroom.testing.running import settings_for_test
from pressroom_content.websites.store import Websites

from support.content_client import Client, client_of, content_of

SENTENCE: Final = "A plain sentence that is edited."
"""A sentence in a separate paragraph of every post, exactly once."""

NEW_SENTENCE: Final = "Another plain sentence."


class TheirSite(Protocol):
    """A website as its owner uses it directly, without this server."""

    url: str

    def write(self, number: int) -> str:
        """Create a post, distinct for each number, with `SENTENCE` in it, and return its URL."""

    def state(self, url: str) -> tuple[str, Mapping[str, Any]]:
        """Return the stored body of the post at a URL, and all its other relevant fields."""

    def replace(self, url: str, old: str, new: str) -> None:
        """Edit the body of the post at a URL."""

    def assert_replaced(self, before: str, now: str, old: str, new: str) -> None:
        """Check that only one sentence differs between two stored bodies."""


@dataclass(frozen=True, slots=True)
class TakeOver:
    """A client of an account with a connected website that has posts."""

    client: Client
    website: str
    site: TheirSite

    def publish(self, content_id: str, **arguments: Any) -> dict[str, Any]:
        return self.client.data("publish_content", content_id=content_id, website_id=self.website, **arguments)

    def edit(self, content_id: str, old: str, new: str) -> None:
        version = self.client.data("get_content", content_id=content_id)["content"]["version"]
        edits = [{"find": old, "replace": new}]
        self.client.data("update_content", content_id=content_id, expected_version=version, edits=edits)

    def append(self, content_id: str, paragraph: str) -> None:
        article = self.client.data("get_content", content_id=content_id)
        version, body = article["content"]["version"], f"{article['body'].rstrip()}\n\n{paragraph}\n"
        self.client.data("update_content", content_id=content_id, expected_version=version, fields={"body": body})


@contextmanager
def taking_over(
    folder: Path, platform: str, site: TheirSite, credential: Mapping[str, str], url: str
) -> Iterator[TakeOver]:
    """Yield a client on a server with a connected website."""
    config = {"fetch": {"private_networks": ["127.0.0.0/8"]}, "plugins": {"content": {}, platform: {}}}
    with RunningHost(settings_for_test({"builtin_plugins": False, **config}, folder / "data")) as host:
        client = client_of(host, "ada@example.com")
        website = host.run(
            Websites(content_of(host)).add(
                client.user_id, platform, name="Their site", url=url, credential=credential, finding=None
            )
        )
        yield TakeOver(client, website.id, site)


def keeps_every_byte(over: TakeOver, number: int) -> None:
    """Take over a post, publish it unchanged, then with one sentence changed: nothing else may change."""
    url = over.site.write(number)
    before = over.site.state(url)
    imported = over.client.data("import_content", url=url, website_id=over.website)
    assert imported["publication_id"], imported
    result = over.publish(imported["content_id"])
    assert (result["publication_id"], result["status"], result["conflict"]) == (
        imported["publication_id"],
        "published",
        None,
    )
    assert over.site.state(url) == before

    body = over.client.data("get_content", content_id=imported["content_id"])["body"]
    if SENTENCE in body:
        over.edit(imported["content_id"], SENTENCE, NEW_SENTENCE)
    else:  # the sentence is in a preserved block, so append a paragraph instead
        assert "it stays as it is on the website" in body
        over.append(imported["content_id"], NEW_SENTENCE)
    result = over.publish(imported["content_id"])
    assert (result["status"], result["conflict"], result["error"]) == ("published", None, "")
    raw, others = over.site.state(url)
    assert others == before[1]
    if SENTENCE in body:
        over.site.assert_replaced(before[0], raw, SENTENCE, NEW_SENTENCE)
    else:
        assert raw.startswith(before[0].rstrip())
        assert NEW_SENTENCE in raw


def merges_edits(over: TakeOver, number: int) -> None:
    """Edit a post on both sides: conflicting changes require a choice, everything else is merged."""
    url = over.site.write(number)
    imported = over.client.data("import_content", url=url, website_id=over.website)
    over.edit(imported["content_id"], SENTENCE, "Words of the article.")
    over.site.replace(url, SENTENCE, "Words of the site.")
    result = over.publish(imported["content_id"])
    assert "Words of the site." in result["conflict"]
    publication = imported["publication_id"]
    merge = over.client.data("merge_site_edits", publication_id=publication)
    assert [row["key"] for row in merge["conflicts"]] == ["1"]
    assert "Words of the site." in merge["conflicts"][0]["site"]
    assert merge["version"] is None
    merged = over.client.data("merge_site_edits", publication_id=publication, choices={"1": "both"})
    assert merged["conflicts"] == []
    result = over.publish(imported["content_id"])
    assert (result["status"], result["conflict"], result["error"]) == ("published", None, "")
    raw, _ = over.site.state(url)
    assert "Words of the site." in raw
    assert "Words of the article." in raw
