"""Checks of links, images and videos."""

from __future__ import annotations

import ipaddress
import re

from pressroom_seo.document import Image, Link, clean_text
from pressroom_seo.scoring.article import ImageFacts
from pressroom_seo.scoring.context import Context
from pressroom_seo.scoring.rules import (
    Evidence,
    Rule,
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
    unsupported,
)
from pressroom_seo.urls import split_url

_SCHEMES = frozenset(
    {"", "http", "https", "mailto", "tel", "sms", "geo", "ftp", "webcal", "news", "magnet", "whatsapp"}
)
_ERRORS = 400
_LOCAL = (".localhost", ".local", ".internal", ".test", ".invalid")


@check
def internal_links(context: Context, rule: Rule) -> Verdict:
    """Does it link to other pages of the site?"""
    links = [link for link in context.document.links if context.is_internal(link)]
    followed = [link for link in links if link.followed]
    needed = 2 if context.text.words >= rule["long"] else 1
    message = f"{plural(len(links), 'link leads', 'links lead')} to pages of the same site, {len(followed)} followed."
    evidence = _evidence(context, links)
    if len(followed) >= needed:
        return good(message, len(followed), evidence)
    fix = f"Link to {plural(needed - len(followed), 'more article')} of the site that readers need next."
    if links:
        return ok(message, len(followed), fix=fix, evidence=evidence)
    if context.address is None and any(map(context.is_outbound, context.document.links)):
        message += " The article's own URL is not known, so only relative links count as internal."
    return bad(message, 0, fix=fix)


@article_check
def outbound_links(context: Context, rule: Rule) -> Verdict:
    """Does it link to its sources?"""
    del rule
    links = [link for link in context.document.links if context.is_outbound(link)]
    followed = [link for link in links if link.followed]
    message = f"{plural(len(links), 'link leads', 'links lead')} to other sites, {len(followed)} followed."
    evidence = _evidence(context, links)
    if followed:
        return good(message, len(followed), evidence)
    if links:
        fix = "Take nofollow off the links that you vouch for."
        return ok(message, 0, fix=fix, evidence=evidence)
    return bad(message, 0, fix="Link to a source that backs what the article says.")


@check
def link_text(context: Context, rule: Rule) -> Verdict:
    """Do link texts describe the page they link to?"""
    del rule
    links = _pages(context)
    if not links:
        return skipped("There are no links.")
    if context.pack is None:
        return unsupported(context, "link texts")
    texts = context.pack.generic_links
    generic = [link for link in links if not link.text or texts.is_one(context.words_of(link.text))]
    if not generic:
        return good("Every link text says where it leads.", 0)
    return bad(
        f"{plural(len(generic), 'link text says', 'link texts say')} nothing of the linked page.",
        len(generic),
        fix="Use words that name what the linked page is about.",
        evidence=_evidence(context, generic),
    )


@check
def crawlable_links(context: Context, rule: Rule) -> Verdict:
    """Can a crawler follow them?"""
    del rule
    links = [link for link in context.document.links if link.href is not None or not link.named]
    if not links:
        return skipped("There are no links.")
    own_host = (context.address.hostname or "") if context.address else ""
    wrong = [(link, problem) for link in links if (problem := _fault(link, own_host))]
    if not wrong:
        return good("Every link can be followed.", 0)
    return bad(
        f"{plural(len(wrong), 'link')} cannot be followed.",
        len(wrong),
        fix="Give each link the public URL of a page.",
        evidence=[Evidence(f"{link.text or '(no text)'}: {link.href or ''}", problem) for link, problem in wrong],
    )


def _fault(link: Link, own_host: str) -> str:
    if not link.href:
        return "no URL"
    parts = split_url(link.href)
    if parts is None:
        return "not a URL"
    scheme = parts.scheme.lower()
    if scheme not in _SCHEMES:
        return f"{scheme}: does not lead to a page"
    if scheme in {"http", "https"} and not parts.hostname:
        return "no host"
    host = parts.hostname or ""
    # A site on a private network, such as a staging site, may link to itself.
    return "points to this machine or a private network" if host != own_host and _is_private(host) else ""


def _is_private(host: str) -> bool:
    if host == "localhost" or host.endswith(_LOCAL):
        return True
    try:
        return not ipaddress.ip_address(host).is_global
    except ValueError:
        return False


@check
def broken_links(context: Context, rule: Rule) -> Verdict:
    """Do the links work, and does the canonical URL?"""
    del rule
    statuses = context.world.link_status
    if statuses is None:
        return skipped("The links were not tried; call check_blog_seo with links in include to try them.")
    hrefs = [link.href for link in context.document.links if link.href]
    canonicals = [url.strip() for url in context.article.canonicals]
    checked = [(href, statuses[href]) for href in dict.fromkeys([*canonicals, *hrefs]) if href in statuses]
    if not checked:
        return skipped("No links were tried.")
    hidden = [Evidence(url, "says noindex") for url in canonicals if context.world.canonical_noindex]
    broken = [
        Evidence(href, f"{'canonical URL: ' if href in canonicals else ''}{status.status or 'no response'}")
        for href, status in checked
        if not 0 < status.status < _ERRORS
    ]
    if broken or hidden:
        message = f"{plural(len(broken), 'link is', 'links are')} broken." if broken else ""
        message += " The canonical page says noindex." if hidden else ""
        fix = "Fix or remove the broken links." if broken else "Name a canonical page that may be indexed."
        return bad(message.strip(), len(broken) + len(hidden), fix=fix, evidence=[*hidden, *broken])
    redirected = [(href, status) for href, status in checked if status.redirected_to]
    if redirected:
        return ok(
            f"{plural(len(redirected), 'link is', 'links are')} redirected.",
            len(redirected),
            fix="Link to the final URLs directly.",
            evidence=[Evidence(href, f"to {status.redirected_to}") for href, status in redirected],
        )
    return good(f"{plural(len(checked), 'link responds', 'links respond')}.", 0)


def _pages(context: Context) -> list[Link]:
    return [link for link in context.document.links if context.is_internal(link) or context.is_outbound(link)]


def _evidence(context: Context, links: list[Link]) -> list[Evidence]:
    blocks = context.document.blocks
    return [
        Evidence(
            f"{link.text or '(no text)'} → {link.href}",
            context.text.block_position(min(link.block, len(blocks) - 1)) if blocks else "",
        )
        for link in links[:5]
    ]


_NO_IMAGES = "There are no images."


@article_check
def image_count(context: Context, rule: Rule) -> Verdict:
    """Is there an image or a video?"""
    number = len(context.images) + len(context.document.videos)
    featured = context.article.featured_image
    if featured and all(image.src != featured for image in context.images):
        number += 1
    if number >= rule["good"]:
        return good(f"There are {number} images and videos." if number > 1 else "There is an image or video.", number)
    return bad("There is no image and no video.", number, fix="Add an image that shows what the text says.")


@check
def image_alt(context: Context, rule: Rule) -> Verdict:
    """Do people who cannot see the images learn what they show?"""
    if not context.images:
        return skipped(_NO_IMAGES)
    # In HTML, alt="" marks decoration. In Markdown, an empty alt text is one that nobody wrote.
    images = [image for image in context.images if image.alt != "" or context.document.markdown]
    if not images:
        return skipped("All images are marked as decoration.")
    missing = [image for image in images if not image.alt]
    if missing:
        fix = "Say in each alt text what the image shows; mark pure decoration with role=presentation."
        message = f"{plural(len(missing), 'image has', 'images have')} no alt text."
        return bad(message, len(missing), fix=fix, evidence=_sources(missing))
    long = [image for image in context.images if len(image.alt or "") > rule["longest"]]
    if long:
        return ok(
            f"{plural(len(long), 'alt text is', 'alt texts are')} over {rule['longest']} characters.",
            len(long),
            fix="Shorten the alt texts, and move details into the text or a caption.",
            evidence=[Evidence(image.alt or "", image.src) for image in long],
        )
    return good("Every image has an alt text.", 0)


@check
def image_dimensions(context: Context, rule: Rule) -> Verdict:
    """Does the page reserve space for images while they load?"""
    del rule
    images = context.images
    if not images:
        return skipped(_NO_IMAGES)
    missing = [image for image in images if not _is_sized(image, context.article.images.get(image.src))]
    if missing and context.document.markdown:
        missing = [image for image in missing if image.src in context.article.images]
        if not missing:
            return skipped("Markdown cannot say how large images are, and their sizes are not known.")
    if not missing:
        return good("The size of every image is known.", 0)
    return bad(
        f"{plural(len(missing), 'image has', 'images have')} no width and height: the text jumps when they load.",
        len(missing),
        fix="Set width and height to the image's own pixels.",
        evidence=_sources(missing),
    )


def _is_sized(image: Image, facts: ImageFacts | None) -> bool:
    if image.sized:
        return True
    return facts is not None and bool(facts.width and facts.height)


@check
def image_weight(context: Context, rule: Rule) -> Verdict:
    """Are the image files small?"""
    weights = [(source, facts.weight) for source, facts in _with_facts(context) if facts.weight is not None]
    if not weights:
        return skipped("The weight of the images is not known.")
    heaviest_source, heaviest = max(weights, key=lambda pair: pair[1])
    heavy = sorted((pair for pair in weights if pair[1] > rule["good"]), key=lambda pair: -pair[1])
    return graded(
        at_most(heaviest, rule["good"], rule["ok"]),
        f"The heaviest image has {heaviest / 1000:.0f} kB.",
        heaviest,
        fix=f"Make {heaviest_source} smaller: fewer pixels, or the format WebP or AVIF.",
        evidence=[Evidence(f"{weight / 1000:.0f} kB", source) for source, weight in heavy],
    )


@check
def image_credit(context: Context, rule: Rule) -> Verdict:
    """Do licensed images have the credit that their licence requires?"""
    del rule
    credited = [(source, facts) for source, facts in _with_facts(context) if facts.credit_required]
    if not credited:
        return skipped("No image is known to need a credit.")
    missing = [(source, facts) for source, facts in credited if not _has_credit(context.document.prose, facts)]
    if not missing:
        return good(f"{plural(len(credited), 'image carries', 'images carry')} the required credit.", 0)
    return bad(
        f"{plural(len(missing), 'image lacks', 'images lack')} the credit that the licence asks for.",
        len(missing),
        fix=f"Add under the image: {missing[0][1].credit or 'author, source and licence'}",
        evidence=[Evidence(facts.licence or "licence", source) for source, facts in missing],
    )


def _has_credit(text: str, facts: ImageFacts) -> bool:
    """Return whether a text contains an image's required credit, or publishing will add it.

    Punctuation and case are ignored.
    """
    if facts.credit_added:
        return True
    credit = _plain(facts.credit)
    return bool(credit) and credit in _plain(text)


def _plain(text: str) -> str:
    return " ".join(re.findall(r"[^\W_]+", clean_text(text).casefold()))


def _with_facts(context: Context) -> list[tuple[str, ImageFacts]]:
    sources = dict.fromkeys(image.src for image in context.document.images)
    if context.article.featured_image:
        sources.setdefault(context.article.featured_image)
    facts_by_source = context.article.images
    return [(source, facts_by_source[source]) for source in sources if source in facts_by_source]


def _sources(images: list[Image]) -> list[Evidence]:
    return [Evidence(image.src or "(no URL)", "image") for image in images]
