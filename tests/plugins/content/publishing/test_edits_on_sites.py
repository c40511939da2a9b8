"""Reported edits of a post that people changed on its site."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest
from pressroom_content.contract import Post, RemoteMedia, RemotePost
from pressroom_content.publishing.comparing import (
    differences,
    edits,
    edits_message,
    fingerprint,
    is_unedited,
    snapshot,
)

POST = RemotePost(
    id="1",
    url="https://blog.example/tea",
    state="live",
    revision="1",
    html='<h2>Tea</h2>\n<p>One cup.</p><p>Two <em>cups</em>.</p><img src="https://blog.example/a.png" alt="A">',
    fields={"title": "Tea", "tags": ("tea", "cups"), "meta_description": ""},
)


def test_an_unchanged_post_has_no_edits() -> None:
    assert edits(snapshot(POST), POST) == []
    assert edits(snapshot(POST), replace(POST, html=POST.html.replace("</p><p>", "</p>\n\n<p class=x>"))) == []


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"fields": {**POST.fields, "title": "Coffee"}}, ["the title is now 'Coffee' (it was 'Tea')"]),
        ({"fields": {**POST.fields, "tags": ("tea",)}}, ["the tags are now 'tea' (they were 'tea, cups')"]),
        ({"featured": True}, ["the featured image was added"]),
        ({"featured": True, "fields": {**POST.fields, "featured": "/a.png"}}, ["the featured image was added"]),
        ({"html": POST.html.replace("One cup.", "A cup &amp; more.")}, ["the body now says 'A cup & more.'"]),
        ({"html": POST.html.replace("<p>One cup.</p>", "")}, ["1 passage of the body is gone"]),
        ({"html": POST.html.replace("a.png", "b.png")}, ["the body now says 'https://blog.example/b.png'"]),
        ({"html": POST.html + "<p>One cup.</p>"}, []),
        ({"html": POST.html + "".join(f"<p>New {n}</p>" for n in range(5))}, [
            "the body now says 'New 0'", "the body now says 'New 1'", "the body now says 'New 2'",
            "2 more passages of the body are new or changed",
        ]),
    ],
)  # fmt: skip
def test_an_edit_is_reported_with_an_excerpt(changes: dict[str, object], expected: list[str]) -> None:
    assert edits(snapshot(POST), replace(POST, **changes)) == expected  # type: ignore[arg-type]


def test_a_replaced_featured_image_is_an_edit() -> None:
    before = replace(POST, featured=True, fields={**POST.fields, "featured": "/a.png", "featured_alt": "A"})
    now = replace(before, fields={**before.fields, "featured": "/b.png"})
    assert edits(snapshot(before), now) == ["the featured image is now '/b.png' (it was '/a.png')"]
    assert not is_unedited(now, fingerprint(before))


SENT = Post(
    marker="m", title="Tea", slug="tea", html=POST.html, markdown="", excerpt="In a cup.",
    featured=RemoteMedia("7", "https://blog.example/files/tea.png"), featured_alt="Tea", featured_caption="Hot & green",
)  # fmt: skip
KEPT = {
    "title": "Tea", "slug": "tea", "excerpt": "In a cup.", "featured": "https://cdn.example/tea-1024x512.png?w=2",
    "featured_alt": "Tea", "featured_caption": "<p>Hot &amp; green</p>",
}  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, []),
        ({"featured": "7"}, []),
        ({"featured": "/files/tea.png"}, []),
        ({"featured": "/files/coffee.png"}, [
            "the site has '/files/coffee.png' as the featured image instead of 'https://blog.example/files/tea.png'",
        ]),
        ({"featured": "http://[/x"}, [
            "the site has 'http://[/x' as the featured image instead of 'https://blog.example/files/tea.png'",
        ]),
        ({"featured_alt": ""}, ["the site dropped the alternative text of the featured image"]),
        ({"featured_caption": "Cold"}, ["the site changed the caption of the featured image to 'Cold'"]),
        ({"excerpt": ""}, ["the site dropped the excerpt"]),
        ({"excerpt": "In a mug."}, ["the site changed the excerpt to 'In a mug.'"]),
        ({"slug": "tea-2"}, ["the site gave the post the slug 'tea-2' instead of 'tea'"]),
    ],
)  # fmt: skip
def test_a_field_changed_by_the_site_is_named(changes: dict[str, str], expected: list[str]) -> None:
    post = replace(POST, featured=True, fields=KEPT | changes)
    assert differences(SENT, post) == expected
    assert differences(replace(SENT, kept=frozenset(changes)), post) == []


def test_markdown_is_compared_by_passages_too() -> None:
    post = replace(POST, html="# Tea\n\nOne cup,\nor two.\n\n- a\n- b\n")
    edited = replace(post, html="# Tea\n\nOne cup,\nor three.\n\n- a\n- b\n")
    assert edits(snapshot(post), edited) == ["the body now says 'One cup, or three.'"]


def test_without_a_stored_version_the_edit_is_reported_without_details() -> None:
    assert edits_message(None, POST) == "the post was edited on the site since it was last written from here"


@pytest.mark.parametrize("part", ["<img src='", "<p", "\n", "<!--", "<img ", "\n \t"])
def test_no_body_blocks_the_server(part: str) -> None:
    body = replace(POST, html=part * (1_000_000 // len(part)))
    started = time.monotonic()
    snapshot(body)
    assert time.monotonic() - started < 5


def test_additional_fields_from_a_connector_are_not_an_edit() -> None:
    before = fingerprint(POST)
    assert is_unedited(replace(POST, fields={**POST.fields, "author": "Ada", "featured_alt": "A"}), before)
    assert not is_unedited(replace(POST, fields={**POST.fields, "author": "Ada", "title": "Coffee"}), before)
