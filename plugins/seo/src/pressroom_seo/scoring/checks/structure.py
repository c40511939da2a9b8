"""Checks of the text's structure: length, headings, first paragraph, scannability."""

from __future__ import annotations

from itertools import pairwise

from pressroom_seo.document import Block, BlockKind
from pressroom_seo.scoring.context import Context
from pressroom_seo.scoring.rules import (
    Evidence,
    Rule,
    Status,
    Verdict,
    article_check,
    at_least,
    at_most,
    bad,
    check,
    good,
    graded,
    plural,
    skipped,
)


@check
def text_length(context: Context, rule: Rule) -> Verdict:
    """Is there enough text?"""
    words = context.text.words
    return graded(
        at_least(words, rule["good"], rule["ok"]),
        f"The text has {plural(words, 'word')}.",
        words,
        fix=f"Write {plural(int(rule['good']) - words, 'more word')} that answer what readers still want to know.",
    )


@check
def single_h1(context: Context, rule: Rule) -> Verdict:
    """Is the title the only H1?"""
    del rule
    headings = [block for block in context.document.headings if block.level == 1]
    evidence = [Evidence(block.text, "H1") for block in headings]
    title = " ".join((context.article.title or context.title).split()).casefold()
    repeated = next((block for block in headings if not title or block.text.casefold() == title), None)
    others = [block for block in headings if block is not repeated]
    if not others:
        return good("The title is the only H1.", len(headings), evidence)
    return bad(
        f"The body has {plural(len(others), 'H1 heading')} beside the title.",
        len(others),
        fix="Make the H1 headings of the body H2.",
        evidence=[Evidence(block.text, "H1") for block in others],
    )


@check
def heading_order(context: Context, rule: Rule) -> Verdict:
    """Do headings go down one level at a time?"""
    del rule
    headings = context.document.headings
    if not headings:
        return skipped("There are no headings.")
    levels = [1, *(block.level for block in headings)]
    skips = [
        (block, above) for (above, level), block in zip(pairwise(levels), headings, strict=True) if level > above + 1
    ]
    if not skips:
        return good("No heading level is skipped.", 0)
    block, above = skips[0]
    return bad(
        f"{plural(len(skips), 'heading skips', 'headings skip')} a level.",
        len(skips),
        fix=f"Make “{block.text[:60]}” an H{above + 1}: it follows an H{above}.",
        evidence=[Evidence(heading.text, f"H{heading.level} after H{before}") for heading, before in skips],
    )


@check
def subheading_distribution(context: Context, rule: Rule) -> Verdict:
    """Are there enough subheadings for the length of the text?"""
    if not context.text.words:
        return skipped("There is no text.")
    longest, start = max(_stretches(context), key=lambda stretch: stretch[0])
    heading = context.document.blocks[start] if start is not None else None
    headings = bool(context.document.headings)
    before = "before the first heading" if headings else "about every 250 words: it has none"
    location = f"under “{heading.text[:80]}”" if heading else before
    return graded(
        at_most(longest, rule["good"], rule["ok"] if headings else rule["good"]),
        f"The longest stretch without a subheading has {plural(longest, 'word')}.",
        longest,
        fix=f"Add a subheading to the text {location}.",
        evidence=[Evidence((heading or context.document.blocks[0]).text, location if headings else "the whole text")],
    )


def _stretches(context: Context) -> list[tuple[int, int | None]]:
    """Return the number of words in each stretch between headings, with the block index of the preceding heading."""
    stretches: list[tuple[int, int | None]] = []
    words, start = 0, None
    for index, block in enumerate(context.document.blocks):
        if block.kind is BlockKind.HEADING:
            stretches.append((words, start))
            words, start = 0, index
        else:
            words += context.text.block_words[index]
    return [*stretches, (words, start)]


@article_check
def intro_length(context: Context, rule: Rule) -> Verdict:
    """Is the first paragraph neither too short nor too long?"""
    first = context.text.first_paragraph
    if not first:
        return bad("There is no first paragraph.", 0, fix="Begin with a paragraph that says what readers get.")
    words = sum(len(sentence.words) for sentence in first)
    short = words < rule["low"]
    return graded(
        Status.BAD if short else at_most(words, rule["high"], rule["ok"]),
        f"The first paragraph has {plural(words, 'word')}.",
        words,
        fix=f"Make the first paragraph {rule['low']} to {rule['high']} words: "
        f"{'say what readers get' if short else 'split it'}.",
        evidence=[Evidence(context.document.blocks[first[0].block].text, context.text.block_position(first[0].block))],
    )


@check
def scannable(context: Context, rule: Rule) -> Verdict:
    """Do lists, tables and short headings make the text easy to scan?"""
    words = context.text.words
    if words < rule["from"]:
        return good(f"The text has {plural(words, 'word')}: short enough to take in at once.", words)
    anchors = set(context.document.anchors)
    longest, length, start = 0, 0, 0
    stretch_start = 0
    for index, block in enumerate(context.document.blocks):
        if index in anchors or _is_short_heading(context, index, block, rule):
            length, stretch_start = 0, index
        length += context.text.block_words[index]
        if length > longest:
            longest, start = length, stretch_start
    message = f"The longest stretch without a list, a table or a short heading has {plural(longest, 'word')}."
    if longest <= rule["every"]:
        return good(message, longest)
    return bad(
        message,
        longest,
        fix="Turn an enumeration in the longest stretch of text into a list, or add a short subheading.",
        evidence=[Evidence(context.document.blocks[start].text, f"from {context.text.block_position(start)}")],
    )


def _is_short_heading(context: Context, index: int, block: Block, rule: Rule) -> bool:
    return block.kind is BlockKind.HEADING and context.text.block_words[index] <= rule["heading_words"]
