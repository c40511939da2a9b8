"""Restoring a real website's backup: posts disappear or revert, and their ids can be reused for others' posts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from support.taking_over import SENTENCE, TakeOver

TITLES: Final = ("Kept by the backup", "Lost with the disk", "Ours before")


@dataclass(frozen=True, slots=True)
class Restorable:
    """A real website. `back_up` takes a backup and returns a function that restores it.

    `bodies` are the bodies of its posts titled as in `TITLES`, by title, as its owner sees them.
    """

    over: TakeOver
    back_up: Callable[[], Callable[[], None]]
    bodies: Callable[[], Mapping[str, str]]

    def write(self, title: str, body: str) -> str:
        """Write an article, publish it, and return its id."""
        content_id = str(self.over.client.data("create_content", title=title, body=body)["content_id"])
        assert self.publish(content_id)["status"] == "published"
        return content_id

    def publish(self, content_id: str, **arguments: Any) -> dict[str, Any]:
        return self.over.publish(content_id, **arguments)


def keeps_what_is_theirs(site: Restorable) -> None:
    """Publish, restore an earlier backup, and publish again: lost posts are created exactly once."""
    over = site.over
    url = over.site.write(0)
    imported = over.client.data("import_content", url=url, website_id=over.website)["content_id"]
    old = site.write("Kept by the backup", "First words.")
    restore = site.back_up()
    over.edit(old, "First words.", "Second words.")
    over.edit(imported, SENTENCE, "Better words.")
    assert [site.publish(content_id)["status"] for content_id in (old, imported)] == ["published", "published"]
    new = site.write("Lost with the disk", "One and only words.")

    restore()
    assert "Lost with the disk" not in site.bodies()
    assert SENTENCE in over.site.state(url)[0]

    for number in (1, 2):
        over.edit(new, "only words", f"only words, {number}")
        assert site.publish(new)["error"] == ""
    assert "only words, 2, 1" in site.bodies()["Lost with the disk"]
    for content_id, before, after in (
        (old, "Second words.", "Third words."),
        (imported, "Better words.", "Best words."),
    ):
        over.edit(content_id, before, after)
        result = site.publish(content_id)
        assert result["conflict"], result
    assert "First words." in site.bodies()["Kept by the backup"]
    assert SENTENCE in over.site.state(url)[0]
    for content_id in (old, imported):
        assert site.publish(content_id, force=True)["error"] == ""
    assert "Third words." in site.bodies()["Kept by the backup"]
    assert "Best words." in over.site.state(url)[0]


def leaves_others_their_ids(site: Restorable, make: Callable[[str], str], identifier: Callable[[str], str]) -> None:
    """Restore the site, let its owner write a post that gets our post's id, and publish: their post is unchanged.

    `make` creates a post with a title as the site's owner and returns its URL, `identifier` returns the id of the post
    at a URL.
    """
    restore = site.back_up()
    ours = site.write("Ours before", "Words of ours.")
    [row] = site.over.client.data("list_publications", content_id=ours)["publications"]
    restore()
    theirs = make("A recipe")
    assert identifier(theirs) == row["external_id"]
    before = site.over.site.state(theirs)

    site.over.edit(ours, "Words of ours.", "More words of ours.")
    pair = {"content_id": ours, "website_id": site.over.website}
    for force in (False, True):
        assert "unpublish_content" in site.over.client.refusal("publish_content", **pair, force=force)
    arguments = {"publication_id": row["publication_id"], "mode": "delete", "confirm": True}
    down = site.over.client.call("unpublish_content", **arguments)
    assert "A recipe" in down["content"][0]["text"]
    assert site.over.site.state(theirs) == before
    assert site.publish(ours)["error"] == ""
    assert site.over.site.state(theirs) == before
    assert "More words of ours." in site.bodies()["Ours before"]
