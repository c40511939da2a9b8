"""Existing posts on a real WordPress are adopted through the tools, improved, and published again."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from support.sizes import rounds
from support.taking_over import NEW_SENTENCE, SENTENCE, TakeOver, keeps_every_byte, merges_edits, taking_over
from support.wordpress import WordPress

from .test_taken_over import BLOCKS, CLASSIC, SEPARATORS

pytestmark = pytest.mark.timeout(3600)  # the first test on a machine downloads WordPress

POSTS = rounds("PRESSROOM_TEST_TAKEN_OVER", 4, soak=200)
SHORTCODES = rounds("PRESSROOM_TEST_SHORTCODES", 100_000, soak=4_800_000)
"""Length of the shortcodes in one body, in characters."""


class TheirWordPress:
    """A WordPress from its owner's point of view."""

    def __init__(self, blog: WordPress) -> None:
        self.url = blog.url
        self.blog = blog
        self._ids: dict[str, str] = {}

    def write(self, number: int) -> str:
        dice = random.Random(number)
        classic = number % 2 == 0
        path = "pages" if number % 7 == 6 else "posts"
        sentence = SENTENCE if classic else f"<!-- wp:paragraph -->\n<p>{SENTENCE}</p>\n<!-- /wp:paragraph -->"
        known = CLASSIC if classic else BLOCKS
        if number >= POSTS:  # both sides edit the sentence, so no unclosed block may extend over it
            known = [piece for piece in known if "never closed" not in piece and "missing" not in piece]
        pieces = [dice.choice(known) for _ in range(dice.randint(1, 7))]
        pieces.insert(dice.randint(0, len(pieces)), sentence)
        gap = "\n\n" if classic else dice.choice(["\n\n", "\n", ""])
        content = gap.join(pieces) + dice.choice(SEPARATORS)
        fields = {
            "title": f"Improved {number}",
            "slug": f"improved-{path}-{number}",
            "content": content,
            "excerpt": "Theirs" if number % 3 else "",
            "date_gmt": f"2021-03-0{number % 9 + 1}T04:05:06",
        }
        return self.make(path, commented=number % 3 == 0 and path == "posts", **fields)

    def make(self, path: str, *, commented: bool = True, **fields: object) -> str:
        """Publish a post or a page, and return its URL."""
        values = {"status": "publish", **fields}
        row = self.blog.send("POST", f"/wp/v2/{path}?context=edit", values).raise_for_status().json()
        self._ids[row["link"]] = f"/wp/v2/{path}/{row['id']}"
        if commented:
            comment = {"post": row["id"], "content": f"Comment {row['id']}"}
            self.blog.send("POST", "/wp/v2/comments", comment).raise_for_status()
        return str(row["link"])

    def state(self, url: str) -> tuple[str, Mapping[str, Any]]:
        row = self.blog.get(self._ids[url], context="edit").raise_for_status().json()
        names = ("id", "date_gmt", "author", "slug", "link", "status", "featured_media", "tags", "categories", "meta")
        comments = self.blog.get("/wp/v2/comments", post=row["id"]).headers["x-wp-total"]
        fields = {name: row.get(name) for name in names} | {name: row[name]["raw"] for name in ("title", "excerpt")}
        return row["content"]["raw"], fields | {"comments": comments}

    def replace(self, url: str, old: str, new: str) -> None:
        raw, _ = self.state(url)
        assert old in raw
        self.blog.send("POST", self._ids[url], {"content": raw.replace(old, new)}).raise_for_status()

    def assert_replaced(self, before: str, now: str, old: str, new: str) -> None:
        assert now == before.replace(old, new)


@pytest.fixture(scope="module")
def over(blog: WordPress, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TakeOver]:
    credential = {"username": "admin", "application_password": blog.passwords["admin"]}
    folder = tmp_path_factory.mktemp("improving")
    with taking_over(folder, "wordpress", TheirWordPress(blog), credential, blog.url) as ready:
        yield ready


@pytest.mark.parametrize("number", range(POSTS))
def test_only_the_edited_sentence_changes(over: TakeOver, number: int) -> None:
    keeps_every_byte(over, number)


@pytest.mark.parametrize("number", [POSTS, POSTS + 1])
def test_edits_on_both_sides_are_merged(over: TakeOver, number: int) -> None:
    merges_edits(over, number)


@pytest.mark.parametrize("form", ["classic", "blocks"])
def test_links_of_an_edited_paragraph_keep_their_relations_and_targets(over: TakeOver, form: str) -> None:
    site = over.site
    assert isinstance(site, TheirWordPress)
    link = (
        '<a href="https://shop.example/?a=1&amp;b=2" target="_blank" rel="noreferrer noopener sponsored">the shop</a>'
    )
    paragraph = f"{SENTENCE} Bought at {link}."
    content = paragraph if form == "classic" else f"<!-- wp:paragraph -->\n<p>{paragraph}</p>\n<!-- /wp:paragraph -->"
    url = site.make("posts", title=f"Links in {form}", slug=f"links-in-{form}", content=content)
    imported = over.client.data("import_content", url=url, website_id=over.website)
    over.edit(imported["content_id"], SENTENCE, "Another plain sentence.")
    assert over.publish(imported["content_id"])["status"] == "published"
    assert f"Another plain sentence. Bought at {link}." in site.state(url)[0]


def test_a_body_of_shortcodes_is_unchanged_except_for_the_edited_sentence(over: TakeOver) -> None:
    site = over.site
    assert isinstance(site, TheirWordPress)
    code = '[acme-form id="{}" look="wide" fields="3"]'
    codes = "\n\n".join(code.format(number) for number in range(SHORTCODES // len(code)))
    slug = "a-body-of-shortcodes"
    url = site.make("posts", commented=False, title="Shortcodes", slug=slug, content=f"{SENTENCE}\n\n{codes}")
    before, _ = site.state(url)
    imported = over.client.data("import_content", url=url, website_id=over.website)
    over.edit(imported["content_id"], SENTENCE, NEW_SENTENCE)
    publication = over.publish(imported["content_id"])
    assert (publication["status"], publication["conflict"], publication["error"]) == ("published", None, "")
    assert site.state(url)[0] == before.replace(SENTENCE, NEW_SENTENCE)
