"""Checks of the title, the meta description and the slug."""

from __future__ import annotations

import re

from pressroom_content.language import fold

from pressroom_seo.scoring.context import Context, slug_of, slug_words
from pressroom_seo.scoring.report import Evidence, Status, Verdict, at_most, bad, good, graded, ok, plural, skipped
from pressroom_seo.scoring.rules import Rule, check
from pressroom_seo.scoring.snippet import DESKTOP, pixel_width
from pressroom_seo.urls import split_address


@check
def title_present(context: Context, rule: Rule) -> Verdict:
    """Is there a title?"""
    del rule
    if context.title:
        return good("The article has a title.", True, [Evidence(context.title, "title")])
    return bad("There is no title.", False, fix="Give the article a title.")


@check
def title_width(context: Context, rule: Rule) -> Verdict:
    """Is it shown whole in search results, and does it use the room?"""
    if not context.title:
        return bad("There is no title.", 0, fix="Give the article a title.")
    width = round(pixel_width(context.title, DESKTOP.title.font_size))
    short = width < rule["low"]
    status = Status.OK if short else Status.GOOD if width <= rule["high"] else Status.BAD
    over = "Say more of what readers get." if short else f"Cut it by {width - rule['high']} px, from the end."
    return graded(
        status,
        f"The title is {width} px wide ({plural(len(context.title), 'character')}).",
        width,
        fix=over,
        evidence=[Evidence(context.title, "title")],
    )


@check
def title_unique(context: Context, rule: Rule) -> Verdict:
    """Has another article of the site the same title?"""
    del rule
    return _unique(context, context.title, "title")


@check
def meta_description_length(context: Context, rule: Rule) -> Verdict:
    """Does the meta description fill its room in search results, and not more?"""
    length = len(context.description)
    if not length:
        fix = f"Write a meta description of {rule['low']} to {rule['high']} characters."
        return bad("There is no meta description.", 0, fix=fix)
    within = rule["low"] <= length <= rule["high"]
    status = Status.GOOD if within else at_most(length, 0, rule["ok"])
    width = pixel_width(context.description, DESKTOP.description.font_size)
    change = f"{rule['low'] - length} more" if length < rule["low"] else f"{length - rule['high']} fewer"
    return graded(
        status,
        f"The meta description has {plural(length, 'character')} ({width:.0f} px).",
        length,
        fix=f"Write {change} characters, to have {rule['low']} to {rule['high']}.",
        evidence=[Evidence(context.description, "meta description")],
    )


@check
def meta_description_unique(context: Context, rule: Rule) -> Verdict:
    """Has another article of the site the same meta description?"""
    del rule
    return _unique(context, context.description, "description")


def _unique(context: Context, text: str, field: str) -> Verdict:
    name = "title" if field == "title" else "meta description"
    if context.world.others is None:
        return skipped("The site's other articles are not known.")
    if not text:
        return skipped(f"There is no {name}.")
    plain = text.casefold()
    same = [one for one in context.world.others if " ".join(getattr(one, field).split()).casefold() == plain]
    if not same:
        return good(f"No other article of the site has this {name}.", 0)
    return bad(
        f"{plural(len(same), 'other article has', 'other articles have')} this {name}.",
        len(same),
        fix=f"Write a {name} that says what only this article has.",
        evidence=[Evidence(getattr(one, field), one.url) for one in same],
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
        fix = "Use the few words that say what the article is about, in lower case."
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
    """Does the canonical URL name the page to be indexed?"""
    del rule
    given = [one.strip() for one in context.article.canonicals if one.strip()]
    if not given:
        return good("There is no canonical URL, so the article's own counts.")
    evidence = [Evidence(one, "canonical") for one in given]
    fault = _canonical_fault(given)
    if fault:
        fix = "Give one canonical URL: the article's own, with https."
        return bad(fault, given[0], fix=fix, evidence=evidence)
    parts = split_address(given[0])
    if parts is None or not parts.netloc:
        fix = "Write the canonical URL in full, with https and the host."
        return ok("The canonical URL is relative.", given[0], fix=fix, evidence=evidence)
    chosen = [one for one in (context.article.url, context.article.original_url) if one]
    if chosen and not any(_same_address(given[0], one) for one in chosen):
        fix = "Point it to the article's own URL, or name the original where the article was first published."
        return ok("The canonical URL is that of another page.", given[0], fix=fix, evidence=evidence)
    return good("The canonical URL is absolute.", given[0], evidence)


def _canonical_fault(given: list[str]) -> str:
    if len(set(given)) > 1:
        return f"There are {len(set(given))} canonical URLs."
    parts = split_address(given[0])
    if parts is None or parts.scheme.lower() not in {"", "http", "https"} or (parts.scheme and not parts.hostname):
        return "The canonical URL cannot be followed."
    return ""


def _same_address(one: str, other: str) -> bool:
    first, second = split_address(one), split_address(other)
    if first is None or second is None:
        return False
    keys = [(part.hostname, part.port, part.path.rstrip("/"), part.query) for part in (first, second)]
    return keys[0] == keys[1]
