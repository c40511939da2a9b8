"""Pages in a browser: accessible, without scripts, on small screens and in dark mode."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest
from playwright.sync_api import Browser, Page
from pressroom.testing import RunningHost
from pressroom_content.articles.fields import Draft
from pressroom_content.articles.store import Articles
from support.axe import axe_script
from support.chromium import chromium
from support.people import BrowserWithoutScreen

from ..conftest import Client  # noqa: TID252 - the client of the whole plugin
from .blog import Blog, plain_png, wheel

pytestmark = pytest.mark.browser

BODY = """The first paragraph, with **weight**, `code` and [a link](https://example.com/).

## A section

> A quotation.

| Part | What it does | A third column |
|---|:-:|--:|
| Store | keeps a thousand numbers of fifty digits each | 50,000 |

```python
print("a line of code that is far too long for a telephone and has to scroll inside of its own box, not the page")
```

averylongwordwithoutanyplacetobreakitwhichnobodywouldwritebutsomebodypastesintoanarticleoneday
"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as running:
        yield running


def violations(page: Page) -> list[str]:
    page.evaluate(axe_script())
    rules = "['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa', 'best-practice']"
    report: dict[str, Any] = page.evaluate(f"axe.run(document, {{runOnly: {rules}, resultTypes: ['violations']}})")
    return [
        f"{violation['id']}: {json.dumps([node['html'] for node in violation['nodes']])[:300]}"
        for violation in report["violations"]
    ]


def test_pages_are_accessible_and_fit_the_screen(browser: Browser, host: RunningHost, ada: Client) -> None:
    website = ada.data("connect_website", platform="builtin", name="Notes on engines and other machines")
    articles = Articles(ada.plugin)
    url = ""
    for title in ("An older note", "The engine that was never built, and what became of all its wheels"):
        draft = Draft(
            title=title,
            body=BODY,
            tags=("engines", "Lokomotivführer" * 5),
            categories=("History",),
            excerpt="In short.",
            author="Ada",
        )
        article = host.run(articles.create(ada.user_id, draft)).article.id
        url = ada.data("publish_content", content_id=article, website_id=website["website_id"])["url"]
    with BrowserWithoutScreen(host) as signed_in:
        signed_in.enter(host, host.run(host.host.accounts.users.get(ada.user_id)))
        session = signed_in.session_cookie()
    websites = f"{host.url}/dashboard/websites"
    aligned = "Array.from(document.querySelectorAll('.prose td'), cell => getComputedStyle(cell).textAlign)"
    spilling = "cards => cards.filter(card => card.scrollWidth > card.clientWidth).map(card => card.innerText)"
    with browser.new_page(viewport={"width": 320, "height": 800}) as page:
        page.context.add_cookies([{"name": "pressroom_session", "value": session, "url": host.url}])
        complaints: list[str] = []
        page.on("console", lambda message: complaints.append(message.text))
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            for page_url in (
                url,
                website["connect_url"],
                f"{website['connect_url']}/missing",
                f"{website['connect_url']}/tags/engines",
                f"{website['connect_url']}/archive",
                f"{website['connect_url']}/search?q=engine",
                websites,
                f"{websites}/{website['website_id']}",
            ):
                page.goto(page_url)
                assert page.evaluate("document.documentElement.scrollWidth") == 320, page_url
                assert page.locator(".theme").evaluate_all(spilling) == [], page_url
                assert violations(page) == [], (scheme, page_url)
        page.goto(url)
        assert page.evaluate(aligned) == ["start", "-webkit-center", "-webkit-right"]
        assert [complaint for complaint in complaints if "404" not in complaint] == []


def test_nothing_is_cut_off_in_print(browser: Browser, host: RunningHost, ada: Client) -> None:
    blog = Blog(host, ada)
    long = f"https://example.org/{'a' * 200}"
    post = blog.publish("Printed", f"| Part | Source |\n|---|---|\n| Mill | {long} |\n\n```\n{long}\n```\n")
    cut_off = "boxes => boxes.filter(box => box.scrollWidth > box.clientWidth).map(box => box.tagName)"
    with browser.new_page(viewport={"width": 700, "height": 900}) as page:
        page.goto(post)
        assert page.locator(".prose pre, .prose .scroll").evaluate_all(cut_off) == ["DIV", "PRE"]
        page.emulate_media(media="print")
        assert page.locator(".prose pre, .prose .scroll").evaluate_all(cut_off) == []


def test_dark_sites_are_printed_with_dark_text(browser: Browser, host: RunningHost, ada: Client) -> None:
    blog = Blog(host, ada)
    post = blog.publish("Printed", "Text.\n\n```python\nprint(1)\n```\n")
    ink = "getComputedStyle(document.body).color"
    with browser.new_page() as page:
        page.goto(post)
        printed_light = page.evaluate(ink)
        for scheme in ("auto", "dark"):
            blog.set(color_scheme=scheme)
            page.emulate_media(media="screen", color_scheme="dark")
            page.goto(post)
            assert page.evaluate(ink) != printed_light
            page.emulate_media(media="print", color_scheme="dark")
            assert page.evaluate(ink) == printed_light


def test_every_theme_is_accessible_and_fits_the_screen(browser: Browser, host: RunningHost, ada: Client) -> None:
    blog = Blog(host, ada, description="Notes on engines.")
    post = blog.publish("The engine that was never built", BODY, tags=("engines",), author="Ada", language="ar")
    cover = blog.post_with_images("Wheels", wheel())
    with browser.new_page(viewport={"width": 1280, "height": 900}) as page:
        for theme, accent in (("classic", "#ffee00"), ("modern", "#2b5fd9"), ("magazine", "#c2185b")):
            blog.set(theme=theme, accent_color=accent)
            for scheme in ("light", "dark"):
                page.emulate_media(color_scheme=scheme)
                for url in (blog.url, post, cover):
                    page.goto(url)
                    assert violations(page) == [], (theme, scheme, url)
                page.set_viewport_size({"width": 390, "height": 800})
                for url in (blog.url, post, cover):
                    page.goto(url)
                    assert page.evaluate("document.documentElement.scrollWidth") == 390, (theme, url)
                page.set_viewport_size({"width": 1280, "height": 900})
        for size in ((2400, 120), (120, 480), (512, 512)):
            blog.set(logo=blog.upload(plain_png(*size)))
            for theme, breadth in product(("classic", "modern", "magazine"), (1280, 390)):
                blog.set(theme=theme)
                page.set_viewport_size({"width": breadth, "height": 900})
                page.goto(blog.url)
                logo, name = (page.locator(f".brand {selector}").bounding_box() for selector in ("img", "bdi"))
                assert logo is not None
                assert name is not None
                case = (theme, breadth, size, logo, name)
                assert logo["width"] / logo["height"] == pytest.approx(size[0] / size[1], rel=0.05), case
                assert logo["width"] <= 224, case
                assert 9 <= logo["height"] <= 48, case
                assert name["height"] < 60, case  # two lines at most, rather than one letter per line
                assert page.evaluate("document.documentElement.scrollWidth") == breadth, case


def test_code_and_dates_keep_their_direction_in_a_right_to_left_post(
    browser: Browser, host: RunningHost, ada: Client
) -> None:
    connection = ada.data("connect_website", platform="builtin", name="Notes in two scripts")
    website = connection["website_id"]
    articles = Articles(ada.plugin)
    code = 'نص مع `print("مرحبا")` هنا.\n\n```python\nprint("مرحبا")\n```\n\n> مرحبا\n'
    drafts = (
        Draft(title="An English post", body="Text.", excerpt="It ends here.", language="en"),
        Draft(title="مرحبا بالعالم", body=code, language="ar"),
    )
    urls = []
    for draft in drafts:
        article = host.run(articles.create(ada.user_id, draft)).article.id
        urls.append(ada.data("publish_content", content_id=article, website_id=website)["url"])
    with browser.new_page(viewport={"width": 800, "height": 800}) as page:
        page.goto(urls[1])
        assert page.locator("html").get_attribute("dir") == "rtl"
        for selector in (".prose p code", ".prose pre code"):
            # The positions of the brackets show the base direction of text that mixes Latin and Arabic.
            opening, closing = page.locator(selector).evaluate(_EDGES)
            assert opening < closing, selector
        day, minutes = page.locator(".post-head .post-note").evaluate(_DATE_EDGES)
        assert day > minutes  # the line runs from right to left, with each part isolated
        assert page.locator(".prose blockquote").evaluate("node => getComputedStyle(node).fontStyle") == "normal"
        page.goto(connection["connect_url"])
        teaser = page.locator(".post-excerpt", has_text="It ends here.")
        assert teaser.evaluate("node => getComputedStyle(node).direction") == "ltr"
        opening, closing = page.locator(".post-excerpt", has_text="نص مع").evaluate(_EDGES)
        assert opening < closing


_RANGE = """
  const walker = document.createTreeWalker(node, NodeFilter.SHOW_TEXT), texts = [];
  while (walker.nextNode()) texts.push(walker.currentNode);
  const left = (text, at) => {
    const range = document.createRange();
    range.setStart(text, at);
    range.setEnd(text, at + 1);
    return range.getBoundingClientRect().left;
  };
"""
_EDGES = f"""node => {{{_RANGE}
  const find = (mark) => {{
    const text = texts.find((one) => one.data.includes(mark));
    return left(text, text.data.indexOf(mark));
  }};
  return [find("p"), find(")")];
}}"""
_DATE_EDGES = f"""node => {{{_RANGE}
  const date = texts.find((one) => /^[0-9]/.test(one.data.trim()));
  const rest = texts.find((one) => one.data.includes("دقيقة"));
  return [left(date, 0), left(rest, 0)];
}}"""


def test_a_phone_loads_images_of_a_suitable_size(browser: Browser, host: RunningHost, ada: Client) -> None:
    url = Blog(host, ada).post_with_images("Wheels", wheel())
    with browser.new_page(viewport={"width": 412, "height": 800}, device_scale_factor=1.75) as page:
        page.goto(url)
        page.wait_for_function("document.querySelector('.post-image').complete")
        loaded = page.evaluate("document.querySelector('.post-image').currentSrc")
        width = page.evaluate("document.querySelector('.post-image').getBoundingClientRect().width * devicePixelRatio")
    assert 660 < width < 670
    assert loaded.endswith(".720.webp")
