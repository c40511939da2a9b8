"""Owners' edits of a post on its website, as an AI client sees them."""

from __future__ import annotations

import pytest
from pressroom_content.websites.store import Websites
from support.standin_platform import TOKEN, StandInPlatform
from support.standin_plugin import BLOCKS

from ..conftest import Client  # noqa: TID252 - the client of the whole plugin

LIMIT = 20_000
ADDED = 4 * LIMIT


@pytest.mark.parametrize("line", ["Some words about tea and cups.", "Tea " * (ADDED // 4)])
def test_a_truncated_diff_is_marked(ada: Client, platform: StandInPlatform, line: str) -> None:
    platform.posts["old"] = {
        "id": "old", "slug": "old", "title": "Old", "html": "<p>One</p>\n\n<p>Two</p>", "state": "live", "revision": 1,
        "featured": None, "marker": "", "tags": [], "categories": [],
    }  # fmt: skip
    connecting = Websites(ada.plugin).add(
        ada.user_id, BLOCKS, name="Blocks", url=platform.url, credential={"token": TOKEN}
    )
    website = ada.host.run(connecting).id
    imported = ada.data("import_content", url=f"{platform.url}/old", website_id=website)
    arguments = {"publication_id": imported["publication_id"], "dry_run": True}

    platform.edit("old", html="<p>One</p>\n\n<p>Two</p>\n\n<p>Three</p>")
    short = ada.data("merge_site_edits", **arguments)["diff"]
    assert ("+Three" in short, "cut" in short) == (True, False)

    added = "".join(f"\n\n<p>{number} {line}</p>" for number in range(ADDED // len(line)))
    platform.edit("old", html=f"<p>One</p>\n\n<p>Two</p>{added}")
    result = ada.call("merge_site_edits", **arguments)
    diff = result["structuredContent"]["diff"]
    visible, _, last = diff.rpartition("\n")
    assert LIMIT / 2 < len(visible) <= LIMIT
    assert last.startswith("… the diff is cut here: ")
    assert last.endswith(" more characters; a merge takes in all of them, and get_content shows the article then")
    missing = int(last.split(": ")[1].split()[0].replace(",", ""))
    assert len(visible) + missing >= ADDED - len(line)
    assert last in result["content"][0]["text"]

    merged = ada.data("merge_site_edits", publication_id=imported["publication_id"])
    assert (merged["version"], merged["diff"]) == (2, diff)
