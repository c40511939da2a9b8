"""Checks of images and videos."""

from __future__ import annotations

import re

from pressroom_seo.document import Image, clean_text
from pressroom_seo.scoring.article import ImageFacts
from pressroom_seo.scoring.context import Context
from pressroom_seo.scoring.report import Evidence, Verdict, at_most, bad, good, graded, ok, plural, skipped
from pressroom_seo.scoring.rules import Rule, article_check, check

_NO_IMAGES = "There are no images."


@article_check
def image_count(context: Context, rule: Rule) -> Verdict:
    """Is there something to look at?"""
    number = len(context.images) + len(context.document.videos)
    featured = context.article.featured_image
    if featured and all(image.src != featured for image in context.images):
        number += 1
    if number >= rule["good"]:
        return good(f"There are {number} images and videos." if number > 1 else "There is an image or video.", number)
    return bad("There is no image and no video.", number, fix="Add an image that shows what the text says.")


@check
def image_alt(context: Context, rule: Rule) -> Verdict:
    """Can people who do not see the images know what they show?"""
    if not context.images:
        return skipped(_NO_IMAGES)
    missing = [image for image in context.images if not (image.alt or "").strip()]
    if missing:
        fix = "Say in each alt text what the image shows; mark pure decoration with role=presentation."
        message = f"{plural(len(missing), 'image has', 'images have')} no alt text."
        return bad(message, len(missing), fix=fix, evidence=_sources(missing))
    long = [image for image in context.images if len(image.alt or "") > rule["longest"]]
    if long:
        return ok(
            f"{plural(len(long), 'alt text is', 'alt texts are')} over {rule['longest']} characters.",
            len(long),
            fix="Shorten them, and move details into the text or a caption.",
            evidence=[Evidence(image.alt or "", image.src) for image in long],
        )
    return good("Every image has an alt text.", 0)


@check
def image_dimensions(context: Context, rule: Rule) -> Verdict:
    """Does the page keep the images' room while they load?"""
    del rule
    images = context.images
    if not images:
        return skipped(_NO_IMAGES)
    missing = [one for one in images if not _is_sized(one, context.article.images.get(one.src))]
    if missing and context.document.markdown:
        missing = [one for one in missing if one.src in context.article.images]
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
    if image.width and image.height:
        return True
    return facts is not None and bool(facts.width and facts.height)


@check
def image_weight(context: Context, rule: Rule) -> Verdict:
    """Are the images light?"""
    known = [(one, facts.weight) for one, facts in _with_facts(context) if facts.weight is not None]
    if not known:
        return skipped("The weight of the images is not known.")
    one, heaviest = max(known, key=lambda pair: pair[1])
    heavy = sorted((pair for pair in known if pair[1] > rule["good"]), key=lambda pair: -pair[1])
    return graded(
        at_most(heaviest, rule["good"], rule["ok"]),
        f"The heaviest image has {heaviest / 1000:.0f} kB.",
        heaviest,
        fix=f"Make {one} smaller: fewer pixels, or the format WebP or AVIF.",
        evidence=[Evidence(f"{weight / 1000:.0f} kB", source) for source, weight in heavy],
    )


@check
def image_credit(context: Context, rule: Rule) -> Verdict:
    """Do licensed images carry the credit that is owed?"""
    del rule
    owed = [(source, facts) for source, facts in _with_facts(context) if facts.credit_required]
    if not owed:
        return skipped("No image is known to need a credit.")
    missing = [(source, facts) for source, facts in owed if not _has_credit(context.document.prose, facts)]
    if not missing:
        return good(f"{plural(len(owed), 'image carries', 'images carry')} the required credit.", 0)
    return bad(
        f"{plural(len(missing), 'image lacks', 'images lack')} the credit that the licence asks for.",
        len(missing),
        fix=f"Add under the image: {missing[0][1].credit or 'author, source and licence'}",
        evidence=[Evidence(facts.licence or "licence", source) for source, facts in missing],
    )


def _has_credit(text: str, facts: ImageFacts) -> bool:
    """Tell whether a text carries the credit that is owed for an image, or will, once it is published.

    Words are compared, marks and case are not.
    """
    if facts.credit_added:
        return True
    wanted = _plain(facts.credit)
    return bool(wanted) and wanted in _plain(text)


def _plain(text: str) -> str:
    return " ".join(re.findall(r"[^\W_]+", clean_text(text).casefold()))


def _with_facts(context: Context) -> list[tuple[str, ImageFacts]]:
    sources = dict.fromkeys(image.src for image in context.document.images)
    if context.article.featured_image:
        sources.setdefault(context.article.featured_image)
    known = context.article.images
    return [(source, known[source]) for source in sources if source in known]


def _sources(images: list[Image]) -> list[Evidence]:
    return [Evidence(image.src or "(no URL)", "image") for image in images]
