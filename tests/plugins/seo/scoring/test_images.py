"""What is wrong with images."""

from __future__ import annotations

from typing import Any

import pytest
from pressroom_seo.scoring import Article, ImageFacts, check_images

URL = "https://e.com/a"
FACTS = ImageFacts(weight=90_000, width=1200, height=800, mime="image/webp")
IMG = "<img src='https://e.com/jar-of-starter.webp' alt='A jar of starter' width=1200 height=800>"


def issues(
    body: str, *, facts: ImageFacts | None = FACTS, src: str = "https://e.com/jar-of-starter.webp", **fields: Any
) -> set[str]:
    images = {src: facts} if facts else {}
    article = Article(**{"body": body, "format": "html", "url": URL, "images": images, **fields})
    return {issue.check for issue in check_images(article).issues}


def test_a_good_image_has_no_issues() -> None:
    assert issues(IMG) == set()


@pytest.mark.parametrize(
    ("change", "issue"),
    [
        (("alt='A jar of starter'", ""), "alt_missing"),
        (("A jar of starter", ""), "alt_missing"),
        (("A jar of starter", "x" * 101), "alt_too_long"),
        (("A jar of starter", "jar.png"), "alt_says_nothing"),
        (("A jar of starter", "Image 3"), "alt_says_nothing"),
        (("A jar of starter", "An image of a jar"), "alt_opening"),
        (("width=1200", "loading=lazy width=1200"), "first_image_lazy"),
        (("width=1200 height=800", "width=400 height=267"), "oversized"),
        (("height=800", "height=300"), "ratio_differs"),
    ],
)
def test_faults_of_the_markup_are_found(change: tuple[str, str], issue: str) -> None:
    assert issues(IMG.replace(*change)) == {issue}


@pytest.mark.parametrize(
    ("facts", "found"),
    [
        ({"weight": 500_001}, {"too_heavy"}),
        ({"weight": 500_000}, set()),
        ({"mime": "image/tiff"}, {"format"}),
        ({"mime": "image/png", "weight": 200_000}, {"format"}),
        ({"mime": "image/png", "weight": 20_000}, set()),
        ({"licence": "CC-BY-4.0", "credit": "Photo: Al", "credit_required": True}, {"credit_missing"}),
        ({"hotlink_only": True}, {"copy_not_allowed"}),
    ],
)
def test_faults_of_the_file_are_found(facts: dict[str, Any], found: set[str]) -> None:
    assert issues(IMG, facts=ImageFacts(**{"width": 1200, "height": 800, "mime": "image/webp", **facts})) == found


def test_a_credit_in_the_text_is_enough() -> None:
    facts = ImageFacts(credit="Photo: Al Dente / CC BY 4.0", credit_required=True, mime="image/webp")
    assert issues(f"<figure>{IMG}<figcaption>photo – Al Dente, CC BY 4.0</figcaption></figure>", facts=facts) == set()  # noqa: RUF001


@pytest.mark.parametrize(
    ("src", "found"),
    [
        ("http://e.com/jar.webp", {"mixed_content"}),
        ("https://e.com/IMG_20260101.webp", {"file_name"}),
        ("https://e.com/DSC0042.webp", {"file_name"}),
        ("", {"no_source"}),
        ("data:image/webp;base64," + "A" * 5000, {"embedded"}),
        ("https://e.com/image-of-rye.webp", set()),
    ],
)
def test_faults_of_the_address_are_found(src: str, found: set[str]) -> None:
    assert issues(f"<img src='{src}' alt='A jar of starter' width=1 height=1>", facts=None) == found


def test_images_further_down_are_loaded_late_and_differ() -> None:
    other = IMG.replace("jar-of-starter", "loaf")
    assert issues(IMG + other + other.replace("loaf", "oven")) == {"not_lazy", "alt_repeated"}


def test_decoration_needs_no_alt_text() -> None:
    assert issues("<img src='https://e.com/line.svg' alt='' role=presentation width=1 height=1>", facts=None) == set()


def test_an_article_without_images_is_told_so() -> None:
    assert issues("<p>x</p>") == {"no_images"}


def test_the_featured_image_is_judged_too_and_the_gravest_comes_first() -> None:
    featured = "https://e.com/cover.jpg"
    article = Article(
        body="Text",
        url=URL,
        featured_image=featured,
        featured_image_alt="",
        images={featured: ImageFacts(weight=2_000_000, width=800, height=400)},
    )
    report = check_images(article)
    assert [image.role for image in report.images] == ["featured"]
    assert report.images[0].mime == "image/jpeg"
    assert [issue.severity for issue in report.issues] == ["error", "error", "warning", "notice"]
    assert {issue.check for issue in report.issues} == {"too_heavy", "alt_missing", "featured_small", "format"}
