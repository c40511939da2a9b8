"""Checks of what the page tells machines: robots, language, social tags, structured data, author and dates."""

from __future__ import annotations

from collections.abc import Mapping

from pressroom_content.language import TAG, primary_subtag, same_language

from pressroom_seo.scoring.context import Context
from pressroom_seo.scoring.report import Evidence, Status, Verdict, bad, good, graded, ok, skipped
from pressroom_seo.scoring.rules import Rule, article_check, check
from pressroom_seo.structured_data import (
    ARTICLE_TYPES,
    PRODUCT_TYPES,
    StructuredDataItem,
    missing_of,
    validate_structured_data,
)

_LIMITING = frozenset({"nosnippet", "noimageindex", "max-snippet:0", "max-image-preview:none"})
_SOCIAL = ("og:title", "og:description", "og:image", "twitter:card")


@check
def indexable(context: Context, rule: Rule) -> Verdict:
    """May search engines index it?"""
    del rule
    robots, blocked = directives(context), context.world.robots_blocked
    if robots is None and blocked is None:
        return skipped("Neither the page's robots directives nor robots.txt are known.")
    shown = ", ".join(sorted(robots or ()))
    evidence = [Evidence(shown, "robots")] if shown else []
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
    """Return the robots directives in lower case, or None where they are not known."""
    robots = context.article.robots
    if robots is None:
        return None
    parts = (part for entry in robots for part in entry.lower().split(","))
    return frozenset("".join(part.split()) for part in parts if part.strip())


def is_noindex(context: Context) -> bool:
    """Tell whether the page says noindex (or none, which means the same and nofollow)."""
    return not {"noindex", "none"}.isdisjoint(directives(context) or ())


@check
def language(context: Context, rule: Rule) -> Verdict:
    """Does the page say its language, and rightly?"""
    del rule
    tag, detected = context.article.language.strip(), context.detected
    if not tag:
        guess = f" It seems to be “{detected.language}”." if detected else ""
        return ok(f"The article's language is not given.{guess}", None, fix="Give it as a tag such as en or pt-BR.")
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
    wanted = f"at least {rule['width']} by {rule['height']} px"
    fixes = [f"Add {', '.join(missing)}."] if missing else []
    fixes += [f"Give an og:image of {wanted}."] if small else []
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


@article_check
def structured_data(context: Context, rule: Rule) -> Verdict:
    """Does the page say in JSON-LD what it is?"""
    del rule
    documents = context.article.structured_data
    if documents is None:
        return skipped("The page's structured data is not known.")
    wanted = {"product": PRODUCT_TYPES, "news": frozenset({"NewsArticle"})}.get(context.profile, ARTICLE_TYPES)
    example = {"product": "Product", "news": "NewsArticle"}.get(context.profile, "BlogPosting")
    result = validate_structured_data(documents)
    items = [item for item in result.items if item.type in wanted]
    if not items:
        found = ", ".join(sorted({item.type for item in result.items}))
        message = f"There is no structured data of the article{f', only {found}' if found else ''}."
        return bad(message, found or None, fix=f"Add JSON-LD of type {example}.")
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
    known = {
        "author": any(author.name.strip() for author in article.authors),
        "date published": article.published is not None,
        "date modified": article.modified is not None,
    }
    missing = [name for name, there in known.items() if not there]
    status = Status.GOOD if not missing else Status.OK if len(missing) == 1 else Status.BAD
    return graded(
        status,
        f"Missing: {', '.join(missing)}." if missing else "Author and dates are given.",
        len(known) - len(missing),
        fix=f"Give the {', the '.join(missing)}.",
        evidence=[Evidence(author.name, "author") for author in article.authors if author.name.strip()],
    )
