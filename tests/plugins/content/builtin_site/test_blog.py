"""Blog features of a built-in site: lists, terms, search, pages, images, feeds and custom appearance."""

from __future__ import annotations

import io
from typing import Any
from urllib.parse import urljoin

import feedparser
import httpx
import pytest
from PIL import Image
from pressroom.testing import RunningHost
from pressroom_content.builtin_site.appearance import contrast, style
from pressroom_content.builtin_site.summaries import languages, wording
from selectolax.lexbor import LexborHTMLParser
from support.selecting import attribute_of, text_of

from ..conftest import Client  # noqa: TID252 - the client of the whole plugin
from .blog import Blog, wheel


@pytest.fixture
def blog(host: RunningHost, ada: Client) -> Blog:
    return Blog(host, ada)


def test_lists_show_excerpts_generated_where_none_was_written(blog: Blog) -> None:
    blog.publish("Without", "The first paragraph says enough.\n\n" + "More words follow. " * 40)
    blog.publish("With", "A body.", excerpt="In short.")
    excerpts = [node.text() for node in blog.tree().css(".post-excerpt")]
    assert excerpts[0] == "In short."
    assert excerpts[1].startswith("The first paragraph says enough. More words follow.")
    assert excerpts[1].endswith("…")


def test_code_in_an_excerpt_is_isolated_only_on_pages(blog: Blog) -> None:
    code = "x" * 50
    url = blog.publish(
        "Cut", f"The first paragraph says enough, `a<b>()`, and then it is cut inside `{code} {code} {code}`."
    )
    assert blog.tree().css(".post-excerpt")[0].inner_html == (
        'The first paragraph says enough, <bdi dir="ltr">a&lt;b&gt;()</bdi>, and then it is cut inside '
        f'<bdi dir="ltr">{code}</bdi>…'
    )
    for path in ("/feed.xml", "/feed.json"):
        assert not {"\ufdd0", "\ufdd1", "\u2066", "\u2068"} & set(blog.get(path).text), path
    post = LexborHTMLParser(httpx.get(url, timeout=30).text)
    assert "enough, a<b>(), and then" in attribute_of(post, "meta[name=description]", "content")


def test_tags_categories_and_authors_link_to_their_posts(blog: Blog) -> None:
    blog.publish("On looms", tags=("Jacquard & co", "Müll"), categories=("History",), author="Ada Lovelace")
    url = blog.publish("On engines", tags=("jacquard & CO",), author="Ada Lovelace")
    blog.publish("Elsewhere", tags=("other",), author="Charles")
    tree = LexborHTMLParser(httpx.get(url).text)
    by_tag = attribute_of(tree, ".tags a", "href")
    assert by_tag == f"{blog.url}/tags/jacquard-co"
    assert blog.titles("/tags/jacquard-co") == ["On engines", "On looms"]
    assert blog.titles(attribute_of(tree, "a[rel=author]", "href").removeprefix(blog.url)) == ["On engines", "On looms"]
    assert blog.titles("/categories/history") == ["On looms"]
    assert text_of(blog.tree("/tags/jacquard-co"), "h1") == "jacquard & CO"
    for path in ("/tags/nothing", "/authors/nobody", "/tags/other?page=2", "/tags/other?page=0"):
        assert blog.get(path).status_code == 404, path


def test_an_unpublished_post_is_removed_from_lists(blog: Blog, ada: Client) -> None:
    blog.publish("Kept", "Steam.", tags=("steam",))
    blog.publish("Gone", "Steam.", tags=("steam", "only here"))
    (newest, *_) = ada.data("list_publications", website_id=blog.id)["publications"]
    ada.data("unpublish_content", publication_id=newest["publication_id"], confirm=True)
    assert blog.titles() == blog.titles("/tags/steam") == blog.titles("/search?q=steam") == ["Kept"]
    assert blog.get("/tags/only-here").status_code == 404


def test_the_archive_has_every_post_by_month(blog: Blog) -> None:
    for number in range(14):
        blog.publish(f"Number {number}")
    tree = blog.tree("/archive")
    assert [node.text() for node in tree.css(".plain-posts a")] == [f"Number {number}" for number in range(13, -1, -1)]
    assert len(tree.css(".month h2")) == 1


def test_search_finds_visible_text_in_any_form_of_a_word(blog: Blog, ada: Client) -> None:
    blog.publish("Weaving", "The looms were loud.", language="en")
    blog.publish("Engines", "Steam and iron.", language="en")
    assert blog.titles("/search?q=loom") == ["Weaving"]
    assert blog.titles("/search?q=loom+iron") == []
    tree = blog.tree("/search?q=%3Cb%3Eloom")
    assert attribute_of(tree, "#q", "value") == "<b>loom"
    assert attribute_of(tree, "meta[name=robots]", "content") == "noindex"
    article = ada.data("list_content", query="Weaving")["items"][0]
    change = {"body": "A secret: spindles."}
    ada.data("update_content", content_id=article["content_id"], expected_version=article["version"], fields=change)
    assert blog.titles("/search?q=spindles") == []
    assert blog.titles("/search?q=looms") == ["Weaving"]


def test_a_post_links_to_its_neighbours_and_related_posts(blog: Blog) -> None:
    blog.publish("First", tags=("steam",))
    url = blog.publish("Second", tags=("steam",))
    blog.publish("Third", tags=("iron",))
    tree = LexborHTMLParser(httpx.get(url).text)
    assert attribute_of(tree, ".neighbours a[rel=prev]", "href") == f"{blog.url}/first"
    assert attribute_of(tree, ".neighbours a[rel=next]", "href") == f"{blog.url}/third"
    assert text_of(tree, "#more") == "Related posts"
    assert [node.text() for node in tree.css(".more-posts .post-title")] == ["First"]


def test_a_page_is_in_the_menu_but_not_in_lists(blog: Blog, ada: Client) -> None:
    blog.publish("A post", tags=("x",))
    url = blog.publish("Imprint", "Responsible: Ada.", options={"kind": "page"}, tags=("x",))
    assert httpx.get(url).status_code == 200
    assert blog.titles() == blog.titles("/tags/x") == ["A post"]
    assert "Imprint" in [node.text() for node in blog.tree().css("header .nav a")]
    assert "Imprint" not in blog.get("/feed.xml").text
    assert url in blog.get("/sitemap.xml").text
    article = ada.data("create_content", title="Wrong", body="Text.")["content_id"]
    refusal = ada.refusal("publish_content", content_id=article, website_id=blog.id, options={"kind": "book"})
    assert "options.kind is 'book'; a built-in site has post and page" in refusal


def test_a_live_post_whose_update_failed_is_not_reported_as_published_nowhere(blog: Blog, ada: Client) -> None:
    article = ada.data("create_content", title="Tea", body="Text.")["content_id"]
    pair = {"content_id": article, "website_id": blog.id}
    url = ada.data("publish_content", **pair)["url"]
    ada.refusal("publish_content", **pair, options={"kind": "book"})

    text = ada.call("get_content", content_id=article)["content"][0]["text"]

    assert httpx.get(url).status_code == 200
    assert "published at: the latest attempt to publish failed or is in progress; list_publications shows it" in text


def test_images_have_several_sizes_and_are_deleted_with_their_post(blog: Blog) -> None:
    url = blog.post_with_images("Wheels", wheel())
    tree = LexborHTMLParser(httpx.get(url).text)
    body, cover = tree.css_first(".prose img"), tree.css_first(".post-image")
    listed = blog.tree().css_first(".cover-image")
    assert body is not None
    assert cover is not None
    assert listed is not None
    for image in (body, cover, listed):
        assert (image.attributes["width"], image.attributes["height"]) == ("1200", "675")
        assert image.attributes["sizes"]
    assert (body.attributes["loading"], cover.attributes.get("loading")) == ("lazy", None)
    assert text_of(tree, "figcaption") == "Wood."
    copies = {}
    for candidate in (body.attributes["srcset"] or "").split(", "):
        source, width = candidate.split()
        response = httpx.get(urljoin(url, source))
        assert response.headers["content-type"] == "image/webp"
        copies[width] = source
        assert Image.open(io.BytesIO(response.content)).width == int(width.removesuffix("w"))
    assert list(copies) == ["480w", "720w", "960w", "1200w"]
    blog.delete_post()
    original = body.attributes["src"] or ""
    assert {httpx.get(urljoin(url, source)).status_code for source in (original, *copies.values())} == {404}


def test_every_feed_can_be_parsed(blog: Blog) -> None:
    blog.set(language="en", description="Notes & more.")
    url = blog.publish(
        "Looms & <wheels>", "Text with [a link](/about) ]]> \x0b.", author="Ada", tags=("A&B",), excerpt="In short."
    )
    for path, version in (("/feed.xml", "rss20"), ("/atom.xml", "atom10")):
        parsed = feedparser.parse(blog.get(path).content)
        assert (parsed.bozo, parsed.version, parsed.feed.title) == (False, version, "Ada writes"), path
        (entry,) = parsed.entries
        assert (entry.title, entry.link, entry.author) == ("Looms & <wheels>", url, "Ada")
        assert [tag.term for tag in entry.tags] == ["A&B"]
        assert "Text with" in entry.content[0].value
    response = blog.get("/feed.json")
    assert response.headers["content-type"].startswith("application/feed+json")
    feed = response.json()
    assert (feed["version"], feed["home_page_url"]) == ("https://jsonfeed.org/version/1.1", blog.url)
    (item,) = feed["items"]
    assert (item["url"], item["title"], item["tags"]) == (url, "Looms & <wheels>", ["A&B"])
    assert item["authors"] == [{"name": "Ada"}]
    types = {node.attributes["type"] for node in blog.tree().css("link[rel=alternate]")}
    assert {"application/rss+xml", "application/atom+xml", "application/feed+json"} <= types


def test_the_interface_and_dates_are_in_the_language_of_the_article(blog: Blog) -> None:
    blog.set(language="de", timezone="Asia/Tokyo")
    url = blog.publish("Bonjour", "Un texte.", language="fr")
    french, german = LexborHTMLParser(httpx.get(url).text), blog.tree("/search?q=nichts")
    assert attribute_of(french, "html", "lang") == "fr"
    assert text_of(french, "footer a") == "Tous les articles"
    assert text_of(german, ".button") == "Suchen"
    assert text_of(german, "[role=status]") == "Zu „nichts“ wurde nichts gefunden."
    assert "Seite nicht gefunden" in blog.get("/fehlt").text
    swahili = LexborHTMLParser(httpx.get(blog.publish("Habari", "Maneno.", language="sw")).text)
    assert attribute_of(swahili, "html", "lang") == "sw"
    assert attribute_of(swahili, "footer", "lang") == "en"


def test_many_languages_have_translations() -> None:
    assert languages() >= {"ar", "de", "en", "es", "fr", "it", "ja", "nl", "pl", "pt", "zh"}
    assert wording("pl").say("posts", n=3) == "3 wpisy"


def test_the_appearance_of_a_site_can_be_changed(blog: Blog) -> None:
    tree = blog.tree()
    icon = attribute_of(tree, "link[rel=icon]", "href")
    assert attribute_of(tree, ".brand img", "src") == icon
    image = httpx.get(icon)
    assert image.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert ">A</text>" in image.text
    blog.set(
        theme="magazine",
        color_scheme="dark",
        accent_color="#0A7",
        logo="https://example.com/logo.svg",
        favicon="/sites/x/files/icon.png",
        menu=[{"label": "About", "url": "/about"}, {"label": "Shop", "url": "https://example.com/"}],
    )
    tree = blog.tree()
    assert attribute_of(tree, "body", "class") == "blog theme-magazine"
    assert attribute_of(tree, "img.logo", "src") == "https://example.com/logo.svg"
    assert tree.css_first(".brand").text(strip=True) == "Ada writes"  # type: ignore[union-attr]
    assert attribute_of(tree, "link[rel=icon]", "href") == "/sites/x/files/icon.png"
    links = [node.attributes["href"] for node in tree.css("header .nav a")]
    assert links[:2] == [f"{blog.url}/about", "https://example.com/"]
    sheet = httpx.get([node.attributes["href"] for node in tree.css("link[rel=stylesheet]")][-1] or "")
    assert sheet.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert "--accent:#00aa77" in sheet.text
    assert "color-scheme:dark" in sheet.text
    blog.set(logo_dark="/sites/x/files/dark.svg", logo_has_name=True, favicon=None)
    assert attribute_of(blog.tree(), "img.logo", "src") == "/sites/x/files/dark.svg"
    assert 'fill="#00aa77"' in httpx.get(attribute_of(blog.tree(), "link[rel=icon]", "href")).text
    blog.set(color_scheme="auto")
    tree = blog.tree()
    assert attribute_of(tree, "picture source", "srcset") == "/sites/x/files/dark.svg"
    assert attribute_of(tree, "picture source", "media") == "(prefers-color-scheme: dark)"
    assert attribute_of(tree, "img.logo", "src") == "https://example.com/logo.svg"
    assert attribute_of(tree, "img.logo", "alt") == "Ada writes"
    assert tree.css_first(".brand").text(strip=True) == ""  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("setting", "value", "expected"),
    [
        ("accent_color", "red", "must be a colour such as #b3402a"),
        ("theme", "pretty", "'classic', 'modern' or 'magazine'"),
        ("logo", "javascript:alert(1)", "must be the https URL of an image"),
        ("menu", [{"label": "x", "url": "javascript:alert(1)"}], "must be an http or https URL"),
        ("menu", [{"label": "x"}], "settings.menu.0.url"),
    ],
)
def test_an_invalid_setting_is_named(blog: Blog, ada: Client, setting: str, value: Any, expected: str) -> None:
    refusal = ada.refusal("update_website_settings", website_id=blog.id, settings={setting: value})
    assert f"settings.{setting}" in refusal
    assert expected in refusal


@pytest.mark.parametrize("theme", ["classic", "modern", "magazine"])
@pytest.mark.parametrize("accent", ["", "#ffee00", "#000000", "#7f7f7f"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_text_has_enough_contrast(theme: str, accent: str, scheme: str) -> None:
    rules = style(theme, scheme, accent)[0].decode().rpartition(":root{")[2]
    tokens = dict(
        declaration.removeprefix("--").split(":") for declaration in rules.strip().rstrip("}").rstrip(";").split(";")
    )
    on_code = [name for name in tokens if name.startswith("hl-") or name == "code-ink"]
    pairs = [(name, ground) for name in ("ink", "muted") for ground in ("paper", "surface", "sunken")]
    pairs += [(name, "code-paper") for name in on_code]
    if accent:
        pairs += [("accent-text", "paper"), ("accent-text", "surface"), ("on-accent", "accent")]
    assert [pair for pair in pairs if contrast(tokens[pair[0]], tokens[pair[1]]) < 4.5] == []
