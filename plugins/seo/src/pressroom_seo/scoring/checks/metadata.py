"""Checks of the title, meta description, slug and other metadata."""

from __future__ import annotations

import re
from collections.abc import Mapping

from pressroom_content.language import TAG, fold, primary_subtag, same_language

from pressroom_seo.scoring.context import Context, slug_of, slug_words
from pressroom_seo.scoring.rules import (
    Evidence,
    Rule,
    Status,
    Verdict,
    article_check,
    at_most,
    bad,
    check,
    good,
    graded,
    ok,
    plural,
    skipped,
)
from pressroom_seo.scoring.snippet import DESKTOP, columns, pixel_width
from pressroom_seo.structured_data import (
    ARTICLE_TYPES,
    PRODUCT_TYPES,
    StructuredDataItem,
    missing_of,
    validate_structured_data,
)
from pressroom_seo.urls import normalise, split_url


@check
def title_present(context: Context, rule: Rule) -> Verdict:
    """Is there a title?"""
    del rule
    if context.title:
        return good("The article has a title.", True, [Evidence(context.title, "title")])
    return bad("There is no title.", False, fix="Give the article a title.")


@check
def title_width(context: Context, rule: Rule) -> Verdict:
    """Is it shown in full in search results, and does it use the space?"""
    if not context.title:
        return bad("There is no title.", 0, fix="Give the article a title.")
    width = round(pixel_width(context.title, DESKTOP.title.font_size))
    short = width < rule["low"]
    status = Status.OK if short else Status.GOOD if width <= rule["high"] else Status.BAD
    fix = "Say more about what readers get." if short else f"Cut it by {width - rule['high']} px, from the end."
    return graded(
        status,
        f"The title is {width} px wide ({plural(len(context.title), 'character')}).",
        width,
        fix=fix,
        evidence=[Evidence(context.title, "title")],
    )


@check
def title_unique(context: Context, rule: Rule) -> Verdict:
    """Does another article on the site have the same title?"""
    del rule
    return _unique(context, context.title, "title")


@check
def meta_description_length(context: Context, rule: Rule) -> Verdict:
    """Does the meta description fill the space in search results without being cut off?"""
    # The limits are those of Latin text; a wide character takes the space of two.
    length = columns(context.description)
    text = context.description or context.title
    wide = "; wide characters count twice" if columns(text) > len(text) else ""
    if not length:
        fix = f"Write a meta description of {rule['low']} to {rule['high']} characters{wide}."
        return bad("There is no meta description.", 0, fix=fix)
    fits = rule["low"] <= length <= rule["high"]
    status = Status.GOOD if fits else at_most(length, 0, rule["ok"])
    width = pixel_width(context.description, DESKTOP.description.font_size)
    change = f"{rule['low'] - length} more" if length < rule["low"] else f"{length - rule['high']} fewer"
    return graded(
        status,
        f"The meta description has {plural(length, 'character')} ({width:.0f} px{wide}).",
        length,
        fix=f"Write {change} characters in the meta description, to have {rule['low']} to {rule['high']}{wide}.",
        evidence=[Evidence(context.description, "meta description")],
    )


@check
def meta_description_unique(context: Context, rule: Rule) -> Verdict:
    """Does another article on the site have the same meta description?"""
    del rule
    return _unique(context, context.description, "description")


def _unique(context: Context, text: str, field: str) -> Verdict:
    name = "title" if field == "title" else "meta description"
    if context.world.others is None:
        return skipped("The site's other articles are not known.")
    if not text:
        return skipped(f"There is no {name}.")
    plain = text.casefold()
    duplicates = [
        article for article in context.world.others if " ".join(getattr(article, field).split()).casefold() == plain
    ]
    if not duplicates:
        return good(f"No other article of the site has this {name}.", 0)
    return bad(
        f"{plural(len(duplicates), 'other article has', 'other articles have')} this {name}.",
        len(duplicates),
        fix=f"Write a {name} that says what only this article has.",
        evidence=[Evidence(getattr(article, field), article.url) for article in duplicates],
    )


@check
def slug_quality(context: Context, rule: Rule) -> Verdict:
    """Is the URL short and readable?"""
    slug = slug_of(context.article)
    if not slug:
        return skipped("The article has no slug yet.")
    evidence = [Evidence(slug, "slug")]
    problem = _slug_fault(slug, rule)
    if problem:
        fix = "Use lower-case words with hyphens; redirect the old URL if the article is published."
        return bad(f"The slug {problem}.", len(slug), fix=fix, evidence=evidence)
    weakness = _slug_weakness(context, slug, rule)
    if weakness:
        fix = "Use a few lower-case words that say what the article is about."
        return ok(f"The slug {weakness}.", len(slug), fix=fix, evidence=evidence)
    return good(f"The slug is readable and has {plural(len(slug), 'character')}.", len(slug), evidence)


def _slug_fault(slug: str, rule: Rule) -> str:
    if len(slug) > rule["ok"]:
        return f"has {len(slug)} characters"
    if "_" in slug:
        return "has underscores, which join words"
    return "has spaces" if re.search(r"\s", slug) else ""


def _slug_weakness(context: Context, slug: str, rule: Rule) -> str:
    words = slug_words(slug)
    stop_words = {fold(word) for word in context.pack.function_words} if context.pack else set()
    if len(slug) > rule["good"]:
        return f"has {len(slug)} characters"
    if all(map(str.isdigit, words)):
        return "has only digits"
    if stop_words.issuperset(map(fold, words)):
        return "has only stop words"
    return "has capital letters" if slug != slug.lower() else ""


@check
def canonical(context: Context, rule: Rule) -> Verdict:
    """Does the canonical URL point to the page to index?"""
    del rule
    canonicals = [url.strip() for url in context.article.canonicals if url.strip()]
    if not canonicals:
        return good("There is no canonical URL, so the article's own counts.")
    evidence = [Evidence(url, "canonical") for url in canonicals]
    fault = _canonical_fault(canonicals)
    if fault:
        fix = "Give one canonical URL: the article's own, with https."
        return bad(fault, canonicals[0], fix=fix, evidence=evidence)
    parts = split_url(canonicals[0])
    if parts is None or not parts.netloc:
        fix = "Write the canonical URL in full, with https and the host."
        return ok("The canonical URL is relative.", canonicals[0], fix=fix, evidence=evidence)
    expected = [url for url in (context.article.url, context.article.original_url) if url]
    if expected and not any(_is_same_url(canonicals[0], url) for url in expected):
        fix = "Point the canonical URL to the article, or name the original where it was first published."
        return ok("The canonical URL is that of another page.", canonicals[0], fix=fix, evidence=evidence)
    return good("The canonical URL is absolute.", canonicals[0], evidence)


def _canonical_fault(canonicals: list[str]) -> str:
    if len(set(canonicals)) > 1:
        return f"There are {len(set(canonicals))} canonical URLs."
    parts = split_url(canonicals[0])
    if parts is None or parts.scheme.lower() not in {"", "http", "https"} or (parts.scheme and not parts.hostname):
        return "The canonical URL cannot be followed."
    return ""


def _is_same_url(one: str, other: str) -> bool:
    first, second = (split_url(normalise(url) or url) for url in (one, other))
    if first is None or second is None:
        return False
    keys = [(part.hostname, part.port, part.path.rstrip("/"), part.query) for part in (first, second)]
    return keys[0] == keys[1]


_LIMITING = frozenset({"nosnippet", "noimageindex", "max-snippet:0", "max-image-preview:none"})
_SOCIAL = ("og:title", "og:description", "og:image", "twitter:card")


@check
def indexable(context: Context, rule: Rule) -> Verdict:
    """May search engines index it?"""
    del rule
    robots, blocked = directives(context), context.world.robots_blocked
    if robots is None and blocked is None:
        return skipped("Neither the page's robots directives nor robots.txt are known.")
    text = ", ".join(sorted(robots or ()))
    evidence = [Evidence(text, "robots")] if text else []
    if blocked:
        return bad("robots.txt disallows the URL.", False, fix="Allow the URL in robots.txt.", evidence=evidence)
    if is_noindex(context):
        return bad(
            "The page says noindex.", False, fix="Remove noindex so that the page can be found.", evidence=evidence
        )
    limits = sorted(_LIMITING.intersection(robots or ()))
    if limits:
        fix = f"Take {', '.join(limits)} away, unless it is meant."
        return ok("The page may be indexed, but not shown in full.", True, fix=fix, evidence=evidence)
    return good("Search engines may index the article.", True, evidence)


def directives(context: Context) -> frozenset[str] | None:
    """Return the robots directives in lower case without whitespace, or `None` if unknown."""
    robots = context.article.robots
    if robots is None:
        return None
    parts = (part for entry in robots for part in entry.lower().split(","))
    return frozenset("".join(part.split()) for part in parts if part.strip())


def is_noindex(context: Context) -> bool:
    """Return whether the page has noindex, or none, which means noindex and nofollow."""
    return not {"noindex", "none"}.isdisjoint(directives(context) or ())


@check
def language(context: Context, rule: Rule) -> Verdict:
    """Does the page declare its language correctly?"""
    del rule
    tag, detected = context.article.language.strip(), context.detected
    if not tag:
        guess = f" It seems to be “{detected.language}”." if detected else ""
        return ok(
            f"The article's language is not given.{guess}", None, fix="Give the language as a tag such as en or pt-BR."
        )
    evidence = [Evidence(tag, "language")]
    if not TAG.fullmatch(tag.replace("_", "-")):
        fix = "Use a tag such as en or pt-BR (BCP 47)."
        return bad("This is not a language tag.", tag, fix=fix, evidence=evidence)
    if detected is None:
        return good("The language tag is valid; the text is too short or too mixed to compare.", tag, evidence)
    if same_language(primary_subtag(tag), detected.language):
        return good("The language tag fits the text.", tag, evidence)
    return bad(
        f"The text seems to be in “{detected.language}”.",
        tag,
        fix="Correct the article's language.",
        evidence=evidence,
    )


@check
def social_tags(context: Context, rule: Rule) -> Verdict:
    """Does a shared link have a title, a text and a large image?"""
    social = context.article.social
    if social is None:
        return skipped("The page's social tags are not known.")
    present = [name for name in _SOCIAL if social.get(name, "").strip()]
    missing = [name for name in _SOCIAL if name not in present]
    evidence = [Evidence(social[name], name) for name in present]
    if not present:
        fix = f"Add {', '.join(_SOCIAL)}."
        return bad("There are no social tags.", 0, fix=fix)
    small = "og:image" in present and _is_small(context, social, rule)
    if not missing and not small:
        return good("The social tags are complete.", len(present), evidence)
    min_size = f"at least {rule['width']} by {rule['height']} px"
    fixes = [f"Add {', '.join(missing)}."] if missing else []
    fixes += [f"Give an og:image of {min_size}."] if small else []
    message = f"{len(present)} of {len(_SOCIAL)} social tags are there" + (
        ", and the image is small." if small else "."
    )
    return ok(message, len(present), fix=" ".join(fixes), evidence=evidence)


def _is_small(context: Context, social: Mapping[str, str], rule: Rule) -> bool:
    facts = context.article.images.get(social["og:image"])
    width = _number(social.get("og:image:width")) or (facts.width if facts else None)
    height = _number(social.get("og:image:height")) or (facts.height if facts else None)
    return (width or rule["width"]) < rule["width"] or (height or rule["height"]) < rule["height"]


def _number(text: str | None) -> int | None:
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 7 else None


_NEWS_TYPES = frozenset(name for name in ARTICLE_TYPES if name.endswith("NewsArticle"))


@article_check
def structured_data(context: Context, rule: Rule) -> Verdict:
    """Does the page describe itself in JSON-LD?"""
    del rule
    documents = context.article.structured_data
    if documents is None:
        return skipped("The page's structured data is not known.")
    types = {"product": PRODUCT_TYPES, "news": _NEWS_TYPES}.get(context.profile, ARTICLE_TYPES)
    example = {"product": "Product", "news": "NewsArticle"}.get(context.profile, "BlogPosting")
    result = validate_structured_data(documents)
    items = [item for item in result.items if item.type in types]
    if not items:
        other_types = ", ".join(sorted({item.type for item in result.items}))
        message = f"There is no structured data of the article{f', only {other_types}' if other_types else ''}."
        return bad(message, other_types or None, fix=f"Add JSON-LD of type {example}.")
    best = min(items, key=lambda item: (len(item.errors), len(missing_of(item))))
    return _judged(best)


def _judged(item: StructuredDataItem) -> Verdict:
    missing = missing_of(item)
    evidence = [Evidence(problem.message, problem.path) for problem in (*item.errors, *item.warnings)]
    if item.errors:
        fix = item.errors[0].fix or "Correct the faults that are listed."
        return bad(f"The {item.type} is not valid: {item.errors[0].message}", item.type, fix=fix, evidence=evidence)
    if missing:
        fix = f"Add {', '.join(missing)}."
        return ok(f"The {item.type} lacks {', '.join(missing)}.", item.type, fix=fix, evidence=evidence)
    return good(f"The {item.type} is complete.", item.type)


@article_check
def author_and_dates(context: Context, rule: Rule) -> Verdict:
    """Does it say who wrote it, and when?"""
    del rule
    article = context.article
    fields = {
        "author": any(author.name.strip() for author in article.authors),
        "date published": article.published is not None,
        "date modified": article.modified is not None,
    }
    missing = [name for name, present in fields.items() if not present]
    status = Status.GOOD if not missing else Status.OK if len(missing) == 1 else Status.BAD
    return graded(
        status,
        f"Missing: {', '.join(missing)}." if missing else "Author and dates are given.",
        len(fields) - len(missing),
        fix=f"Give the {', the '.join(missing)}.",
        evidence=[Evidence(author.name, "author") for author in article.authors if author.name.strip()],
    )
