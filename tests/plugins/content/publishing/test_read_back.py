"""Reading back a post: each field on the site is compared with what was sent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from pressroom_content.contract import Post, RemoteMedia, RemotePost
from pressroom_content.publishing.comparing import differences

IMAGE = RemoteMedia("7", "https://blog.example/files/bread.png")
SENT = Post(
    marker="m_1", title="Bread", slug="bread", html="<p>Flour and water.</p>", markdown="Flour and water.",
    excerpt="In short.", author="Ada", categories=("Baking",), tags=("flour",), meta_title="Bread at home",
    meta_description="How to bake.", canonical_url="https://first.example/bread", featured=IMAGE,
    featured_alt="A loaf", featured_caption="Photo: Eve",
)  # fmt: skip
REPORTED_FIELDS = {
    **{name: getattr(SENT, name) for name in ("title", "slug", "excerpt", "author", "categories", "tags")},
    **{name: getattr(SENT, name) for name in ("meta_title", "meta_description", "canonical_url")},
    **{name: getattr(SENT, name) for name in ("featured_alt", "featured_caption")},
    "featured": "7",
}
KEPT = RemotePost("1", "https://blog.example/bread", "live", "1", html=SENT.html, fields=REPORTED_FIELDS, featured=True)


def test_a_completely_stored_post_has_no_differences() -> None:
    assert differences(SENT, KEPT) == []


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"title": "Bred"}, "the site changed the title to 'Bred'"),
        ({"slug": "bread-2"}, "the site gave the post the slug 'bread-2' instead of 'bread'"),
        ({"excerpt": ""}, "the site dropped the excerpt"),
        ({"excerpt": "Short"}, "the site changed the excerpt to 'Short'"),
        ({"author": "admin"}, "the site changed the author to 'admin'"),
        ({"categories": ("Uncategorized",)}, "the site dropped the categories Baking"),
        ({"tags": ()}, "the site dropped the tags flour"),
        ({"meta_title": ""}, "the site dropped the meta title"),
        ({"meta_description": ""}, "the site dropped the meta description"),
        ({"canonical_url": ""}, "the site dropped the canonical URL"),
        ({"featured_alt": ""}, "the site dropped the alternative text of the featured image"),
        ({"featured_caption": ""}, "the site dropped the caption of the featured image"),
        (
            {"featured": "https://blog.example/files/tea.png"},
            (
                "the site has 'https://blog.example/files/tea.png' as the featured image instead of "
                "'https://blog.example/files/bread.png'"
            ),
        ),
    ],
)
def test_each_differing_field_is_named(fields: Mapping[str, Any], expected: str) -> None:
    assert differences(SENT, replace(KEPT, fields={**REPORTED_FIELDS, **fields})) == [expected]


def test_a_missing_image_and_a_missing_body_are_named() -> None:
    assert differences(SENT, replace(KEPT, featured=False)) == ["the site dropped the featured image"]
    assert "kept nothing of the body" in differences(SENT, replace(KEPT, html=""))[0]
