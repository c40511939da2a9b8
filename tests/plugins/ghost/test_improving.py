"""Existing posts on a real Ghost are adopted through the tools, improved, and published again."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from support.ghost import Ghost
from support.sizes import rounds
from support.taking_over import SENTENCE, TakeOver, keeps_every_byte, merges_edits, taking_over

from .test_lexical import block, words
from .test_taking_over import BLOCKS, UNCHANGED, Owner, various

pytestmark = pytest.mark.timeout(3600)  # the first test on a machine installs Ghost

POSTS = rounds("PRESSROOM_TEST_TAKEN_OVER", 4, soak=200)


class TheirGhost:
    """A Ghost from its owner's point of view."""

    def __init__(self, blog: Ghost) -> None:
        self.url = blog.url
        self.owner = Owner(blog)
        self._ids: dict[str, tuple[str, str]] = {}

    def write(self, number: int) -> str:
        resource = "pages" if number % 7 == 6 else "posts"
        fields = various(number) | {"visibility": "public"}
        blocks = [BLOCKS[(number * 5 + at * 11) % len(BLOCKS)] for at in range(number % 6)]
        blocks.insert(number % (len(blocks) + 1), block("paragraph", words(SENTENCE)))
        return self.make(resource, **fields | {"blocks": blocks})

    def make(self, resource: str, **fields: Any) -> str:
        """Publish a post or a page, and return its URL."""
        row = self.owner.write(resource=resource, **fields)
        self._ids[row["url"]] = (resource, row["id"])
        return str(row["url"])

    def state(self, url: str) -> tuple[str, Mapping[str, Any]]:
        resource, identifier = self._ids[url]
        row = self.owner.read(identifier, resource)
        return row["lexical"], {name: row.get(name) for name in UNCHANGED if name not in ("lexical", "html")}

    def replace(self, url: str, old: str, new: str) -> None:
        resource, identifier = self._ids[url]
        row = self.owner.read(identifier, resource)
        assert old in row["lexical"]
        changed = {"lexical": row["lexical"].replace(old, new), "updated_at": row["updated_at"]}
        self.owner.send("PUT", f"/{resource}/{identifier}/", {resource: [changed]})

    def assert_replaced(self, before: str, now: str, old: str, new: str) -> None:
        assert json.loads(now) == json.loads(before.replace(old, new))


@pytest.fixture(scope="module")
def over(blog: Ghost, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TakeOver]:
    folder = tmp_path_factory.mktemp("improving")
    with taking_over(folder, "ghost", TheirGhost(blog), {"admin_api_key": blog.admin_key}, blog.url) as ready:
        yield ready


@pytest.mark.parametrize("number", range(POSTS))
def test_only_the_edited_sentence_changes(over: TakeOver, number: int) -> None:
    keeps_every_byte(over, number)


@pytest.mark.parametrize("number", [POSTS, POSTS + 1])
def test_edits_on_both_sides_are_merged(over: TakeOver, number: int) -> None:
    merges_edits(over, number)
