"""Check thresholds: the last good value and the first bad one."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from typing import Any

import pytest
from pressroom_content.language import language_pack
from pressroom_seo.scoring import (
    Author,
    ImageFacts,
    LinkStatus,
    OtherArticle,
    ScoringArticle,
    World,
    pixel_width,
    rule_set,
)
from pressroom_seo.scoring.checks import ARTICLE_CHECKS
from support.seo_articles import GOOD, check, filler

PHRASE = "sourdough starter"


def english(body: str = "", **fields: Any) -> ScoringArticle:
    return ScoringArticle(**{"body": body, "language": "en", "title": "A title", "keyphrase": PHRASE, **fields})


def text_of(words: int, uses: int, *, use: str = PHRASE, every: int = 20) -> str:
    """Return `words` words of text that use the keyphrase `uses` times, each in its own sentence."""
    plain = filler(words - len(use.split()) * uses, sentence=every).split(". ")
    for number in range(uses):
        plain.insert((number * len(plain)) // max(1, uses), use.capitalize())
    return ". ".join(part.rstrip(".") for part in plain) + "."


def spread(*stretches: int) -> str:
    """Return stretches of text of these lengths, separated by the keyphrase."""
    return " Sourdough starter. ".join(filler(words) for words in stretches)


def paragraphs(*sizes: int) -> str:
    return "\n\n".join(filler(size) for size in sizes)


def title_of(pixels: float) -> str:
    """Return a title of this width, to within 0.6 pixels: narrow letters fill the remainder."""
    for wide in range(int(pixels / 14.4) + 1, 0, -1):
        rest = pixels - pixel_width("H" * wide, 20)
        narrow = round(rest / pixel_width("i", 20))
        if rest >= 0 and abs(rest - pixel_width("i" * narrow, 20)) < 0.6:
            return "H" * wide + "i" * narrow
    raise AssertionError(pixels)


def sentences(long: int, short: int) -> str:
    return " ".join([filler(21, sentence=21)] * long + [filler(20, sentence=20)] * short)


def voiced(passive: int, active: int) -> str:
    return " ".join(["The bread was eaten."] * passive + ["The dog ate the bread."] * active)


def tied(with_transition: int, without: int) -> str:
    plain = "The dog runs over the green hill to the house of the baker."
    return " ".join([f"However, {plain}"] * with_transition + [plain] * without)


def complex_text(hard: int, plain: int) -> str:
    return " ".join(["fermentation"] * hard + ["bread"] * plain) + "."


def headings(with_phrase: int, without: int) -> str:
    return "\n\n".join(["## The sourdough starter"] * with_phrase + ["## The oven"] * without)


def images(*alts: str) -> str:
    return "\n\n".join(f"![{alt}](i{number}.jpg)" for number, alt in enumerate(alts))


def others(number: int, **fields: str) -> World:
    return World(others=tuple(OtherArticle(f"https://e.com/{at}", **fields) for at in range(number)))


def html(body: str, **fields: Any) -> ScoringArticle:
    return english(body, format="html", **fields)


GOOD_DATA = {
    "@context": "https://schema.org",
    "@type": "BlogPosting",
    "headline": "Sourdough",
    "image": "https://e.com/a.jpg",
    "datePublished": "2026-01-01",
    "dateModified": "2026-01-02",
    "author": {"@type": "Person", "name": "Ada", "url": "https://e.com/ada"},
}
SOCIAL = {
    "og:title": "t",
    "og:description": "d",
    "og:image": "https://e.com/a.jpg",
    "og:image:width": "1200",
    "og:image:height": "630",
    "twitter:card": "summary_large_image",
}
SECTION = "## The oven\n\n"

CASES: list[tuple[str, str, ScoringArticle]] = [
    ("keyphrase_set", "good", english()),
    ("keyphrase_set", "skipped", english(keyphrase="")),
    ("keyphrase_set", "skipped", english(keyphrase=" ?! ")),
    ("keyphrase_length", "good", english(keyphrase="rye bread crust crumb")),
    ("keyphrase_length", "ok", english(keyphrase="rye bread crust crumb oven")),
    ("keyphrase_length", "ok", english(keyphrase="rye bread crust crumb oven heat salt yeast")),
    ("keyphrase_length", "bad", english(keyphrase="rye bread crust crumb oven heat salt yeast jar")),
    ("keyphrase_length", "good", english(keyphrase="how to bake bread in the oven with salt")),
    ("keyphrase_function_words", "good", english(keyphrase="the bread")),
    ("keyphrase_function_words", "bad", english(keyphrase="what is the")),
    ("keyphrase_function_words", "skipped", english(language="sv")),
    ("keyphrase_in_title", "good", english(title="Sourdough starter guide")),
    ("keyphrase_in_title", "good", english(title="The Sourdough Starter that never fails")),
    ("keyphrase_in_title", "ok", english(title="Guide to a sourdough starter")),
    ("keyphrase_in_title", "ok", english(title="Starters made of sourdough")),
    ("keyphrase_in_title", "bad", english(title="Sourdough for beginners")),
    ("keyphrase_in_title", "bad", english(title="")),
    ("keyphrase_in_title", "good", english(title="Guide", seo_title="Sourdough starter guide")),
    ("keyphrase_in_intro", "good", english("Feed your sourdough starters well.\n\nThe rest.")),
    ("keyphrase_in_intro", "good", english("Feed your levain well.\n\nThe rest.", synonyms=("levain",))),
    ("keyphrase_in_intro", "ok", english("Sourdough is good. A starter is needed.\n\nThe rest.")),
    ("keyphrase_in_intro", "bad", english("Bread is good.\n\nThe sourdough starter.")),
    ("keyphrase_in_intro", "bad", english("")),
    ("keyphrase_density", "good", english(text_of(1000, 4))),
    ("keyphrase_density", "bad", english(text_of(1000, 3))),
    ("keyphrase_density", "good", english(text_of(1000, 21))),
    ("keyphrase_density", "bad", english(text_of(1000, 22))),
    ("keyphrase_density", "good", english(text_of(1000, 25, use="sourdough starters"))),
    ("keyphrase_density", "bad", english(text_of(1000, 26, use="sourdough starters"))),
    ("keyphrase_density", "good", english(text_of(1000, 29, use="bread"), keyphrase="bread")),
    ("keyphrase_density", "bad", english(text_of(1000, 30, use="bread"), keyphrase="bread")),
    ("keyphrase_density", "good", english(text_of(1000, 17, use="rye bread crust"), keyphrase="rye bread crust")),
    ("keyphrase_density", "bad", english(text_of(1000, 18, use="rye bread crust"), keyphrase="rye bread crust")),
    ("keyphrase_density", "bad", english(text_of(100, 1))),
    ("keyphrase_density", "good", english(text_of(100, 2))),
    ("keyphrase_density", "bad", english(text_of(100, 3))),
    ("keyphrase_density", "bad", english(text_of(300, 1))),
    ("keyphrase_density", "good", english(text_of(172, 2, use="rye bread crust"), keyphrase="rye bread crust")),
    ("keyphrase_density", "bad", english(text_of(172, 5, use="rye bread crust"), keyphrase="rye bread crust")),
    ("keyphrase_density", "good", english(text_of(99, 1))),
    ("keyphrase_density", "good", english(text_of(99, 2))),
    ("keyphrase_density", "bad", english(text_of(99, 3))),
    ("keyphrase_density", "good", english(text_of(51, 2))),
    ("keyphrase_density", "bad", english(text_of(50, 2))),
    ("keyphrase_density", "good", english(text_of(50, 1))),
    ("keyphrase_density", "bad", english(text_of(50, 0))),
    ("keyphrase_density", "bad", english("")),
    ("keyphrase_distribution", "good", english(spread(60, 60, 60, 14))),
    ("keyphrase_distribution", "good", english(filler(200), synonyms=("stone",))),
    ("keyphrase_distribution", "ok", english(spread(62, 60, 58, 14))),
    ("keyphrase_distribution", "ok", english(spread(100, 98))),
    ("keyphrase_distribution", "bad", english(spread(102, 96))),
    ("keyphrase_distribution", "bad", english(filler(150))),
    ("keyphrase_distribution", "skipped", english(filler(140))),
    ("keyphrase_in_meta", "good", english(description="A sourdough starter.")),
    ("keyphrase_in_meta", "good", english(description="A sourdough starter. And sourdough starters.")),
    ("keyphrase_in_meta", "bad", english(description=f"{PHRASE}. {PHRASE}. {PHRASE}.")),
    ("keyphrase_in_meta", "bad", english(description="Bread.")),
    ("keyphrase_in_meta", "bad", english()),
    ("keyphrase_in_slug", "good", english(slug="make-sourdough-starter")),
    ("keyphrase_in_slug", "ok", english(slug="make-sourdough")),
    ("keyphrase_in_slug", "bad", english(slug="bread")),
    ("keyphrase_in_slug", "good", english(slug="rye-bread", keyphrase="rye bread crust")),
    ("keyphrase_in_slug", "ok", english(slug="rye-bread", keyphrase="rye bread crust oven")),
    ("keyphrase_in_slug", "good", english(slug="grosse-broetchen-baeckerei", keyphrase="Große", language="de")),
    ("keyphrase_in_title", "good", english(title="İstanbul gezisi", keyphrase="istanbul gezisi", language="tr")),
    (
        "keyphrase_in_title",
        "good",
        english(title="Is\u0131 pompas\u0131 seçimi", keyphrase="\u0131s\u0131 pompas\u0131", language="tr"),
    ),
    (
        "keyphrase_in_intro",
        "good",
        english(
            "Is\u0131 pompas\u0131 evi \u0131s\u0131t\u0131r.", keyphrase="\u0131s\u0131 pompas\u0131", language="tr"
        ),
    ),
    ("keyphrase_in_slug", "good", english(slug="chai-चाय-बनाना", keyphrase="चाय बनाना", language="hi")),
    ("keyphrase_in_slug", "good", english(slug="இட்லி-செய்வது", keyphrase="இட்லி செய்வது", language="ta")),
    ("keyphrase_in_slug", "good", english(url="https://e.com/blog/sourdough-starter.html")),
    ("keyphrase_in_slug", "skipped", english()),
    ("keyphrase_in_subheadings", "good", english(headings(3, 7))),
    ("keyphrase_in_subheadings", "bad", english(headings(2, 5))),
    ("keyphrase_in_subheadings", "good", english(headings(3, 1))),
    ("keyphrase_in_subheadings", "bad", english(headings(4, 1))),
    ("keyphrase_in_subheadings", "good", english(headings(1, 0))),
    ("keyphrase_in_subheadings", "bad", english(headings(0, 1))),
    ("keyphrase_in_subheadings", "skipped", english("#### Sourdough")),
    ("keyphrase_in_alt", "good", english(images("sourdough", "", "", ""))),
    ("keyphrase_in_alt", "ok", english(images("oven", ""))),
    ("keyphrase_in_alt", "bad", english(images("", ""))),
    ("keyphrase_in_alt", "good", english(images(*["starter"] * 3, *["oven"] * 7))),
    ("keyphrase_in_alt", "ok", english(images(*["starter"] * 2, *["oven"] * 5))),
    ("keyphrase_in_alt", "ok", english(images(*["starter"] * 4, "oven"))),
    ("keyphrase_in_alt", "skipped", english("text")),
    ("competing_links", "good", english("[my sourdough starter tips](https://e.com)")),
    ("competing_links", "bad", english("[the Sourdough Starters](https://e.com)")),
    ("competing_links", "good", english("[sourdough starter](#top)")),
    ("title_present", "good", english()),
    ("title_present", "bad", english(title=" \n")),
    ("title_width", "good", english(title=title_of(200))),
    ("title_width", "ok", english(title=title_of(198))),
    ("title_width", "good", english(title=title_of(599))),
    ("title_width", "bad", english(title=title_of(602))),
    ("title_width", "bad", english(title="")),
    ("meta_description_length", "bad", english()),
    ("meta_description_length", "ok", english(description="x")),
    ("meta_description_length", "ok", english(description="x" * 120)),
    ("meta_description_length", "good", english(description="x" * 121)),
    ("meta_description_length", "good", english(description="x" * 156)),
    ("meta_description_length", "ok", english(description="x" * 157)),
    ("meta_description_length", "ok", english(description="x" * 170)),
    ("meta_description_length", "bad", english(description="x" * 171)),
    ("meta_description_length", "ok", english(description="蜂" * 60)),
    ("meta_description_length", "good", english(description="蜂" * 61)),
    ("meta_description_length", "good", english(description="벌" * 70)),
    ("meta_description_length", "bad", english(description="蜂" * 86)),
    ("slug_quality", "good", english(slug="x" * 75)),
    ("slug_quality", "ok", english(slug="x" * 76)),
    ("slug_quality", "ok", english(slug="x" * 100)),
    ("slug_quality", "bad", english(slug="x" * 101)),
    ("slug_quality", "bad", english(slug="rye_bread")),
    ("slug_quality", "bad", english(slug="rye%20bread")),
    ("slug_quality", "ok", english(slug="2026")),
    ("slug_quality", "ok", english(slug="what-is-the")),
    ("slug_quality", "ok", english(slug="Rye-Bread")),
    ("slug_quality", "good", english(slug="パンの作り方")),
    ("slug_quality", "skipped", english()),
    ("canonical", "good", english()),
    ("canonical", "good", english(url="https://e.com/a", canonicals=("https://e.com/a/",))),
    (
        "canonical",
        "good",
        english(url="https://e.com/a", original_url="https://o.org/a", canonicals=("https://o.org/a",)),
    ),
    # The same URL, as WordPress escapes it and as people write it.
    (
        "canonical",
        "good",
        english(url="https://e.com/%D1%85%D0%BB%D0%B5%D0%B1", canonicals=("https://e.com/%d1%85%d0%bb%d0%b5%d0%b1/",)),
    ),
    ("canonical", "good", english(url="https://xn--e1afmkfd.xn--p1ai/a", canonicals=("https://пример.рф/a",))),
    ("canonical", "ok", english(url="https://e.com/a", canonicals=("/a",))),
    ("canonical", "ok", english(url="https://e.com/a", canonicals=("https://o.org/a",))),
    ("canonical", "bad", english(canonicals=("https://e.com/a", "https://e.com/b"))),
    ("canonical", "bad", english(canonicals=("https://[broken",))),
    ("canonical", "bad", english(canonicals=("javascript:x",))),
    ("indexable", "skipped", english()),
    ("indexable", "good", english(robots=())),
    ("indexable", "good", english(robots=("index, follow",))),
    ("indexable", "ok", english(robots=("nosnippet",))),
    ("indexable", "ok", english(robots=("NOIMAGEINDEX",))),
    ("indexable", "bad", english(robots=("follow, NoIndex",))),
    ("indexable", "bad", english(robots=("none",))),
    ("language", "good", GOOD),
    ("language", "ok", english(language="")),
    ("language", "bad", english(language="english!")),
    ("language", "bad", english(GOOD.body, language="de")),
    ("language", "good", english(GOOD.body, language="en_GB")),
    ("language", "good", english("Kurz.", language="de-AT")),
    ("social_tags", "skipped", english()),
    ("social_tags", "good", english(social=SOCIAL)),
    ("social_tags", "ok", english(social={**SOCIAL, "og:image:height": "629"})),
    ("social_tags", "ok", english(social={**SOCIAL, "twitter:card": ""})),
    ("social_tags", "bad", english(social={"og:type": "article"})),
    ("structured_data", "skipped", english()),
    ("structured_data", "good", english(structured_data=(GOOD_DATA,))),
    ("structured_data", "ok", english(structured_data=({**GOOD_DATA, "image": ""},))),
    ("structured_data", "bad", english(structured_data=({**GOOD_DATA, "datePublished": "yesterday"},))),
    ("structured_data", "bad", english(structured_data=())),
    ("structured_data", "bad", english(structured_data=({**GOOD_DATA, "@type": "Person", "name": "A"},))),
    ("author_and_dates", "good", GOOD),
    ("author_and_dates", "ok", english(authors=(Author("Ada"),), published=date(2026, 1, 1))),
    ("author_and_dates", "bad", english()),
    ("text_length", "good", english(filler(300))),
    ("text_length", "ok", english(filler(299))),
    ("text_length", "ok", english(filler(250))),
    ("text_length", "bad", english(filler(249))),
    ("single_h1", "good", english("## A")),
    ("single_h1", "good", english("# A title\n\n## A")),
    ("single_h1", "good", english("# Any", title="")),
    ("single_h1", "bad", english("# Another")),
    ("single_h1", "bad", english("# A title\n\n# A title")),
    ("heading_order", "skipped", english("text")),
    ("heading_order", "good", english("## A\n\n### B\n\n#### C\n\n## D")),
    ("heading_order", "bad", english("## A\n\n#### C")),
    ("heading_order", "bad", english("### A")),
    ("subheading_distribution", "good", english(SECTION + paragraphs(150, 150))),
    ("subheading_distribution", "ok", english(SECTION + paragraphs(150, 151))),
    ("subheading_distribution", "ok", english(paragraphs(200, 150) + "\n\n## End")),
    ("subheading_distribution", "bad", english(paragraphs(200, 151) + "\n\n## End")),
    ("subheading_distribution", "good", english(paragraphs(150, 150))),
    ("subheading_distribution", "bad", english(paragraphs(150, 151))),
    ("subheading_distribution", "skipped", english("")),
    ("intro_length", "bad", english(paragraphs(19, 50))),
    ("intro_length", "good", english(paragraphs(20, 50))),
    ("intro_length", "good", english(paragraphs(120, 50))),
    ("intro_length", "ok", english(paragraphs(121, 50))),
    ("intro_length", "ok", english(paragraphs(150, 50))),
    ("intro_length", "bad", english(paragraphs(151, 50))),
    ("intro_length", "bad", english("## Only a heading")),
    ("scannable", "good", english(paragraphs(400, 399))),
    ("scannable", "bad", english(paragraphs(400, 400))),
    ("scannable", "good", english(f"{filler(400)}\n\n- {filler(400)}")),
    ("scannable", "bad", english(f"{filler(401)}\n\n- {filler(399)}")),
    ("internal_links", "good", english("[a](/b)")),
    ("internal_links", "good", english("[a](https://www.e.com/b)", url="https://e.com/a")),
    ("internal_links", "good", html("<a href='https://пример.рф/b'>b</a>", url="https://xn--e1afmkfd.xn--p1ai/a")),
    ("internal_links", "bad", html("<a href='https://e.com/хлеб'>b</a>", url="https://e.com/%D1%85%D0%BB%D0%B5%D0%B1")),
    ("internal_links", "bad", english("[a](#b) [c](mailto:a@e.com) [d](https://e.com/a/)", url="https://e.com/a")),
    ("internal_links", "good", english(filler(798) + " [one](/b)")),
    ("internal_links", "ok", english(filler(799) + " [one](/b)")),
    ("internal_links", "good", english(filler(799) + " [one](/b) [two](/c)")),
    ("internal_links", "ok", html("<p><a href=/b rel='nofollow'>b</a>")),
    ("outbound_links", "good", english("[a](https://o.org)", url="https://e.com/a")),
    ("outbound_links", "ok", html("<a href=https://o.org rel='sponsored noopener'>b</a>")),
    ("outbound_links", "bad", english("[a](/b)")),
    ("link_text", "good", english("[flour guide](/b)")),
    ("link_text", "bad", english("[Click here!](/b)")),
    ("link_text", "bad", html("<a href=/b></a>")),
    ("link_text", "good", html("<a href=/b><img src=a alt='flour guide'></a>")),
    ("link_text", "bad", english("[mehr erfahren](/b)", language="de")),
    ("link_text", "skipped", english("text")),
    ("link_text", "skipped", english("[a](/b)", language="sv")),
    ("crawlable_links", "good", english("[a](/b) [c](mailto:a@e.com)")),
    ("crawlable_links", "bad", html("<a href='javascript:void(0)'>a</a>")),
    ("crawlable_links", "bad", html("<a href=''>a</a>")),
    ("crawlable_links", "bad", html("<a>a</a>")),
    ("crawlable_links", "bad", english("[a](http://localhost:8000/)")),
    ("crawlable_links", "bad", english("[a](http://192.168.1.1/)")),
    ("crawlable_links", "good", html("<a id=top></a><a href=/b>b</a>")),
    ("crawlable_links", "skipped", english("text")),
    ("image_count", "good", english(images("a"))),
    ("image_count", "good", html("<iframe src='https://www.youtube.com/embed/x'></iframe>")),
    ("image_count", "good", english(featured_image="https://e.com/a.jpg")),
    ("image_count", "bad", html("<iframe src='https://ads.example/x'></iframe>")),
    ("image_alt", "good", english(images("x" * 100))),
    ("image_alt", "ok", english(images("x" * 101))),
    ("image_alt", "bad", english(images("x", ""))),
    ("image_alt", "good", html("<img src=a alt='x'><img src=b alt='' role=presentation>")),
    ("image_alt", "good", html("<img src=a alt='x'><img src=b alt=''>")),
    ("image_alt", "bad", html("<img src=a alt='x'><img src=b>")),
    ("image_alt", "skipped", html("<img src=b alt=''>")),
    ("image_alt", "skipped", english("text")),
    ("image_dimensions", "good", html("<img src=a width=3 height='4px'>")),
    ("image_dimensions", "good", html("<img src=a style='width: 100%; aspect-ratio: 16 / 9'>")),
    ("image_dimensions", "bad", html("<img src=a width=3>")),
    ("image_dimensions", "skipped", english(images("a"))),
    ("image_dimensions", "good", english(images("a"), images={"i0.jpg": ImageFacts(width=3, height=4)})),
    ("image_weight", "good", english(images("a"), images={"i0.jpg": ImageFacts(weight=500_000)})),
    ("image_weight", "ok", english(images("a"), images={"i0.jpg": ImageFacts(weight=500_001)})),
    ("image_weight", "ok", english(images("a"), images={"i0.jpg": ImageFacts(weight=1_000_000)})),
    ("image_weight", "bad", english(images("a"), images={"i0.jpg": ImageFacts(weight=1_000_001)})),
    ("image_weight", "skipped", english(images("a"))),
    ("image_credit", "skipped", english(images("a"))),
    (
        "image_credit",
        "bad",
        english(images("a"), images={"i0.jpg": ImageFacts(credit="Photo: Al", credit_required=True)}),
    ),
    (
        "image_credit",
        "good",
        english(
            images("a") + "\n\n*photo – Al*",  # noqa: RUF001
            images={"i0.jpg": ImageFacts(credit="Photo: Al", credit_required=True)},
        ),
    ),
    (
        "image_credit",
        "good",
        english(
            images("a"), images={"i0.jpg": ImageFacts(credit="Photo: Al", credit_required=True, credit_added=True)}
        ),
    ),
    ("sentence_length", "good", english(sentences(1, 3))),
    ("sentence_length", "ok", english(sentences(26, 74))),
    ("sentence_length", "ok", english(sentences(3, 7))),
    ("sentence_length", "bad", english(sentences(31, 69))),
    ("sentence_length", "skipped", english("")),
    ("sentence_length", "skipped", english("今日は天気がいいですね。明日も。", language="ja")),
    ("paragraph_length", "good", english(paragraphs(150))),
    ("paragraph_length", "ok", english(paragraphs(151))),
    ("paragraph_length", "ok", english(paragraphs(200))),
    ("paragraph_length", "bad", english(paragraphs(201))),
    ("passive_voice", "good", english(voiced(1, 9))),
    ("passive_voice", "ok", english(voiced(11, 89))),
    ("passive_voice", "ok", english(voiced(3, 17))),
    ("passive_voice", "bad", english(voiced(16, 84))),
    ("passive_voice", "skipped", english(voiced(1, 1), language="sv")),
    ("transition_words", "good", english(tied(6, 14))),
    ("transition_words", "ok", english(tied(29, 71))),
    ("transition_words", "ok", english(tied(4, 16))),
    ("transition_words", "bad", english(tied(19, 81))),
    ("transition_words", "good", english("Next, the dog runs over the green hill to the house of the baker. " * 20)),
    ("transition_words", "bad", english("The next street was once a prison, the first to be built in the town. " * 20)),
    (
        "transition_words",
        "bad",
        english("Next week the first boats sail too early, so many of them at once a prison. " * 20),
    ),
    ("transition_words", "ok", english(tied(6, 14) + "\n\n## The end\n\n- flour")),
    ("transition_words", "skipped", english(filler(199))),
    ("transition_words", "bad", english(filler(200))),
    ("sentence_beginnings", "good", english("Bread is good. Bread is soft. It is warm.")),
    ("sentence_beginnings", "bad", english("Bread is good. Bread is soft. Bread is warm.")),
    ("sentence_beginnings", "good", english("The dog ate. The cat slept. The cow ran.")),
    ("sentence_beginnings", "bad", english("The dog ate. The dog slept. The dog ran.")),
    ("sentence_beginnings", "skipped", english("Hej. Hej. Hej.", language="sv")),
    ("word_complexity", "good", english(complex_text(10, 90))),
    ("word_complexity", "bad", english(complex_text(11, 89))),
    ("word_complexity", "good", english(complex_text(11, 89), keyphrase="fermentation")),
    ("word_complexity", "skipped", english("a", language="sv")),
    ("text_alignment", "good", html(f"<p style='text-align: center'>{'x' * 50}</p>")),
    ("text_alignment", "bad", html(f"<p style='text-align: center'>{'x' * 51}</p>")),
    ("text_alignment", "good", html(f"<h2 align=center>{'x' * 51}</h2>")),
    ("text_presence", "good", english("x" * 50)),
    ("text_presence", "bad", english("x" * 49)),
    ("inclusive_language", "good", english("People work.")),
    ("inclusive_language", "bad", english("The chairman needs manpower.")),
    ("inclusive_language", "skipped", english("Text", language="de")),
    ("answer_first", "skipped", english("## Bread\n\nText.")),
    ("answer_first", "good", english(f"## What is it?\n\n{filler(60, sentence=30)}")),
    ("answer_first", "bad", english(f"## What is it?\n\n{filler(61, sentence=31)}")),
    ("answer_first", "good", english(f"## What is it?\n\n{filler(60, sentence=30)} {filler(90)}")),
    ("answer_first", "bad", english("## What is it?\n\n## Why?\n\nBecause.")),
    ("answer_first", "bad", english("## What is it?\n\nWell, what is it?")),
    ("answer_first", "good", english("## What is in it?\n\n- flour;\n- water.")),
    ("answer_first", "skipped", english("## Flour;\n\nIt is white.")),
    ("answer_first", "good", english("## Τι είναι;\n\nΕίναι ψωμί.", language="el")),  # noqa: RUF001
    ("answer_first", "bad", english("## Τι είναι;\n\n## Γιατί;", language="el")),  # noqa: RUF001
    ("secondary_phrases", "skipped", english("Rye.")),
    ("secondary_phrases", "good", english("Rye breads.", secondary_phrases=("rye bread", "oven"))),
    ("secondary_phrases", "ok", english("Rye bread.", secondary_phrases=("rye bread", "oven", "jar"))),
    ("secondary_phrases", "bad", english("Rye.", secondary_phrases=("rye bread", "oven"))),
]


def _ids(cases: Iterable[tuple[Any, ...]]) -> list[str]:
    return [f"{number}-{case[0]}-{case[1]}" for number, case in enumerate(cases)]


@pytest.mark.parametrize(("name", "status", "article"), CASES, ids=_ids(CASES))
def test_the_status_of_a_check_changes_at_its_limits(name: str, status: str, article: ScoringArticle) -> None:
    result = check(name, article)
    assert result.status == status, (result.value, result.message)
    assert bool(result.fix) == (status in {"ok", "bad"})
    assert result.points == {"good": 1, "ok": 0.5, "bad": 0, "skipped": None}[status]


LLMS = "# Site\n\n> A site about bread and what goes with it.\n\n## Articles\n\n- [Starter](https://e.com/a.md): x\n"
LINKED = english("[a](https://o.org/a) [b](https://o.org/b)", url="https://e.com/a")
OK, MOVED, GONE = LinkStatus(200), LinkStatus(200, "https://o.org/c"), LinkStatus(404)
CANONICAL = english(canonicals=("https://e.com/a",))

WORLD_CASES: list[tuple[str, str, ScoringArticle, World]] = [
    ("keyphrase_unique", "skipped", GOOD, World()),
    ("keyphrase_unique", "good", GOOD, others(3, keyphrase="sourdough bread")),
    ("keyphrase_unique", "ok", GOOD, others(1, keyphrase="Starters for sourdough")),
    ("keyphrase_unique", "bad", GOOD, others(2, keyphrase=PHRASE)),
    ("title_unique", "skipped", GOOD, World()),
    ("title_unique", "good", GOOD, others(2, title="Another")),
    ("title_unique", "bad", GOOD, others(1, title=GOOD.title.upper())),
    ("meta_description_unique", "skipped", GOOD, World()),
    ("meta_description_unique", "good", GOOD, others(2, description="Another")),
    ("meta_description_unique", "bad", GOOD, others(1, description=f" {GOOD.description}")),
    ("indexable", "bad", GOOD, World(robots_blocked=True)),
    ("indexable", "good", english(), World(robots_blocked=False)),
    ("broken_links", "good", CANONICAL, World(link_status={"https://e.com/a": OK}, canonical_noindex=False)),
    ("broken_links", "bad", CANONICAL, World(link_status={"https://e.com/a": OK}, canonical_noindex=True)),
    ("broken_links", "bad", CANONICAL, World(link_status={"https://e.com/a": GONE})),
    ("broken_links", "skipped", LINKED, World()),
    ("broken_links", "skipped", LINKED, World(link_status={})),
    ("broken_links", "good", LINKED, World(link_status={"https://o.org/a": OK, "https://o.org/b": OK})),
    ("broken_links", "ok", LINKED, World(link_status={"https://o.org/a": OK, "https://o.org/b": MOVED})),
    ("broken_links", "bad", LINKED, World(link_status={"https://o.org/a": MOVED, "https://o.org/b": GONE})),
    ("broken_links", "bad", LINKED, World(link_status={"https://o.org/a": LinkStatus(0)})),
    ("markdown_twin", "skipped", GOOD, World()),
    ("markdown_twin", "bad", GOOD, World(markdown_twin="")),
    ("markdown_twin", "good", GOOD, World(markdown_twin=f"# Title\n\n{GOOD.body}")),
    ("markdown_twin", "bad", GOOD, World(markdown_twin=GOOD.body[:300])),
    ("llms_entry", "skipped", LINKED, World()),
    ("llms_entry", "skipped", english(), World(llms_txt=LLMS)),
    ("llms_entry", "good", LINKED, World(llms_txt=LLMS)),
    ("llms_entry", "bad", english(url="https://e.com/b"), World(llms_txt=LLMS)),
    ("llms_entry", "bad", LINKED, World(llms_txt="")),
    ("llms_entry", "bad", LINKED, World(llms_txt=LLMS.replace("# Site", "Site"))),
    ("llms_entry", "bad", LINKED, World(llms_txt="# Site\n[a](https://e.com/a)")),
]


@pytest.mark.parametrize(("name", "status", "article", "world"), WORLD_CASES, ids=_ids(WORLD_CASES))
def test_external_facts_count(name: str, status: str, article: ScoringArticle, world: World) -> None:
    result = check(name, article, world=world)
    assert result.status == status, (result.value, result.message)


@pytest.mark.parametrize(
    ("profile", "words", "status"),
    [
        ("cornerstone", 900, "good"),
        ("cornerstone", 899, "ok"),
        ("cornerstone", 400, "ok"),
        ("cornerstone", 399, "bad"),
        ("news", 250, "good"),
        ("news", 249, "ok"),
        ("product", 200, "good"),
        ("product", 150, "ok"),
        ("product", 149, "bad"),
    ],
)
def test_a_profile_has_its_own_lengths(profile: str, words: int, status: str) -> None:
    assert check("text_length", english(filler(words)), profile=profile).status == status


@pytest.mark.parametrize(("words", "status"), [(250, "good"), (251, "ok"), (300, "ok"), (301, "bad")])
def test_a_cornerstone_article_needs_more_subheadings(words: int, status: str) -> None:
    article = english(SECTION + paragraphs(words - 100, 100))
    assert check("subheading_distribution", article, profile="cornerstone").status == status


def test_a_news_article_needs_the_type_of_news() -> None:
    article = english(structured_data=(GOOD_DATA,))
    news = english(structured_data=({**GOOD_DATA, "@type": "NewsArticle"},))
    assert check("structured_data", article, profile="news").status == "bad"
    assert check("structured_data", news, profile="news").status == "good"
    report = english(structured_data=({**GOOD_DATA, "@type": "ReportageNewsArticle"},))
    assert check("structured_data", report, profile="news").status == "good"


@pytest.mark.parametrize("code", ["de", "en", "es", "fr", "it", "nl", "pt"])
def test_reading_ease_is_rated_on_the_languages_own_scale(code: str) -> None:
    pack = language_pack(code)
    assert pack is not None
    formula = pack.reading_ease
    verdicts = set()
    for words in range(1, 60):
        result = check("reading_ease", english(" ".join(["banane"] * words) + ".", language=code))
        value = float(result.value or 0)
        expected = "good" if value >= formula.good else "ok" if value >= formula.ok else "bad"
        assert result.status == expected
        assert formula.source in result.message
        verdicts.add(expected)
    assert "bad" in verdicts or code in {"pt", "de", "es", "en"}


def test_there_are_55_checks_in_7_groups_each_tested_here() -> None:
    rules = rule_set().rules
    tried = {case[0] for case in CASES} | {case[0] for case in WORLD_CASES} | {"reading_ease"}
    assert set(rules) == set(ARTICLE_CHECKS) == tried
    assert len(rules) == 55
    groups: dict[str, int] = {}
    for rule in rules.values():
        groups[rule.group] = groups.get(rule.group, 0) + rule.weight
    assert groups == {
        "keyphrase": 25,
        "metadata": 21,
        "structure": 11,
        "links": 7,
        "media": 7,
        "readability": 10,
        "discovery": 2,
    }
