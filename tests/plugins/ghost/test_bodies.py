"""Bodies on a real Ghost: readers see each construct as it was sent."""

from __future__ import annotations

from itertools import count

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pressroom.fetch import GuardedFetcher
from pressroom_content.contract import Post, render_body
from pressroom_ghost.site import GhostSite
from selectolax.lexbor import LexborHTMLParser, LexborNode
from support.ghost import Ghost
from support.sizes import SOAK, examples

from .conftest import site_of
from .test_site import a_post, seen

pytestmark = pytest.mark.timeout(900)  # the first test on a machine installs Ghost

_numbers = count(1)

CODE = {
    "python": 'def f():\n    return "{{title}}"  # <b>&amp;</b>\n\n\nprint(f())',
    "html": '<p class="x">{{#foreach posts}}</p>\n<!--members-only-->\n<script>alert(1)</script>',
    "c++": "std::vector<int> v{1, 2};\n\tif (a && b) {}",
    "bash": 'echo "${HOME}" `date` [gallery] %%{uniqueid}%% {uniqueid}',
    "liquid": "{% raw %}{{ page.title }}{% endraw %}\n{{< figure >}}",
}


async def shown(site: GhostSite, markdown: str, **fields: object) -> LexborNode:
    """Publish a post, and return its body as a visitor receives it."""
    html = render_body(markdown, "markdown")
    remote = await site.create(a_post(slug=f"body-{next(_numbers)}", html=html, markdown=markdown, **fields))
    live = await site.set_state(remote.id, "live")
    page = LexborHTMLParser((await seen(live.url)).text)
    body = page.css_first(".gh-content")
    assert body is not None
    return body


def texts(body: LexborNode, selector: str) -> list[str]:
    return [" ".join(node.text().split()) for node in body.css(selector)]


def own_text(node: LexborNode) -> str:
    """Return the text of a list item without its nested lists."""
    return "".join(child.text() for child in node.iter(include_text=True) if child.tag not in ("ul", "ol"))


async def test_text_is_published(site: GhostSite) -> None:
    body = await shown(
        site,
        "## Head *one*\n\nHard\nwrapped **bold *both*** ~~gone~~ `code` x<sup>2</sup>\nlines.\n\nA  \nbreak\n\n"
        "> quoted\n\n> two\n>\n> paragraphs\n\n---\n\n### Two\n\n[link](https://e.org/?a=1&b=2) <kbd>Ctrl</kbd>",
    )
    assert texts(body, "h2, h3") == ["Head one", "Two"]
    paragraph = body.css_first("p")
    assert paragraph is not None
    assert paragraph.css("br") == []
    assert " ".join(paragraph.text().split()) == "Hard wrapped bold both gone code x2 lines."
    assert [node.tag for node in paragraph.css("strong, em, s, code, sup")] == ["strong", "em", "s", "code", "sup"]
    assert len(body.css("br")) == 1
    assert texts(body, "blockquote") == ["quoted", "two paragraphs"]
    assert texts(body, "blockquote p") == ["two", "paragraphs"]
    assert len(body.css("hr")) == 1
    # Ghost itself adds the site's name to external links, unless its owner disables that.
    assert [node.attributes["href"] for node in body.css("a")] == ["https://e.org/?a=1&b=2&ref=127.0.0.1"]
    assert texts(body, "kbd") == ["Ctrl"]


async def test_lists_are_published(site: GhostSite) -> None:
    body = await shown(
        site,
        "- one\n- two\n  - nested\n    1. deep\n    2. deeper\n- three\n\n"
        "3. third\n4. fourth\n\ntext\n\n- [ ] to do\n- [x] done\n\ntext\n\n"
        "1. loose\n\n   second paragraph\n\n2. item",
    )
    items = [" ".join(own_text(node).split()) for node in body.css("li")]
    assert items[:6] == ["one", "two", "nested", "deep", "deeper", "three"]
    assert items[6:10] == ["third", "fourth", "☐ to do", "☑ done"]
    assert texts(body, "ul > li > ul > li > ol > li") == ["deep", "deeper"]
    assert texts(body, "ol[start='3'] > li") == ["third", "fourth"]
    assert texts(body, "ol > li > p") == ["loose", "second paragraph", "item"]


async def test_tables_footnotes_and_details_are_published(site: GhostSite) -> None:
    body = await shown(
        site,
        "| a | b | c |\n|:--|:-:|--:|\n| 1 | 2 | 3 |\n\nText[^n] and more[^m].\n\n"
        "<details><summary>More</summary><p>Hidden <em>text</em></p></details>\n\n"
        "<details><summary>Table</summary>\n\n| x |\n|---|\n| y |\n\n</details>\n\n[^n]: First.\n[^m]: Second.",
    )
    cells = [(node.text(), node.attributes.get("align")) for node in body.css("td")]
    assert cells[:3] == [("1", "left"), ("2", "center"), ("3", "right")]
    for link in body.css("a[href^='#fn']"):
        target = (link.attributes["href"] or "#")[1:]
        assert len(body.css(f'[id="{target}"]')) == 1, target
    assert len(body.css("a[href^='#fn']")) == 4
    assert texts(body, ".kg-toggle-heading-text, details > summary") == ["More", "Table"]
    assert texts(body, ".kg-toggle-content, details td") == ["Hidden text", "y"]


async def test_code_is_published_and_does_not_run(site: GhostSite) -> None:
    fences = "\n\n".join(f"```{language}\n{code}\n```" for language, code in CODE.items())
    body = await shown(site, f"Before\n\n{fences}\n\n`{{{{title}}}} <!--members-only-->`\n\nAfter")
    assert {
        (node.attributes["class"] or "").removeprefix("language-"): node.text() for node in body.css("pre > code")
    } == CODE
    assert texts(body, "p > code") == ["{{title}} <!--members-only-->"]
    assert texts(body, "p")[-1] == "After"
    assert body.css("script") == []


async def test_text_of_all_directions_is_published(site: GhostSite) -> None:
    body = await shown(
        site,
        '<p dir="rtl" lang="ar">مرحبا <strong>بالعالم</strong></p>\n\n<div dir="rtl"><p>שלום</p></div>\n\n'
        "日本語の**段落**。\n\nعربي بلا وسم\n\n## 見出し\n\n😀 e\u0301 a&nbsp;b",
    )
    paragraph = body.css_first('p[dir="rtl"][lang="ar"]')
    assert paragraph is not None
    assert paragraph.text() == "مرحبا بالعالم"
    assert texts(body, '[dir="rtl"] > p') == ["שלום"]
    assert texts(body, "h2") == ["見出し"]
    assert [node.text() for node in body.css(".gh-content > p")][-3:] == [
        "日本語の段落。",
        "عربي بلا وسم",
        "😀 e\u0301 a\N{NO-BREAK SPACE}b",
    ]


async def test_images_and_embeds_are_published(site: GhostSite) -> None:
    body = await shown(
        site,
        '![Alt "one" & <two>](https://e.org/a.png "Title")\n\n'
        '<figure><img src="https://e.org/b.png" alt="B" width="800" height="600"><figcaption>A <em>caption</em>'
        "</figcaption></figure>\n\n"
        '<a href="https://e.org/"><img src="https://e.org/c.png" alt="<!--members-only-->"></a>\n\n'
        '<iframe src="https://www.youtube-nocookie.com/embed/x" width="560" height="315" title="V"></iframe>\n\n'
        "![](https://e.org/d.png) with text\n\nAfter",
    )
    images = {(node.attributes["src"] or "")[-5:-4]: node.attributes for node in body.css("img")}
    assert images.keys() == {"a", "b", "c", "d"}
    assert (images["a"]["alt"], images["a"]["title"]) == ('Alt "one" & <two>', "Title")
    assert (images["b"]["alt"], images["b"]["width"], images["b"]["height"]) == ("B", "800", "600")
    assert images["c"]["alt"] == "<!--members-only-->"
    assert texts(body, "figcaption") == ["A caption"]
    assert texts(body, "figcaption em") == ["caption"]
    assert len(body.css('a[href^="https://e.org/?"] > img')) == 1
    frame = body.css_first(".kg-embed-card > iframe")
    assert frame is not None
    assert frame.attributes["src"] == "https://www.youtube-nocookie.com/embed/x"
    assert (frame.attributes["width"], frame.attributes["title"]) == ("560", "V")
    assert texts(body, "p")[-1] == "After"


TAGS = ("strong", "em", "s", "u", "code", "sub", "sup", "mark")
INLINE = st.recursive(
    st.text("ab", min_size=1, max_size=2),
    lambda inner: st.one_of(
        st.tuples(st.sampled_from([*TAGS, 'a href="https://e.org/"']), inner).map(
            lambda element: f"<{element[0]}>{element[1]}</{element[0].split()[0]}>"
        ),
        st.lists(inner, min_size=1, max_size=4).map("".join),
    ),
    max_leaves=7,
)


@pytest.fixture
def posts(blog: Ghost, fetcher: GuardedFetcher) -> GhostSite:
    return site_of(blog, fetcher)


def marked(body: LexborNode) -> list[tuple[str, frozenset[str]]]:
    """Return each letter with its formats."""
    letters = []
    stack: list[tuple[LexborNode, frozenset[str]]] = [(body, frozenset())]
    while stack:
        node, around = stack.pop()
        if node.tag == "-text":
            letters += [(letter, around) for letter in node.text_content or "" if not letter.isspace()]
            continue
        marks = around | ({node.tag} if node.tag in (*TAGS, "a") else set())
        stack += [(child, marks) for child in reversed([*node.iter(include_text=True)])]
    return letters


@settings(max_examples=examples(3), suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.lists(INLINE, min_size=20, max_size=20))
async def test_each_letter_has_the_formats_that_it_was_given(posts: GhostSite, lines: list[str]) -> None:
    html = render_body("".join(f"<p>{line}</p>" for line in lines), "html")
    made = await posts.create(a_post(slug=f"letters-{next(_numbers)}", html=html))
    sent, kept = LexborHTMLParser(html).body, LexborHTMLParser(made.html).body
    assert sent is not None
    assert kept is not None
    assert marked(kept) == marked(sent)


def long_post(megabytes: float) -> Post:
    paragraph = (
        "<p>Some <strong>text</strong> of <em>an</em> article with <a href='https://e.org/'>links</a>, 日本語. {}</p>"
    )
    sections = [f"<h2>{at}</h2>{paragraph.format('word ' * 80)}" for at in range(int(megabytes * 1_000_000 / 520))]
    return a_post(slug=f"long-{next(_numbers)}", html="".join(sections))


async def test_a_long_body_is_published(site: GhostSite) -> None:
    post = long_post(2.0 if SOAK else 0.2)
    remote = await site.create(post)
    stored = await site.read(remote.id)
    assert len(stored.html) > len(post.html)
    assert stored.html.count("<h2") == post.html.count("<h2")
    assert stored.html.count("word") == post.html.count("word")
    assert len(site.codec.split(stored.raw)) == 2 * post.html.count("<h2")
