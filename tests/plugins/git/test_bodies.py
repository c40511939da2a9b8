"""Bodies in blocks: every byte of a file belongs to a block, and text written here is shown, not executed."""

from __future__ import annotations

import pickle
from collections.abc import Mapping

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pressroom_content.contract import BlockSite, render_body
from pressroom_git.bodies import MarkdownCodec
from pressroom_git.front_matter import Generator
from selectolax.lexbor import LexborHTMLParser

from .conftest import Repo, site_of

GENERATORS: tuple[Generator, ...] = ("hugo", "jekyll", "astro")
PARTS = st.sampled_from(
    [  # delimiters of blocks
        "# T\n", "para\n", "\n", "- a\n", "  - b\n", "1. x\n", "> q\n", "```\n", "~~~js\n", "    code\n", "| a | b |\n",
        "|---|:-:|\n", "<div>\n", "</div>\n", "<!--", "-->\n", "{{< x >}}\n",
        "{{< /x >}}", "{{% y %}}",
        "{{</* z */>}}", "{% raw %}\n", "{% endraw %}\n", "{% if a %}", "{% endif %}", "{{ b }}", "<Tabs>\n",
        "</Tabs>\n", "import x\n",
        "{", "}", "`", "``", "\\", "[x]: http://e\n", "[^1]: n\n", "[x]", "\r\n", "\t", "$$", "{: .c}\n", "\x00", "é",
    ]
)  # fmt: skip
BODIES = st.lists(PARTS | st.text(max_size=5), max_size=30).map("".join)


@given(raw=BODIES, generator=st.sampled_from(GENERATORS))
def test_every_byte_of_a_body_is_in_its_blocks(raw: str, generator: Generator) -> None:
    codec = pickle.loads(pickle.dumps(MarkdownCodec(generator)))
    sources = [block.source for block in codec.split(raw)]
    assert "".join(sources) == (raw if raw.strip() else "")
    assert codec.join(sources, raw) == raw


@given(markdown=BODIES, generator=st.sampled_from(GENERATORS))
@example(markdown="0{: .c}\n", generator="hugo")
def test_what_is_written_here_runs_nothing(markdown: str, generator: Generator) -> None:
    codec = MarkdownCodec(generator)
    body = codec.join(codec.encode("", markdown))
    assert codec.programs(body) == [], body


@given(raw=BODIES, at=st.integers(0, 30), generator=st.sampled_from(GENERATORS))
def test_blocks_of_others_stay_blocks_beside_new_ones(raw: str, at: int, generator: Generator) -> None:
    codec = MarkdownCodec(generator)
    sources = [block.source for block in codec.split(raw)]
    sources[at:at] = codec.encode("", "A *new* one.")
    body = codec.join(sources, raw)
    for source in sources:
        assert source in body
    assert len([one for one in codec.split(body) if one.source.strip() == "A *new* one."]) >= (not raw.strip())


MIXED = """
# Title

See [a][x].

[x]: https://e.org/a "T"

{{< figure src="x" >}}

{{% note %}}

inside

{{% /note %}}

Through {{< ref "x" >}} here.

`{{</* gallery */>}}`

<div class=x>

deep

</div>

## Head {#id}

- a
- b
"""


def test_hugo_blocks_are_named_and_kept() -> None:
    blocks = MarkdownCodec("hugo").split(MIXED)
    assert [(block.name, block.markdown) for block in blocks] == [
        ("heading", "# Title"),
        ("paragraph", 'See [a](https://e.org/a "T").'),
        ("link definitions", None),
        ("shortcode figure", None),
        ("shortcode note", None),
        ("shortcode ref", None),
        ("paragraph", "`{{< gallery >}}`"),
        ("HTML div", None),
        ("heading with attributes", None),
        ("list", "- a\n- b"),
    ]


def test_jekyll_blocks_are_named_and_kept() -> None:
    raw = (
        "{% include x.html %}\n\n{% raw %}\n```js\n{{ x }}\n```\n{% endraw %}\n\n{% if a %}\n\nb\n\n{% endif %}\n\n"
        "{{ page.title }}\n\nText\n{: .note}\n\nPlain\n"
    )
    assert [(block.name, block.markdown) for block in MarkdownCodec("jekyll").split(raw)] == [
        ("Liquid include", None),
        ("code", "```js\n{{ x }}\n```"),
        ("Liquid if", None),
        ("Liquid", None),
        ("paragraph with attributes", None),
        ("paragraph", "Plain"),
    ]


def test_astro_blocks_are_named_and_kept() -> None:
    raw = "import Tabs from 'x'\n\n<Tabs a={b}>\n\ntext\n\n</Tabs>\n\nOne {x} two\n\nIn <Icon /> line\n\nPlain\n"
    assert [(block.name, block.markdown) for block in MarkdownCodec("astro").split(raw)] == [
        ("import", None),
        ("HTML Tabs", None),
        ("expression", None),
        ("component Icon", None),
        ("paragraph", "Plain"),
    ]


@pytest.mark.parametrize("generator", GENERATORS)
def test_a_new_block_is_not_merged_into_its_neighbour(generator: Generator) -> None:
    codec = MarkdownCodec(generator)
    for first in ("text", "```\nopen", "<!-- open", "- a\n"):
        assert codec.split(codec.join([first, "new\n\n"], first))[-1].source == "new\n\n", first
    assert render_body(codec.join(["- a\n", "- b\n\n"], "- a\n"), "markdown").count("<ul>") == 2


ARTICLE = """\
## Words {#x}

H<sub>2</sub>O, x<sup>n+1</sup>, <kbd>Ctrl</kbd>, a | b, `{{ site.url }}`, {{ site.url }},
{% assign x = 1 %} and {{< gallery >}}.

import words {a} `{:onclick="x"}` and `{{% ref "x" %}}` and `{{< open`
: term

<p dir="rtl">مرحبا <b>يا عالم</b></p>

<h2 dir="rtl">عنوان</h2>

<details><summary>More</summary>

Inner *words*

</details>

```html
{{< gallery >}} {{< open {% assign y = 2 %} {{ site.url }} {{</* shown */>}}
```

```
{::comment} <br onclick="x">
```

1) one
2) two

| left | right |
|:-----|------:|
| 1    | 2     |

- [ ] to do
- [x] done

Noted[^1].

[^1]: The note.

<figure><img src="https://e.org/a.png" alt="Alt"><figcaption>A <b>caption</b></figcaption></figure>

<table><tr><td colspan="2">wide</td></tr><tr><td>c</td><td>d</td></tr></table>

<iframe src="https://www.youtube.com/embed/x" title="A film"></iframe>
"""
WORDS = ["مرحبا", "يا عالم", "عنوان", "More", "Inner", "to do", "done", "The note.", "caption", "wide", "term", "a | b"]
CODE = [
    "{{ site.url }}",
    '{{% ref "x" %}}',
    "{{< gallery >}}",
    "{{</* shown */>}}",
    "{% assign y = 2 %}",
    '{:onclick="x"}',
    "{::comment}",
]


def must_show(page: str, *more: str) -> None:
    """Compare without white space: highlighted code has an element around each of its words."""
    words = "".join(LexborHTMLParser(page).text().replace("\u200b", "").split())
    for source in [*WORDS, *CODE, "Words {#x}", "{% assign x = 1 %} and {{< gallery >}}", "import words {a}", *more]:
        assert "".join(source.split()) in words, (source, words)


POSTS: Mapping[Generator, tuple[str, str]] = {
    "hugo": ("content/posts/a.md", "/posts/a/"),
    "jekyll": ("_posts/2021-03-04-a.md", "/2021/03/04/a.html"),
    "astro": ("src/content/blog/a.md", "/blog/a/"),
}
"""The path of a post's file, and its URL."""


def own_post(generator: Generator) -> str:
    """Return the file of a post that has the article as its body."""
    codec = MarkdownCodec(generator)
    return f"---\nlayout: post\ntitle: T\n---\n\n{codec.join(codec.encode('', ARTICLE))}"


def shows_own_post(page: str, generator: Generator) -> None:
    """Check that the page of that post shows all that the article says, with a generator's default settings."""
    assert "raw HTML omitted" not in page
    must_show(page, *(("H₂O", "xⁿ⁺¹", "{{< open {% assign y") if generator == "hugo" else ("H2O", "xn+1")))
    html = LexborHTMLParser(page)
    # Astro adds a heading above footnotes.
    assert [node.attributes.get("dir") for node in html.css("h2:not([id=footnote-label])")] == [None, "rtl"]
    assert html.css_first("[onclick]") is None
    assert len(html.css("ol > li")) == 3
    assert len(html.css("input[type=checkbox]")) == 2
    cells = html.css("table")[0].css("td")
    alignments = [node.attributes.get("align") or node.attributes.get("style") or "" for node in cells]
    assert [style.replace(" ", "").removeprefix("text-align:") for style in alignments] == ["left", "right"]
    assert html.css_first("code.language-html, .language-html code, pre[data-language=html] code") is not None
    assert html.css_first("section.footnotes, div.footnotes") is not None
    assert html.css_first("img[alt=Alt]") is not None
    if generator != "hugo":  # Hugo omits HTML by default
        assert html.css_first("p[dir=rtl]") is not None
        assert html.css_first("details summary") is not None


def test_a_jekyll_post_keeps_comment_syntax_in_code() -> None:
    codec = MarkdownCodec("jekyll")
    body = codec.join(codec.encode("", ARTICLE))
    assert "{::comment}" in {block.markdown and block.markdown[4:15] for block in codec.split(body)}


@given(st.text(st.sampled_from("{}%<>*/` \n-a|:$\\#[]()!"), max_size=60))
@example("{a}")  # attributes in other dialects, but text for kramdown
def test_liquid_is_whole_around_any_text(text: str) -> None:
    body = "".join(MarkdownCodec("jekyll").encode("", text))
    assert MarkdownCodec("jekyll").programs(body) == []


@pytest.mark.parametrize("generator", GENERATORS)
def test_encoding_a_block_twice_does_not_change_it(generator: Generator) -> None:
    codec = MarkdownCodec(generator)
    body = codec.join(codec.encode("", ARTICLE))
    for block in codec.split(body):
        if block.markdown is not None:
            encoded = "".join(codec.encode("", block.markdown))
            assert encoded.strip() == block.source.strip()


def test_a_git_site_is_a_block_site(repo: Repo) -> None:
    assert isinstance(site_of(repo), BlockSite)


@pytest.mark.parametrize("generator", GENERATORS)
@pytest.mark.parametrize(
    "raw",
    ["[a" * 200_000, "`" * 300_000, "<a " * 100_000,
     "{{< x " * 100_000, "{% x" * 100_000, "<!--" * 100_000, "> " * 100_000,
     "- " * 50_000, "a|b\n" * 20_000, "[a]: b\n" * 20_000, "{: " * 100_000, "<Tabs>\n\n" * 10_000, "\\" * 300_000],
    ids=range(13),
)  # fmt: skip
def test_adversarial_bodies_are_parsed_quickly(generator: Generator, raw: str) -> None:
    codec = MarkdownCodec(generator)
    blocks = codec.split(raw)
    assert "".join(block.source for block in blocks) == raw
    codec.encode("", raw)
