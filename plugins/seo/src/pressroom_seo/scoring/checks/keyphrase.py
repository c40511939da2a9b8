"""Checks of the keyphrase: its choice and its use."""

from __future__ import annotations

import math

from pressroom_content.language import fold

from pressroom_seo.document import BlockKind
from pressroom_seo.scoring.context import Context, slug_of, slug_words
from pressroom_seo.scoring.rules import (
    NO_KEYPHRASE,
    Evidence,
    Rule,
    Status,
    Verdict,
    at_most,
    bad,
    check,
    good,
    graded,
    keyphrase_check,
    ok,
    plural,
    skipped,
    unsupported,
)
from pressroom_seo.scoring.text import Sentence

_QUOTED = 5
"""Number of words that a fix quotes from a sentence."""


@check
def keyphrase_set(context: Context, rule: Rule) -> Verdict:
    """Is there a keyphrase?"""
    del rule
    return good(f"The keyphrase is “{context.keyphrase.text}”.") if context.keyphrase else skipped(NO_KEYPHRASE)


@keyphrase_check
def keyphrase_length(context: Context, rule: Rule) -> Verdict:
    """Is it as long as typical search phrases?"""
    number = len(context.keyphrase.content)
    return graded(
        at_most(number, rule["good"], rule["ok"]),
        f"The keyphrase has {plural(number, 'content word')}.",
        number,
        fix=f"Cut the keyphrase to {rule['good']} content words, and give longer ones as secondary phrases.",
        evidence=[Evidence(context.keyphrase.text, "keyphrase")],
    )


@keyphrase_check
def keyphrase_function_words(context: Context, rule: Rule) -> Verdict:
    """Does it contain any meaningful word?"""
    del rule
    if context.pack is None:
        return unsupported(context, "function words")
    if not context.keyphrase.only_function_words:
        return good("The keyphrase has words that carry meaning.")
    return bad(
        "The keyphrase has only function words, which are in every text.",
        fix="Add the word that says what the article is about.",
        evidence=[Evidence(context.keyphrase.text, "keyphrase")],
    )


@keyphrase_check
def keyphrase_density(context: Context, rule: Rule) -> Verdict:
    """Is it used often enough, and not too often?"""
    words = context.text.words
    if not words:
        return bad("There is no text, so the keyphrase is not in it.", 0, fix="Write the article.")
    number = sum(uses for _, uses, _ in context.uses)
    percent = round(context.density, 2)
    message = f"The keyphrase is used {plural(number, 'time')} in {plural(words, 'word')}: a density of {percent:g} %."
    if _is_right(context, rule, number):
        return good(message, percent, _evidence(context))
    minimum, _ = _limits(context, rule)
    fix = _density_fix(context, number, rule, too_few=number < minimum)
    return bad(message, percent, fix=fix, evidence=_evidence(context))


def is_stuffed(context: Context, rule: Rule, limit: float) -> bool:
    """Return whether the density exceeds the gate's limit and the number of uses is not within the rule's limits."""
    number = sum(uses for _, uses, _ in context.uses)
    return bool(context.keyphrase) and context.density > limit and not _is_right(context, rule, number)


def _limits(context: Context, rule: Rule, high: float | None = None) -> tuple[int, int]:
    """Return the minimum and maximum number of uses for the lengths of the text and the keyphrase."""
    words, per_use, minimum = context.text.words, context.density_of(1), int(rule["least"])
    if words < rule["short"]:
        return 1, 1 if words < rule["very_short"] else minimum
    return max(minimum, math.ceil(rule["low"] / per_use)), max(minimum, int((high or rule["high"]) / per_use))


def _is_right(context: Context, rule: Rule, number: int) -> bool:
    minimum, maximum = _limits(context, rule)
    _, maximum_inflected = _limits(context, rule, rule["high_inflected"])
    return minimum <= number <= maximum_inflected and sum(uses for _, _, uses in context.uses) <= maximum


def _density_fix(context: Context, number: int, rule: Rule, *, too_few: bool) -> str:
    minimum, maximum = _limits(context, rule)
    if context.text.words < rule["short"]:
        times = "once" if maximum == minimum else "once or twice"
        return f"A text this short needs the keyphrase {times}: {'add it' if too_few else 'take it out elsewhere'}."
    if too_few:
        return f"Use the keyphrase {plural(minimum - number, 'more time')}, where it reads well: {minimum} in all."
    return (
        f"Take the keyphrase out or reword it in {plural(max(1, number - maximum), 'place')}: at most {maximum} in all."
    )


def _evidence(context: Context) -> list[Evidence]:
    return [Evidence(sentence.text, context.text.place(sentence)) for sentence, _, _ in context.uses[:5]]


@keyphrase_check
def keyphrase_distribution(context: Context, rule: Rule) -> Verdict:
    """Does it appear throughout the text?"""
    text = context.text
    if len(text.sentences) < rule["from"]:
        return skipped(f"The text has under {rule['from']} sentences; in short texts distances say little.")
    mentions = [sentence for sentence in text.sentences if _is_about(context, sentence)]
    if not mentions or not text.words:
        return bad(
            "The keyphrase and its synonyms are nowhere in the text.",
            100,
            fix="Use the keyphrase in the first paragraph, in a subheading and in the text below.",
        )
    length, start, end = _longest_gap(mentions, text.words)
    percent = round(100 * length / text.words, 1)
    first, last = _sentence_at(text.sentences, start), _sentence_at(text.sentences, end - 1)
    return graded(
        at_most(100 * length / text.words, rule["good"], rule["ok"]),
        f"The longest stretch without the keyphrase is {percent:g} % of the text ({plural(length, 'word')}).",
        percent,
        fix=f"Mention the keyphrase or a synonym somewhere between {_quoted(first)} and {_quoted(last)}.",
        evidence=[Evidence(first.text, f"from {text.place(first)}"), Evidence(last.text, f"to {text.place(last)}")],
    )


def _quoted(sentence: Sentence) -> str:
    words = sentence.text.split()
    return f"“{' '.join(words[:_QUOTED])}{'…' if len(words) > _QUOTED else ''}”"


def _is_about(context: Context, sentence: Sentence) -> bool:
    return context.keyphrase.mentioned(sentence.words) or any(
        synonym.mentioned(sentence.words) for synonym in context.synonyms
    )


def _longest_gap(mentions: list[Sentence], words: int) -> tuple[int, int, int]:
    ends = [0, *(sentence.offset + len(sentence.words) for sentence in mentions)]
    starts = [*(sentence.offset for sentence in mentions), words]
    return max(((start - end, end, start) for end, start in zip(ends, starts, strict=True)), key=lambda gap: gap[0])


def _sentence_at(sentences: list[Sentence], word: int) -> Sentence:
    position = max(0, word)
    return next(
        (sentence for sentence in reversed(sentences) if sentence.offset <= position and sentence.words), sentences[0]
    )


@keyphrase_check
def keyphrase_unique(context: Context, rule: Rule) -> Verdict:
    """Does another article on the site target the same keyphrase?"""
    others = context.world.others
    if others is None:
        return skipped("The site's other articles are not known.")
    competing = [article for article in others if article.keyphrase and context.keyphrase.same_as(article.keyphrase)]
    status = at_most(len(competing), rule["good"], rule["ok"])
    if status is Status.GOOD:
        return good("No other article of the site has this keyphrase.", 0)
    evidence = [Evidence(article.title or article.keyphrase, article.url) for article in competing]
    message = f"{plural(len(competing), 'other article has', 'other articles have')} this keyphrase."
    fix = "Choose a more specific keyphrase, or merge the articles and redirect."
    verdict = ok if status is Status.OK else bad
    return verdict(message, len(competing), fix=fix, evidence=evidence)


_HALF = 0.5


@keyphrase_check
def keyphrase_in_title(context: Context, rule: Rule) -> Verdict:
    """Is it in the title, preferably at the start?"""
    del rule
    phrase, words = context.keyphrase, context.words_of(context.title)
    evidence = [Evidence(context.title, "title")] if context.title else []
    if phrase.starts(words):
        return good("The title begins with the keyphrase.", "start", evidence)
    if phrase.exact_positions(words):
        fix = "Move the keyphrase to the start of the title."
        return ok("The keyphrase is in the title, but not at its start.", "exact", fix=fix, evidence=evidence)
    if phrase.share(words) == 1:
        fix = "Write the keyphrase as it is, at the start of the title."
        message = "All words of the keyphrase are in the title, in another form or order."
        return ok(message, "words", fix=fix, evidence=evidence)
    return bad(
        "Words of the keyphrase are missing in the title.",
        "missing",
        fix=f"Begin the title with “{phrase.text}”.",
        evidence=evidence,
    )


@keyphrase_check
def keyphrase_in_intro(context: Context, rule: Rule) -> Verdict:
    """Does the first paragraph say what the article is about?"""
    del rule
    first = context.text.first_paragraph
    if not first:
        return bad(
            "There is no first paragraph.", False, fix="Write a first paragraph with the keyphrase in a sentence."
        )
    phrases = [context.keyphrase, *context.synonyms]
    for sentence in first:
        if any(phrase.share(sentence.words) == 1 for phrase in phrases):
            evidence = [Evidence(sentence.text, context.text.place(sentence))]
            return good("A sentence of the first paragraph has the keyphrase.", True, evidence)
    evidence = [Evidence(first[0].text, context.text.place(first[0]))]
    fix = f"Work “{context.keyphrase.text}” into one sentence of the first paragraph."
    words = [word for sentence in first for word in sentence.words]
    if any(phrase.share(words) == 1 for phrase in phrases):
        message = "The keyphrase's words are in the first paragraph, but in several sentences."
        return ok(message, False, fix=fix, evidence=evidence)
    return bad("The keyphrase is not in the first paragraph.", False, fix=fix, evidence=evidence)


@keyphrase_check
def keyphrase_in_meta(context: Context, rule: Rule) -> Verdict:
    """Is it in the meta description?"""
    if not context.description:
        return bad("There is no meta description.", 0, fix="Write a meta description with the keyphrase in it.")
    words = context.words_of(context.description)
    number = sum(phrase.uses(words).all for phrase in (context.keyphrase, *context.synonyms))
    fix = f"Use the keyphrase {'once' if number == 0 else 'at most twice'} in the meta description."
    return graded(
        Status.GOOD if rule["least"] <= number <= rule["most"] else Status.BAD,
        f"The meta description has the keyphrase or a synonym {plural(number, 'time')}.",
        number,
        fix=fix,
        evidence=[Evidence(context.description, "meta description")],
    )


@keyphrase_check
def keyphrase_in_slug(context: Context, rule: Rule) -> Verdict:
    """Is it in the URL?"""
    del rule
    slug = slug_of(context.article)
    if not slug:
        return skipped("The article has no slug yet.")
    content = context.keyphrase.content
    present = context.keyphrase.share(slug_words(slug)) * len(set(content))
    plain = {fold(part) for part in slug_words(slug)}
    number = max(round(present), sum(fold(word) in plain for word in set(content)))
    total = len(set(content))
    majority = number > total / 2 if total > 2 else number == total
    return graded(
        Status.GOOD if majority else Status.OK if number else Status.BAD,
        f"The slug has {number} of {plural(total, 'content word')} of the keyphrase.",
        number,
        fix=f"Put the keyphrase into the slug, such as “{'-'.join(fold(word) for word in content)}”; "
        "redirect the old URL if the article is published.",
        evidence=[Evidence(slug, "slug")],
    )


@keyphrase_check
def keyphrase_in_subheadings(context: Context, rule: Rule) -> Verdict:
    """Is it in some subheadings, but not in most?"""
    blocks = context.document.blocks
    headings = [block for block in blocks if block.kind is BlockKind.HEADING and block.level in {2, 3}]
    if not headings:
        return skipped("There are no H2 and H3 headings.")
    phrases = [context.keyphrase, *context.synonyms]
    carriers = [
        heading
        for heading in headings
        if any(phrase.share(context.words_of(heading.text)) >= _HALF for phrase in phrases)
    ]
    percent = 100 * len(carriers) / len(headings)
    in_range = len(carriers) == 1 if len(headings) == 1 else rule["low"] <= percent <= rule["high"]
    too_few = percent < rule["low"]
    listed = [heading for heading in headings if heading not in carriers] if too_few else carriers
    return graded(
        Status.GOOD if in_range else Status.BAD,
        f"{len(carriers)} of {plural(len(headings), 'subheading')} carry the keyphrase: {percent:.0f} %.",
        round(percent, 1),
        fix="Work the keyphrase or a synonym into more subheadings." if too_few else "Reword some of the subheadings.",
        evidence=[Evidence(heading.text, f"H{heading.level}") for heading in listed],
    )


@keyphrase_check
def keyphrase_in_alt(context: Context, rule: Rule) -> Verdict:
    """Is it in the alt texts?"""
    alts = [image.alt or "" for image in context.images]
    if context.article.featured_image and context.article.featured_image_alt is not None:
        alts.append(context.article.featured_image_alt)
    if not alts:
        return skipped("There are no images.")
    carriers = [alt for alt in alts if context.keyphrase.share(context.words_of(alt)) >= _HALF]
    percent = 100 * len(carriers) / len(alts)
    in_range = rule["low"] <= percent <= rule["high"] if len(alts) >= rule["many"] else bool(carriers)
    message = f"{len(carriers)} of {plural(len(alts), 'alt text')} carry the keyphrase."
    evidence = [Evidence(alt, "alt text") for alt in alts if alt]
    if in_range:
        return good(message, len(carriers), evidence)
    if any(alts):
        too_few = percent < rule["low"] or not carriers
        fix = (
            "Use the keyphrase in the alt text where the image shows it."
            if too_few
            else "Describe what the other images show instead."
        )
        return ok(message, len(carriers), fix=fix, evidence=evidence)
    return bad("No image has an alt text.", 0, fix="Describe each image, with the keyphrase where it is shown.")


@keyphrase_check
def competing_links(context: Context, rule: Rule) -> Verdict:
    """Does any link have the keyphrase itself as its text?"""
    del rule
    links = [link for link in context.document.links if context.is_internal(link) or context.is_outbound(link)]
    exact = [link for link in links if link.text and context.keyphrase.same_as(link.text)]
    if not exact:
        return good("No link text is the keyphrase itself.", 0)
    return bad(
        f"{plural(len(exact), 'link has', 'links have')} the keyphrase as the text: the linked page competes for it.",
        len(exact),
        fix="Reword the link text to what the linked page adds.",
        evidence=[Evidence(link.text, link.href or "") for link in exact],
    )
