"""Pages of a built-in site, for visitors and for programs."""

from __future__ import annotations

import io
import json
from typing import Any
from xml.etree import ElementTree as ET

import httpx
import pytest
from PIL import Image
from pressroom.testing import RunningHost
from pressroom_content.articles.fields import Draft
from pressroom_content.articles.store import Articles
from pressroom_content.builtin_site import bodies, list_pages
from pressroom_content.websites.store import Websites
from selectolax.lexbor import LexborHTMLParser
from support.selecting import attribute_of, text_of

from ..conftest import Client  # noqa: TID252 - the client of the whole plugin

ETHIOPIC = "ሰላም"
"""Text in a script that no bundled font covers."""

HOSTILE = "<img src=x onerror=alert(1)>\"'&{{7*7}}]]>"


class Site:
    """A built-in site of a person."""

    def __init__(self, host: RunningHost, client: Client, name: str, **settings: str) -> None:
        self._host, self._client = host, client
        website = client.data("connect_website", platform="builtin", name=name)
        self.id, self.url = website["website_id"], website["connect_url"]
        if settings:
            client.data("update_website_settings", website_id=self.id, settings=settings)

    def publish(self, title: str = "Hello world", body: str = "Some words.", **fields: Any) -> dict[str, Any]:
        created = self._host.run(
            Articles(self._client.plugin).create(self._client.user_id, Draft(title=title, body=body, **fields))
        )
        self.content = created.article.id
        publication = self._client.data("publish_content", content_id=created.article.id, website_id=self.id)
        assert publication["status"] == "published", publication
        return publication

    def get(self, path: str = "", **headers: str) -> httpx.Response:
        return httpx.get(f"{self.url}{path}", headers=headers, timeout=30)


@pytest.fixture
def site(host: RunningHost, ada: Client) -> Site:
    return Site(host, ada, "Ada writes", description="Notes on engines.", language="en-GB")


def test_tags_for_programming_languages_have_their_own_lists(site: Site, ada: Client) -> None:
    site.publish("Pointers", tags=("C++", "日本"))
    site.publish("Records", tags=("C#",))
    assert "Records" not in site.get("/tags/cpp").text
    assert text_of(LexborHTMLParser(site.get("/tags/csharp").text), "h1") == "C#"
    terms = ada.data("list_site_taxonomies", website_id=site.id, kind="tag")["items"]
    assert len(terms) == 3
    assert all(site.get(f"/tags/{term['slug']}").status_code == 200 for term in terms)


def test_a_post_has_complete_metadata(site: Site) -> None:
    publication = site.publish(
        "Café notes", "Some **words**.", author="Ada Lovelace", tags=("engines",), excerpt="In short."
    )
    response = httpx.get(publication["url"])
    tree = LexborHTMLParser(response.text)
    assert response.status_code == 200
    assert attribute_of(tree, "html", "lang") == "en-GB"
    assert [node.text() for node in tree.css("h1")] == ["Café notes"]
    assert text_of(tree, ".prose strong") == "words"
    assert attribute_of(tree, "link[rel=canonical]", "href") == publication["url"]
    assert attribute_of(tree, "meta[property='og:type']", "content") == "article"
    assert attribute_of(tree, "meta[name=description]", "content") == "In short."
    data = json.loads(text_of(tree, "script[type='application/ld+json']"))
    assert (data["@type"], data["headline"], data["author"]["name"]) == ("BlogPosting", "Café notes", "Ada Lovelace")
    policy = response.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src" not in policy
    assert "connect-src 'self'" in policy
    assert len(response.content) < 20_000
    image = attribute_of(tree, "meta[property='og:image']", "content")
    card = httpx.get(image, timeout=60)
    assert (card.status_code, card.headers["content-type"], card.content[:4]) == (200, "image/png", b"\x89PNG")


def pixels(content: bytes) -> bytes:
    return Image.open(io.BytesIO(content)).tobytes()


def drawn(host: RunningHost, **props: str) -> bytes:
    """Return the pixels of an image from the image generator, which must be drawn without warnings."""
    response = httpx.post(
        f"{host.url}/tools/image-generator/api/generate",
        json={"template": "og", "props": props, "response": "binary"},
        timeout=60,
    )
    assert (response.status_code, response.headers.get("x-warnings")) == (200, None)
    return pixels(response.content)


def card_of(url: str) -> tuple[str, bytes]:
    """Return the alternative text and the pixels of a post's link preview image."""
    tree = LexborHTMLParser(httpx.get(url).text)
    image = httpx.get(attribute_of(tree, "meta[property='og:image']", "content"), timeout=60)
    assert (image.status_code, image.headers["content-type"]) == (200, "image/png")
    return attribute_of(tree, "meta[property='og:image:alt']", "content"), pixels(image.content)


def test_the_image_of_a_japanese_post_shows_its_title(host: RunningHost, site: Site) -> None:
    publication = site.publish("日本の庭", slug="niwa")
    assert publication["warnings"] == []
    assert card_of(publication["url"]) == ("日本の庭", drawn(host, title="日本の庭", siteName="Ada writes"))


def test_a_title_missing_from_every_font_is_replaced_by_the_site_name(
    host: RunningHost, site: Site, ada: Client
) -> None:
    publication = site.publish(ETHIOPIC, slug="ethiopic")
    (warning,) = publication["warnings"]
    assert warning == (
        "the post's image for link previews shows the name of the site only: "
        f"no font of this server has {ETHIOPIC}; its operator can add one"
    )
    assert card_of(publication["url"]) == ("Ada writes", drawn(host, title="Ada writes"))
    dry_run = ada.data("publish_content", content_id=site.content, website_id=site.id, dry_run=True)
    assert dry_run["warnings"] == publication["warnings"]


def test_an_author_missing_from_every_font_is_omitted_from_the_image(host: RunningHost, site: Site) -> None:
    publication = site.publish("Looms", slug="looms", author=ETHIOPIC)
    (warning,) = publication["warnings"]
    assert warning.startswith("the post's image for link previews leaves out the author: ")
    assert card_of(publication["url"]) == ("Looms", drawn(host, title="Looms", siteName="Ada writes"))


def test_a_site_name_missing_from_every_font_results_in_no_image(host: RunningHost, ada: Client) -> None:
    site = Site(host, ada, ETHIOPIC)
    publication = site.publish(ETHIOPIC, slug="nothing")
    (warning,) = publication["warnings"]
    assert warning.startswith("the post has no image for link previews: no font of this server has ")
    tree = LexborHTMLParser(httpx.get(publication["url"]).text)
    assert tree.css("meta[property='og:image']") == []
    assert attribute_of(tree, "meta[name='twitter:card']", "content") == "summary"
    assert site.get("/cards/nothing.png").status_code == 404


def test_a_post_has_markdown_and_text_versions(site: Site, ada: Client) -> None:
    publication = site.publish("On looms", "Some **words**.", slug="über-looms")
    page = httpx.get(publication["url"])
    twin = attribute_of(LexborHTMLParser(page.text), "link[type='text/markdown']", "href")
    assert httpx.get(twin).text == "# On looms\n\nSome **words**.\n"
    text = httpx.get(f"{publication['url']}/llms.txt")
    assert (text.status_code, text.text) == (200, "On looms\n\nSome words.\n")
    ada.data("unpublish_content", publication_id=publication["publication_id"], confirm=True)
    assert httpx.get(twin).status_code == 410


def test_an_unchanged_page_is_not_sent_again(site: Site) -> None:
    site.publish()
    first = site.get("/hello-world")
    repeated = site.get("/hello-world", **{"If-None-Match": first.headers["etag"]})
    assert (repeated.status_code, repeated.content) == (304, b"")


def test_the_feed_and_the_sitemap(site: Site) -> None:
    urls = [
        site.publish(f"Post {number} & more", "<p>Text ]]&gt; here</p>", body_format="html")["url"]
        for number in range(3)
    ]
    feed = ET.fromstring(site.get("/feed.xml").content)
    assert [item.findtext("link") for item in feed.iter("item")] == urls[::-1]
    assert feed.findtext("channel/title") == "Ada writes"
    assert locations(site, "/sitemap.xml") == [site.url, *urls[::-1]]


def test_a_large_sitemap_is_split_into_parts(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    urls = {site.publish(f"Post {number}", tags=(f"tag {number}", "all"))["url"] for number in range(5)}
    all_urls = locations(site, "/sitemap.xml")
    monkeypatch.setattr(list_pages, "MAX_POSTS", 2)

    parts = locations(site, "/sitemap.xml")
    assert parts == [f"{site.url}/sitemap.xml?part={name}" for name in ("1", "2", "3", "lists")]
    first, *rest = (locations(site, part.removeprefix(site.url)) for part in parts)
    assert first == [f"{site.url}/post-0", f"{site.url}/post-1"]
    assert [len(part) for part in rest[:2]] == [2, 1]
    urls_of_parts = [url for part in (first, *rest) for url in part]
    assert len(urls_of_parts) == len(set(urls_of_parts))
    assert urls | {site.url} <= set(urls_of_parts) <= set(all_urls)

    for name in ("0", "4", "x", "-1", "9" * 5000, "1.0", "0000012", "000001" + "9" * 20, "000001" + "9" * 5000):
        assert site.get(f"/sitemap.xml?part={name}").status_code == 404


def locations(site: Site, path: str) -> list[str]:
    """Return the URLs in a sitemap or a sitemap index."""
    space = "{http://www.sitemaps.org/schemas/sitemap/0.9}"
    return [node.text or "" for node in ET.fromstring(site.get(path).content).iter(f"{space}loc")]


def test_hostile_text_is_escaped(host: RunningHost, ada: Client) -> None:
    site = Site(host, ada, HOSTILE, description=HOSTILE, author=HOSTILE)
    publication = site.publish(HOSTILE, f"# {HOSTILE}\n\n<script>alert(1)</script>", excerpt=HOSTILE, tags=(HOSTILE,))
    for url in (publication["url"], site.url):
        tree = LexborHTMLParser(httpx.get(url).text)
        assert not [node for node in tree.css("*") for name in node.attributes if name.startswith("on")]
        assert [node.attributes.get("type") for node in tree.css("script")] == ["application/ld+json"]
        json.loads(text_of(tree, "script"))
        assert "49" not in text_of(tree, "h1")
    ET.fromstring(site.get("/feed.xml").content)
    ET.fromstring(site.get("/sitemap.xml").content)


def test_many_posts_are_paged(site: Site) -> None:
    for number in range(13):
        site.publish(f"Number {number}")
    first, second = LexborHTMLParser(site.get().text), LexborHTMLParser(site.get("?page=2").text)
    assert len(first.css(".posts > li")) == 12
    assert [node.text() for node in second.css(".post-title")] == ["Number 0"]
    assert attribute_of(first, "a[rel=next]", "href") == f"{site.url}?page=2"
    for page in ("0", "3", "x", "99999999999999999999"):
        assert site.get(f"?page={page}").status_code == 404


def test_a_missing_page_is_a_404(site: Site, host: RunningHost) -> None:
    response = site.get("/nothing")
    assert response.status_code == 404
    assert "Page not found" in response.text
    assert 'content="noindex"' in response.text
    assert httpx.get(f"{host.url}/sites/nobody").status_code == 404
    assert site.get("/files/nothing.png").status_code == 404
    assert site.get("/cards/nothing.png").status_code == 404
    assert httpx.get(f"{host.url}/sites/static/secrets.css").status_code == 404


def test_a_url_with_only_a_prefix_of_a_page_is_a_404(site: Site, host: RunningHost, ada: Client) -> None:
    slug, tag = "long-" * 39 + "tails", "x" * 200
    site.publish(slug=slug, tags=(tag,))
    with_rule = Site(host, ada, "Ada redirects")
    old = f"/{'o' * 499}"
    ada.data("set_redirect", website_id=with_rule.id, from_path=old, to="/")
    for blog, path in ((site, f"/{slug}"), (site, f"/tags/{tag}"), (site, f"/{slug}.md"), (with_rule, old)):
        page = path.removesuffix(".md")
        longer = f"{page}-and-more{path.removeprefix(page)}"
        assert (blog.get(path).status_code in {200, 301}, blog.get(longer).status_code) == (True, 404), path


def test_a_changed_slug_leaves_a_redirect(site: Site, host: RunningHost, ada: Client) -> None:
    publication = site.publish("First", slug="first")
    host.run(Articles(ada.plugin).update(ada.user_id, site.content, 1, changes={"slug": "second"}))
    pair = {"content_id": site.content, "website_id": site.id}
    moved = ada.data("publish_content", **pair)
    assert moved["url"] == f"{site.url}/second"
    old = site.get("/first")
    assert (old.status_code, old.headers["location"]) == (301, f"{site.url}/second")
    host.run(Articles(ada.plugin).update(ada.user_id, site.content, 2, changes={"slug": "first"}))
    assert ada.data("publish_content", **pair)["publication_id"] == publication["publication_id"]
    assert site.get("/first").status_code == 200
    assert site.get("/second").headers["location"] == f"{site.url}/first"


def test_slugs_may_be_in_any_script_and_taken_slugs_are_refused(site: Site, ada: Client, host: RunningHost) -> None:
    publication = site.publish("日本語の記事", slug="日本語の記事")
    assert httpx.get(publication["url"]).status_code == 200
    other = host.run(
        Articles(ada.plugin).create(ada.user_id, Draft(title="Other", body="Words", slug="other"))
    ).article.id
    refusal = ada.refusal("publish_content", content_id=other, website_id=site.id, options={"slug": "日本語の記事"})
    assert "another post of this site has the slug" in refusal
    assert "or in options.slug if you gave it there" in refusal
    for slug in ("feed.xml", "icon.svg", "style.css"):
        assert "cannot be the slug" in ada.refusal(
            "publish_content", content_id=other, website_id=site.id, options={"slug": slug}
        )


def test_two_sites_with_the_same_name_have_different_urls(host: RunningHost, ada: Client, eve: Client) -> None:
    first, second = Site(host, ada, "The same"), Site(host, eve, "The same")
    assert first.url != second.url
    assert Site(host, ada, "static").url.endswith("/sites/static-site")


def test_posts_stay_online_when_the_site_is_disconnected(site: Site, ada: Client) -> None:
    publication = site.publish()
    assert ada.data("disconnect_website", website_id=site.id, confirm=True)["kept_publications"] == 1
    assert httpx.get(publication["url"]).status_code == 200


def test_a_disconnected_site_can_be_deleted_with_its_posts(site: Site, ada: Client, eve: Client) -> None:
    publication = site.publish("Mine alone")
    for _ in range(2):
        assert ada.data("disconnect_website", website_id=site.id, confirm=True)["kept_publications"] == 1
    assert "no website" in eve.refusal("disconnect_website", website_id=site.id, confirm=True, delete_posts=True)
    before = ada.data("get_account_usage")["storage"]["used_bytes"]
    assert ada.data("disconnect_website", website_id=site.id, confirm=True, delete_posts=True) == {
        "disconnected": True,
        "kept_publications": 0,
    }
    assert httpx.get(publication["url"]).status_code in (404, 410)
    assert ada.data("get_account_usage")["storage"]["used_bytes"] < before
    assert ada.data("list_content")["items"][0]["status"] == "draft"


def test_deleting_posts_with_the_site_is_refused_on_other_platforms(host: RunningHost, ada: Client) -> None:
    websites = Websites(ada.plugin)
    website = host.run(
        websites.add(ada.user_id, "wordpress", name="W", url="https://w.example", credential={"key": "x"})
    )
    assert "unpublish_content" in ada.refusal(
        "disconnect_website", website_id=website.id, confirm=True, delete_posts=True
    )
    assert ada.data("get_website", website_id=website.id)["website"]["status"] == "active"


CODE = """```python
def greet(name):  # says "hello"
    return f"<b>{name}</b>"
```

```some-unknown-language
keep <this> as it is
```

| A | B |
|---|---|
| 1 | 2 |
"""


def test_code_is_highlighted_and_its_text_is_unchanged(site: Site) -> None:
    publication = site.publish("On code", CODE)
    tree = LexborHTMLParser(httpx.get(publication["url"]).text)
    known, unknown = tree.css(".prose pre code")
    assert known.text() == 'def greet(name):  # says "hello"\n    return f"<b>{name}</b>"\n'
    assert [node.text().strip() for node in known.css(".hl-keyword")] == ["def", "return"]
    assert [node.text().strip() for node in known.css(".hl-comment")] == ['# says "hello"']
    assert unknown.html == '<code class="language-some-unknown-language">keep &lt;this&gt; as it is\n</code>'
    assert attribute_of(tree, ".prose .scroll:has(table)", "tabindex") == "0"
    assert publication["warnings"] == []


def test_code_not_highlighted_in_time_is_highlighted_later(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    block = "def greet(name): return name[0]\n" * 1_500
    long = f"```python\n{block}```\n\n" * 4
    monkeypatch.setattr(bodies, "_TRY_AGAIN", 0.0)
    with monkeypatch.context() as hurried:
        hurried.setattr(bodies, "_SECONDS", 1e-6)
        url = site.publish("On much code", long)["url"]
        plain = LexborHTMLParser(httpx.get(url, timeout=60).text)
        assert "def greet(name)" in text_of(plain, ".prose pre code")
        assert not plain.css(".prose .hl-keyword")
    assert LexborHTMLParser(httpx.get(url, timeout=60).text).css(".prose .hl-keyword")
