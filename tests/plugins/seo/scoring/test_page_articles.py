"""The article of a live page: its text, author and dates, and pages that list articles."""

from __future__ import annotations

import json
from datetime import date
from typing import Any

import pytest
from pressroom_seo.scoring import (
    Author,
    article_from_page,
    score,
)

CONTEXT = {"@context": "https://schema.org"}


PAGE = f"""<!doctype html><html lang="en-GB"><head><title>Bread | Site</title>
<meta name="description" content="About bread."><meta name="robots" content="noindex, follow">
<link rel="canonical" href="https://e.com/bread"><meta property="og:title" content="Bread">
<meta property="og:image" content="/i.png"><meta name="author" content="Ada">
<script type="application/ld+json">{json.dumps({**CONTEXT, "@type": "BlogPosting", "headline": "Bread"})}</script>
</head><body><nav>Menu</nav><main><article><h1>Bread</h1><p>Text of the article.</p></article></main>
<footer>Footer</footer></body></html>"""


def test_the_article_of_a_page_is_extracted() -> None:
    article = article_from_page(PAGE, "https://e.com/bread", keyphrase="bread")
    assert article.seo_title == "Bread | Site"
    assert article.title == "Bread"
    assert article.description == "About bread."
    assert article.language == "en-GB"
    assert article.robots == ("noindex, follow",)
    assert article.canonicals == ("https://e.com/bread",)
    assert article.social == {"og:title": "Bread", "og:image": "https://e.com/i.png"}
    assert article.authors == (Author("Ada"),)
    report = score(article)
    statuses = {result.id: result.status for result in report.checks}
    assert report.words == 5
    assert statuses["indexable"] == "bad"
    assert statuses["structured_data"] == "ok"
    assert statuses["single_h1"] == "good"


def test_noindex_can_be_in_a_header() -> None:
    article = article_from_page("<p>x</p>", robots_header="noindex")
    assert article.robots == ("noindex",)
    assert article.published is None or isinstance(article.published, date)


ADA = {"@type": "Person", "@id": "https://e.com/#ada", "name": "Ada Lovelace"}
DATES = {"datePublished": "2026-01-02T03:04:05+00:00", "dateModified": "2026-02-03"}


@pytest.mark.parametrize(
    "document",
    [
        {**CONTEXT, "@type": "BlogPosting", "author": {"@type": "Person", "name": "Ada Lovelace"}, **DATES},
        {**CONTEXT, "@graph": [{"@type": ["Article"], "author": {"@id": ADA["@id"]}, **DATES}, ADA]},
        [{**CONTEXT, "@type": "WebSite"}, {**CONTEXT, "@type": "NewsArticle", "author": ["Ada Lovelace"], **DATES}],
        {**CONTEXT, "@graph": {"@type": "Article", "author": "Ada Lovelace", **DATES}},
        {**CONTEXT, "@type": "WebPage", "mainEntity": {"@type": "Article", "author": "Ada Lovelace", **DATES}},
        {
            **CONTEXT,
            "@graph": [
                {"@type": "Article", "@id": "#article", "isPartOf": {"@id": "#page"}, "author": {"@id": ADA["@id"]}},
                {"@type": ["WebPage", "ItemPage"], "@id": "#page", **DATES},
                ADA,
            ],
        },
        {
            **CONTEXT,
            "@type": "Article",
            "author": {"@type": "Person", "name": {"@value": "Ada Lovelace", "@language": "en"}},
            "datePublished": {"@type": "Date", "@value": "2026-01-02"},
            "dateModified": [{"@value": "2026-02-03T10:00:00.000Z"}],
        },
    ],
)
def test_the_author_and_dates_of_a_page_come_from_its_structured_data(document: Any) -> None:
    script = f"<script type='application/ld+json'>{json.dumps(document)}</script>"
    article = article_from_page(f"<head>{script}</head><article><h1>x</h1><p>Text</p></article>")
    assert [author.name for author in article.authors] == ["Ada Lovelace"]
    [check] = [result for result in score(article).checks if result.id == "author_and_dates"]
    assert check.status == "good", check.message


@pytest.mark.parametrize(
    "page",
    [
        (
            "<article><header><h1>Tea</h1><p>By <a rel=author href=/a>Ada Lovelace</a>, <time datetime=2026-01-02>2 May"
            "</time>, <time class=updated datetime=2026-02-03>3 June</time></header><p>Text</p></article>"
        ),
        (
            "<main><h1>Tea</h1><div class=byline><span class=p-author>Ada Lovelace</span> <time datetime=2026-01-02>May"
            "</time> <time itemprop=dateModified datetime=2026-02-03T10:00:00Z>June</time></div><p>Text</p></main>"
        ),
    ],
)
def test_the_author_and_dates_can_come_from_a_line_beside_the_headline(page: str) -> None:
    article = article_from_page(page)
    [check] = [result for result in score(article).checks if result.id == "author_and_dates"]
    assert check.status == "good", check.message
    assert [author.name for author in article.authors] == ["Ada Lovelace"]
    assert [(moment.year, moment.month, moment.day) for moment in (article.published, article.modified) if moment] == [
        (2026, 1, 2),
        (2026, 2, 3),
    ]


def test_dates_inside_a_text_are_not_taken_for_those_of_the_page() -> None:
    page = "<article><h1>Tea</h1><p>On <time datetime=1926-01-02>a day</time> Ada drank.</p></article>"
    article = article_from_page(page)
    assert (article.authors, article.published, article.modified) == ((), None, None)


def test_the_author_and_dates_of_another_article_on_the_page_are_ignored() -> None:
    related = {"@type": "Article", "author": "Eve", **DATES}
    graph = {**CONTEXT, "@graph": [{"@type": "Article", "headline": "x", "dateModified": "2026-05-06"}, related]}
    script = f"<script type='application/ld+json'>{json.dumps(graph)}</script>"
    article = article_from_page(f"<head>{script}</head><article><h1>x</h1><p>Text</p></article>")
    assert (article.authors, article.published) == ((), None)


@pytest.mark.parametrize(
    "author", [None, 1, [], [[[]]], {"name": {}}, {"@id": []}, {"@id": "x"}, "", {"name": ["", 1]}]
)
def test_odd_bylines_are_ignored(author: Any) -> None:
    document = {**CONTEXT, "@type": "Article", "author": author, "datePublished": author, "@graph": author}
    script = f"<script type='application/ld+json'>{json.dumps(document)}</script>"
    article = article_from_page(f"<head>{script}</head><p>x</p>")
    assert (article.authors, article.published) == ((), None)


@pytest.mark.parametrize(
    "page",
    [
        "<article><header><p class=eyebrow>Guides · Tea</p><h1>Tea</h1><p>Ada, 3 May</p></header>{}</article>",
        "<main><p>Guides</p><div><a>Tea</a></div><h1>Tea</h1>{}</main>",
        "<article><div><h1>Tea</h1></div>{}</article>",
        "<article><h1>Tea</h1><p class=byline>By Ada</p><div><time>3 May</time> · 2 min read</div>{}</article>",
        "<main><h1>Tea</h1><figure><img src=a.png></figure><p>By <a rel=author href=/a>Ada</a></p>{}</main>",
        "<h1>Tea</h1><div class=entry-content><ul class=cat-meta><li>Guides</ul><p><time>3 May</time></p>{}</div>",
        "<article><h1>Tea</h1><nav>Guides</nav><!-- no text -->{}</article>",
        (
            "<article><header><div class=meta><a href=/c>Guides</a></div><h1><a href=/t>Tea</a></h1>"
            "<div><span>Ada</span> <time>3 May</time></div></header>{}</article>"
        ),
        (
            "<article><div class=entry-header><span class=cat-links>Guides</span><h1>Tea</h1></div>"
            "<div class=entry-meta>Ada, <time>3 May</time></div>{}</article>"
        ),
        (
            "<div><article class=teaser><h2>Guides</h2><p>Of 3 May</p></article></div>"
            "<main><article><h1>Tea</h1>{}</article></main>"
        ),
        "<main><h1>Tea</h1>{}<article class=card>Guides of 3 May</article></main>",
        ("<article><div><h1>Tea</h1><h3>What it is</h3><div class=byline><a href=/a>Ada</a></div></div>{}</article>"),
        (
            "<header><p>Guides for everybody</p></header><h1>Tea</h1><p class=posted>3 May</p>{}"
            "<div id=sidebar><p>Guides</p></div>"
        ),
        "<meta itemprop=articleBody content='Guides'><article><h1>Tea</h1>{}</article>",
        "<article dir=rtl><h1>Tea</h1><p class=post-date>3 May</p>{}</article>",
        "<article><h1>Tea</h1><div id=toc><p>Guides</p><ul><li><a href=#a>Of 3 May</a></ul></div>{}</article>",
        "<main><h1>Tea</h1>{}<section id=comments><p>Guides are better, says Eve on 3 May.</p></section></main>",
    ],
)
def test_the_lines_around_a_headline_are_not_the_first_paragraph(page: str) -> None:
    text = "<p>Tea is a drink of leaves, and of patience.</p>"
    article = article_from_page(page.format(text), keyphrase="tea")
    assert "Guides" not in article.body
    assert "3 May" not in article.body
    assert text in article.body
    assert next(result for result in score(article).checks if result.id == "keyphrase_in_intro").status == "good"


def test_the_headline_is_the_one_of_the_article() -> None:
    article = article_from_page("<header><h1>My shop</h1></header><main><h1>Tea</h1><p>Tea is a drink.</p></main>")
    assert article.title == "Tea"
    assert {result.id: result.status for result in score(article).checks}["single_h1"] == "good"


def test_social_tags_may_have_a_second_name() -> None:
    title = '<meta name="title" property="og:title" content="Tea">'
    description = '<meta property="description" name="og:description" content="x">'
    assert article_from_page(f"<head>{title}{description}</head>").social == {"og:title": "Tea", "og:description": "x"}


@pytest.mark.parametrize(
    "first",
    [
        "<p>On <time>3 May</time> the shop opened.</p>",
        f'<div class="meta-story">{"Tea is good for you and " * 6}everybody</div>',
        "<p>Tea</p>",
        '<blockquote class="author">Tea</blockquote>',
    ],
)
def test_a_first_paragraph_is_not_a_byline(first: str) -> None:
    article = article_from_page(f"<article><h1>Tea</h1>{first}<p class=date>3 May</p></article>")
    assert first in article.body
    assert "3 May" in article.body.replace(first, "")


LISTINGS = ("author_and_dates", "structured_data", "intro_length", "image_count", "outbound_links")


def typed(name: str) -> str:
    return f"<script type='application/ld+json'>{json.dumps({**CONTEXT, '@type': name})}</script>"


WEBSITE = '<meta property="og:type" content="website">'


@pytest.mark.parametrize(
    ("head", "listing"),
    [
        (WEBSITE, True),
        (typed("Blog"), True),
        (f'{WEBSITE}<meta name="author" content="Ada">', False),
        (f"{WEBSITE}{typed('BlogPosting')}", False),
        ('<meta property="og:type" content="article">', False),
        ("", False),
    ],
)
def test_a_page_that_lists_articles_is_not_scored_as_one(head: str, listing: bool) -> None:
    report = score(article_from_page(f"<head>{head}</head><main><h1>Blog</h1><ul><li>Tea</ul></main>"))
    skipped = {result.id for result in report.checks if result.status == "skipped"}
    assert skipped.issuperset(LISTINGS) is listing
    assert skipped.isdisjoint(LISTINGS) is not listing
