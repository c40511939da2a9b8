"""Existing posts and pages: found by their URLs, and written back byte for byte."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from typing import Any

import pytest
from pressroom.fetch import GuardedFetcher
from pressroom_content.contract import BlockSite, Post, RemoteChanged, RemotePost, SiteGone, SiteRefused
from pressroom_wordpress.site import WordPressSite
from support.sizes import rounds
from support.wordpress import WordPress

from .conftest import site_of
from .test_site import a_post, an_image, seen

POSTS = rounds("PRESSROOM_TEST_TAKEN_OVER", 10, soak=200)
KEPT = frozenset(
    {
        *("title", "slug", "excerpt", "tags", "categories", "author", "featured", "date"),
        *("meta_title", "meta_description", "canonical_url"),
    }
)

CLASSIC = [
    "A paragraph\nwith a line break & <b>bold</b> text",
    '[gallery ids="1,2,3" columns="3"]',
    '[caption id="attachment_1" width="300"]<img src="/a.png" alt=""> A caption[/caption]',
    "[unknown-shortcode a='1']inside\n\nof it[/unknown-shortcode]",
    "<h2>Heading</h2>",
    "<ul>\n\t<li>one</li>\n\t<li>two</li>\n</ul>",
    "<blockquote>Said\n\nby somebody</blockquote>",
    '<p style="text-align: center;"><span style="color: #ff0000;">red</span></p>',
    "<!--more-->",
    "<div class='x'><p>never closed",
    "<table>\r\n<tr><td>1</td></tr>\r\n</table>",
    '<p dir="rtl">שלום עולם, مرحبا</p>',
    "日本語の段落。\n\n\n\n中文",
    "&nbsp;",
    "   indented\t\ttext  ",
    "<pre>if (a &lt; b)\n\n  [gallery]</pre>",
    "https://www.youtube.com/watch?v=abcdefg",
    "A backslash \\ and \\\\ two, a quote ' and \"",
]
BLOCKS = [
    "<!-- wp:paragraph -->\n<p>Text &amp; more</p>\n<!-- /wp:paragraph -->",
    (
        '<!-- wp:paragraph {"dropCap":true,"style":{"color":{"text":"#ff0000"}}} -->\n'
        '<p class="has-drop-cap has-text-color" style="color:#ff0000">Red</p>\n<!-- /wp:paragraph -->'
    ),
    (
        '<!-- wp:columns -->\n<div class="wp-block-columns"><!-- wp:column {"width":"33.33%"} -->\n<div>'
        "<!-- wp:columns --><div><!-- wp:column --><div><!-- wp:paragraph --><p>deep</p><!-- /wp:paragraph --></div>"
        "<!-- /wp:column --></div><!-- /wp:columns --></div>\n<!-- /wp:column --></div>\n<!-- /wp:columns -->"
    ),
    (
        '<!-- wp:gallery {"linkTo":"none"} -->\n<figure class="wp-block-gallery"><!-- wp:image {"id":1} -->\n<figure>'
        '<img src="/a.png" alt=""/></figure>\n<!-- /wp:image --></figure>\n<!-- /wp:gallery -->'
    ),
    '<!-- wp:shortcode -->\n[contact-form-7 id="5"]\n<!-- /wp:shortcode -->',
    '<!-- wp:latest-posts {"postsToShow":3,"displayPostDate":true} /-->',
    '<!-- wp:block {"ref":99} /-->',
    "<!-- wp:paragraph -->\n<p>its end is missing</p>",
    "<!-- /wp:paragraph -->",
    '<!-- wp:heading {"level": -->\n<h2>Broken attributes</h2>\n<!-- /wp:heading -->',
    "free text between blocks\n\n<p>and more</p>",
    '<!-- wp:paragraph {"direction":"rtl"} -->\n<p dir="rtl">שלום</p>\n<!-- /wp:paragraph -->',
    (
        '<!-- wp:list {"ordered":true} -->\n<ol><!-- wp:list-item -->\n<li>日本語</li>\n<!-- /wp:list-item --></ol>\n'
        "<!-- /wp:list -->"
    ),
    '<!-- wp:acme/box {"text":"a \\u002d\\u002d\\u003e b"} -->\n<div>[acme]</div>\n<!-- /wp:acme/box -->',
    "<!-- wp:html -->\n<script>run()</script>\n<!-- /wp:html -->",
    "<!-- wp:more -->\n<!--more-->\n<!-- /wp:more -->",
]
SEPARATORS = ["\n\n", "\n", "\r\n\r\n", "", "  \n\n\n"]

pytestmark = pytest.mark.timeout(900)  # the first test on a machine downloads WordPress

_numbers = count(1)


def a_body(dice: random.Random) -> str:
    pieces = dice.choice([CLASSIC, BLOCKS, [*BLOCKS, *CLASSIC]])
    return "".join(f"{dice.choice(pieces)}{dice.choice(SEPARATORS)}" for _ in range(dice.randint(1, 8)))


def somebodys(blog: WordPress, path: str = "posts", **fields: object) -> dict[str, Any]:
    """Create a post directly in WordPress, and return it."""
    number = next(_numbers)
    values = {"title": f"Theirs {number}", "slug": f"theirs-{number}", "status": "publish", "content": "One\n\nTwo"}
    response = blog.send("POST", f"/wp/v2/{path}?context=edit", {**values, **fields}).raise_for_status()
    row: dict[str, Any] = response.json()
    return row


def to_write(remote: RemotePost, raw: str, kept_fields: frozenset[str] = KEPT) -> Post:
    """Return the post sent for an adopted post: a body, and none of our own fields."""
    return Post(
        marker="", title="Ours", slug="ours", html="<p>x</p>", markdown="x", raw=raw, kept=kept_fields, excerpt="ours"
    )


def state_of(blog: WordPress, path: str, number: int) -> Sequence[object]:
    row = blog.get(f"/wp/v2/{path}/{number}", context="edit").raise_for_status().json()
    comments = blog.get("/wp/v2/comments", post=number).headers["x-wp-total"]
    names = ("date", "date_gmt", "author", "slug", "link", "status", "featured_media", "tags", "categories", "meta")
    return [
        row["content"]["raw"],
        row["title"]["raw"],
        row["excerpt"]["raw"],
        comments,
        *(row.get(name) for name in names),
    ]


@pytest.mark.timeout(3600)
async def test_existing_posts_keep_every_byte(blog: WordPress, site: WordPressSite) -> None:
    dice = random.Random(7)
    author = blog.get("/wp/v2/users", search="author").json()[0]["id"]
    for number in range(POSTS):
        path = "pages" if number % 5 == 4 else "posts"
        fields: dict[str, object] = {
            "author": author,
            "comment_status": "open",
            "date_gmt": f"2021-03-0{number % 9 + 1}T04:05:06",
        }
        row = somebodys(blog, path, content=a_body(dice), excerpt="Their excerpt", **fields)
        if number % 3 == 0:
            comment = {"post": row["id"], "content": f"Comment {row['id']}"}
            blog.send("POST", "/wp/v2/comments", comment).raise_for_status()
        before = state_of(blog, path, row["id"])

        remote = await site.read(f"page-{row['id']}" if path == "pages" else str(row["id"]))
        sources = [block.source for block in site.codec.split(remote.raw)]
        written = await site.update(remote.id, to_write(remote, site.codec.join(sources, remote.raw)), remote.revision)

        assert state_of(blog, path, row["id"]) == before
        assert (written.raw, written.id, written.url) == (remote.raw, remote.id, remote.url)
        assert remote.fields["author"] == "Author"


async def test_only_the_block_that_was_edited_changes(blog: WordPress, site: WordPressSite) -> None:
    raw = "\n\n".join([BLOCKS[2], BLOCKS[0], BLOCKS[5]])
    row = somebodys(blog, content=raw)
    remote = await site.read(str(row["id"]))
    sources = [block.source for block in site.codec.split(remote.raw)]
    sources[1:2] = site.codec.encode("<p>Edited [gallery]</p>", "Edited [gallery]")
    await site.update(remote.id, to_write(remote, site.codec.join(sources, remote.raw)), remote.revision)

    stored = blog.get(f"/wp/v2/posts/{row['id']}", context="edit").json()["content"]["raw"]
    new = "<!-- wp:paragraph -->\n<p>Edited &#91;gallery]</p>\n<!-- /wp:paragraph -->"
    assert stored == "\n\n".join([BLOCKS[2], new, BLOCKS[5]])


async def test_footnotes_of_the_block_editor_are_preserved(blog: WordPress, site: WordPressSite) -> None:
    number = "0b9a2b04-5bd5-4a62-a3a0-1d2a4b1f2c3d"
    mark = f'<sup data-fn="{number}" class="fn"><a href="#{number}" id="{number}-link">1</a></sup>'
    claim = f"<!-- wp:paragraph -->\n<p>A claim.{mark}</p>\n<!-- /wp:paragraph -->"
    notes = json.dumps([{"content": "The <em>note</em>.", "id": number}])
    raw = "\n\n".join([claim, BLOCKS[0], "<!-- wp:footnotes /-->"])
    row = somebodys(blog, content=raw, meta={"footnotes": notes})
    assert row["meta"]["footnotes"] == notes
    remote = await site.read(str(row["id"]))
    blocks = site.codec.split(remote.raw)
    assert [block.html is None for block in blocks] == [True, False, True]
    sources = [blocks[0].source, *site.codec.encode("<p>Edited</p>", "Edited"), blocks[2].source]
    await site.update(remote.id, to_write(remote, site.codec.join(sources, remote.raw)), remote.revision)
    stored = blog.get(f"/wp/v2/posts/{row['id']}", context="edit").json()
    assert (stored["content"]["raw"], stored["meta"]["footnotes"]) == (raw.replace("Text &amp; more", "Edited"), notes)


async def test_a_post_says_who_may_read_it(blog: WordPress, site: WordPressSite) -> None:
    protected = somebodys(blog, password="open sesame")
    rows = [somebodys(blog), somebodys(blog, status="private"), protected]
    read = [await site.read(str(row["id"])) for row in rows]
    assert [post.audience for post in read] == ["", "private", "password"]


async def test_a_classic_post_stays_classic(blog: WordPress, site: WordPressSite) -> None:
    row = somebodys(blog, content="One\nline\n\nTwo")
    remote = await site.read(str(row["id"]))
    sources = [*(block.source for block in site.codec.split(remote.raw)), *site.codec.encode("<p>Three\nfour</p>", "")]
    await site.update(remote.id, to_write(remote, site.codec.join(sources, remote.raw)), remote.revision)
    page = (await seen(row["link"])).text
    assert "<p>One<br />\nline</p>\n<p>Two</p>\n<p>Three four</p>" in page


async def test_fields_that_are_not_preserved_are_written(blog: WordPress, site: WordPressSite) -> None:
    media = await site.upload(an_image(), "m2123456789abcdef01234567")
    row = somebodys(blog, content="One", featured_media=int(media.id), tags=[])
    remote = await site.read(str(row["id"]))
    assert remote.fields["featured"] == media.url
    written = await site.update(remote.id, to_write(remote, "Two", KEPT - {"title", "excerpt"}), remote.revision)
    assert (written.raw, written.fields["title"], written.fields["excerpt"]) == ("Two", "Ours", "ours")
    assert (written.fields["slug"], written.featured) == (row["slug"], True)


async def test_a_post_of_ours_always_keeps_its_marker(blog: WordPress, site: WordPressSite) -> None:
    post = a_post()
    remote = await site.create(post)
    assert remote.raw == "<!-- wp:paragraph -->\n<p>Coffee, <strong>cold</strong>.</p>\n<!-- /wp:paragraph -->"
    await site.update(remote.id, replace(post, raw="<p>One</p>"), remote.revision)
    match = await site.find(post)
    assert match is not None
    assert (match.id, match.raw, match.html) == (remote.id, "<p>One</p>", "<p>One</p>")
    # Written as an adopted post, with an empty marker.
    await site.update(remote.id, to_write(match, "<p>Two</p>"), match.revision)
    assert (await site.read(remote.id)).marker == post.marker


async def test_posts_and_pages_are_listed_with_their_bodies(blog: WordPress, site: WordPressSite) -> None:
    post = somebodys(blog, content="[gallery]")
    page = somebodys(blog, "pages", content="A page")
    listed = {post.id: post async for post in site.posts(None, 500)}
    assert (listed[str(post["id"])].raw, listed[str(post["id"])].kind) == ("[gallery]", "post")
    assert (listed[f"page-{page['id']}"].raw, listed[f"page-{page['id']}"].kind) == ("A page", "page")
    moments = [post.updated_at for post in listed.values()]
    assert moments == sorted(moments, key=lambda post: post or 0, reverse=True)
    assert len([post async for post in site.posts(None, 1)]) == 1


async def test_an_author_may_list_what_is_published(blog: WordPress, fetcher: GuardedFetcher) -> None:
    page = somebodys(blog, "pages", content="A page")
    listed = {post.id: post async for post in site_of(blog, fetcher, "author").posts(None, 500)}
    assert listed[f"page-{page['id']}"].raw == ""


async def test_a_post_is_located_by_its_urls(blog: WordPress, site: WordPressSite) -> None:
    assert isinstance(site, BlockSite)
    post = somebodys(blog, content="One")
    parent = somebodys(blog, "pages", slug="about-us")
    page = somebodys(blog, "pages", slug="team", parent=parent["id"])
    draft = somebodys(blog, status="draft")

    async def located(url: str) -> str:
        match = await site.locate(url)
        return match.id if match else ""

    number = post["id"]
    urls = [
        *(post["link"], post["link"].rstrip("/"), f"{post['link']}?utm_source=x#top", f"{post['link']}feed/"),
        *(f"{blog.url}/?p={number}", f"{blog.url}/wp-admin/post.php?post={number}&action=edit"),
        post["link"].replace("http://", "https://"),
        *(f"{post['link']}{page}" for page in ("2/", "page/3/", "comment-page-2/")),
    ]
    assert [await located(url) for url in urls] == [str(number)] * len(urls)
    assert await located(page["link"]) == f"page-{page['id']}"
    assert await located(f"{page['link']}2/") == f"page-{page['id']}"
    numbered = somebodys(blog, "pages", slug="2024", parent=page["id"])
    assert await located(numbered["link"]) == f"page-{numbered['id']}"
    assert await located(f"{blog.url}/?page_id={page['id']}&preview=true") == f"page-{page['id']}"
    assert await located(draft["link"]) == str(draft["id"])
    for url in (f"{blog.url}/nothing-here/", f"{blog.url}/", "https://elsewhere.example/theirs-1/", "http://[", "x"):
        assert await located(url) == ""
    blog.send("POST", f"/wp/v2/posts/{number}", {"slug": f"renamed-{number}"}).raise_for_status()
    assert await located(post["link"]) == str(number)


async def test_a_post_that_became_a_page_is_reported_and_vice_versa(blog: WordPress, site: WordPressSite) -> None:
    page, post = somebodys(blog, "pages"), somebodys(blog)
    with pytest.raises(SiteRefused, match="the post was turned into a page in WordPress"):
        await site.read(str(page["id"]))
    with pytest.raises(SiteRefused, match="the page was turned into a post in WordPress"):
        await site.read(f"page-{post['id']}")
    for missing in ("999999", "page-999999"):
        with pytest.raises(SiteGone):
            await site.read(missing)


async def test_text_in_an_open_editor_is_neither_lost_nor_overwritten(
    blog: WordPress, site: WordPressSite, fetcher: GuardedFetcher
) -> None:
    row = somebodys(blog, content="One\n\nTwo")
    number, remote = row["id"], await site.read(str(row["id"]))
    typed = {"title": row["title"]["raw"], "content": "One\n\nTwo, typed"}
    blog.send("POST", f"/wp/v2/posts/{number}/autosaves", typed).raise_for_status()

    updated = await site.update(remote.id, to_write(remote, "One of ours\n\nTwo"), remote.revision)
    [autosave] = blog.get(f"/wp/v2/posts/{number}/autosaves", context="edit").json()
    assert autosave["content"]["raw"] == "One\n\nTwo, typed"

    # A person with the editor open saves: the post keeps their text until both sides are merged.
    blog.send("POST", f"/wp/v2/posts/{number}", typed).raise_for_status()
    with pytest.raises(RemoteChanged):
        await site_of(blog, fetcher).update(remote.id, to_write(remote, "One more of ours\n\nTwo"), updated.revision)
    assert (await site.read(remote.id)).raw == "One\n\nTwo, typed"


async def test_authors_are_listed_including_the_user(blog: WordPress, fetcher: GuardedFetcher) -> None:
    names = {term.name for term in await site_of(blog, fetcher).terms("author", "", 50)}
    assert {"Author", "Contributor", "admin"} <= names
    assert [term.name for term in await site_of(blog, fetcher, "contributor").terms("author", "contrib", 50)] == [
        "Contributor"
    ]
