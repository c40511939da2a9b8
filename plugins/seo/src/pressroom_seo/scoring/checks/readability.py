"""Checks of how hard the text is to read."""

from __future__ import annotations

from collections import Counter

from pressroom_seo.scoring.checks.registry import check, unsupported
from pressroom_seo.scoring.context import Context
from pressroom_seo.scoring.document import BlockKind
from pressroom_seo.scoring.report import Evidence, Status
from pressroom_seo.scoring.rules import Rule
from pressroom_seo.scoring.text import Sentence
from pressroom_seo.scoring.verdict import Verdict, at_least, at_most, bad, good, graded, plural, skipped

_NO_SENTENCES = "There are no sentences."
_UNSPACED = "The script puts no blanks between words, so lengths in words say little."


@check
def text_presence(context: Context, rule: Rule) -> Verdict:
    """Is there any text?"""
    number = context.text.characters
    return graded(
        Status.GOOD if number >= rule["good"] else Status.BAD,
        f"The text has {plural(number, 'character')}.",
        number,
        fix="Write the article.",
    )


@check
def sentence_length(context: Context, rule: Rule) -> Verdict:
    """Are most sentences short?"""
    sentences = context.text.spoken
    if not sentences:
        return skipped(_NO_SENTENCES)
    if context.text.unspaced:
        return skipped(_UNSPACED)
    long = sorted((one for one in sentences if len(one.words) > rule["words"]), key=lambda one: -len(one.words))
    percent = 100 * len(long) / len(sentences)
    return graded(
        at_most(percent, rule["good"], rule["ok"]),
        f"{len(long)} of {plural(len(sentences), 'sentence')} have more than {rule['words']} words: {percent:.1f} %.",
        round(percent, 1),
        fix="Split the longest sentences, at “and”, “which” or a semicolon.",
        evidence=(Evidence(one.text, f"{context.text.place(one)}: {len(one.words)} words") for one in long),
    )


@check
def paragraph_length(context: Context, rule: Rule) -> Verdict:
    """Are paragraphs short?"""
    if context.text.unspaced:
        return skipped(_UNSPACED)
    kinds = {BlockKind.PARAGRAPH, BlockKind.QUOTE, BlockKind.LIST_ITEM}
    blocks = context.document.blocks
    sizes = [(words, at) for at, words in enumerate(context.text.block_words) if blocks[at].kind in kinds]
    if not sizes:
        return skipped("There are no paragraphs.")
    longest = max(sizes)[0]
    long = sorted((pair for pair in sizes if pair[0] > rule["good"]), reverse=True)
    return graded(
        at_most(longest, rule["good"], rule["ok"]),
        f"The longest paragraph has {plural(longest, 'word')}.",
        longest,
        fix="Split it where a new thought begins.",
        evidence=(Evidence(blocks[at].text, f"{context.text.block_place(at)}: {words} words") for words, at in long),
    )


@check
def reading_ease(context: Context, rule: Rule) -> Verdict:
    """Is it easy to read, by the language's own formula?"""
    del rule
    pack, sentences = context.pack, [one for one in context.text.spoken if not _is_label(one)]
    if pack is None:
        return unsupported(context, "reading ease")
    if not sentences:
        return skipped(_NO_SENTENCES)
    words = [word for one in sentences for word in one.words if not word.isdigit()]
    if not words:
        return skipped("There are no words to measure.")
    formula = pack.reading_ease
    syllables = sum(pack.syllables.count(word) * number for word, number in Counter(words).items())
    value = round(formula.value(len(words), len(sentences), syllables), 1)
    per_sentence, per_word = len(words) / len(sentences), syllables / len(words)
    status = at_least(value, formula.good, formula.ok)
    shown = [] if status is Status.GOOD else sentences
    hardest = sorted(shown, key=lambda one: formula.value(max(1, len(one.words)), 1, _syllables(context, one)))
    return graded(
        status,
        f"{formula.name} is {value:g}: {per_sentence:.1f} words a sentence, {per_word:.2f} syllables a word. "
        f"Source: {formula.source}.",
        value,
        fix="Use shorter words and sentences; begin with the sentences that are listed.",
        evidence=(Evidence(one.text, context.text.place(one)) for one in hardest),
    )


def _is_label(sentence: Sentence) -> bool:
    """Tell whether a sentence is no sentence: an entry of a list, without a verb most likely."""
    return len(sentence.words) < 4 and sentence.text[-1:] not in ".!?…"


def _syllables(context: Context, sentence: Sentence) -> int:
    return sum(map(context.pack.syllables.count, sentence.words)) if context.pack else 0


@check
def word_complexity(context: Context, rule: Rule) -> Verdict:
    """Are most words common and short?"""
    pack = context.pack
    if pack is None:
        return unsupported(context, "complex words")
    words = Counter(word for one in context.text.spoken for word in one.words if word.isalpha())
    total = words.total()
    if not total:
        return skipped(_NO_SENTENCES)
    own = set(context.keyphrase.words)
    hard = {
        word: number
        for word, number in words.items()
        if word not in own and pack.syllables.count(word) >= pack.complex_syllables
    }
    percent = 100 * sum(hard.values()) / total
    most = sorted(hard, key=lambda word: (-hard[word], word))[:20]
    return graded(
        at_most(percent, rule["good"], rule["good"]),
        f"{percent:.1f} % of the words have {pack.complex_syllables} syllables or more.",
        round(percent, 1),
        fix="Use plainer words where there are some.",
        evidence=[Evidence(", ".join(most), "complex words")] if most else [],
    )


@check
def text_alignment(context: Context, rule: Rule) -> Verdict:
    """Is text set left, where the eye finds the next line?"""
    kinds = {BlockKind.PARAGRAPH, BlockKind.QUOTE, BlockKind.LIST_ITEM}
    blocks = enumerate(context.document.blocks)
    centred = [(at, one) for at, one in blocks if one.centred and one.kind in kinds and len(one.text) > rule["longest"]]
    if not centred:
        return good("No long text is centred.", 0)
    return bad(
        f"{plural(len(centred), 'long block is', 'long blocks are')} centred.",
        len(centred),
        fix="Align long text at the start of the line.",
        evidence=[Evidence(one.text, context.text.block_place(at)) for at, one in centred[:5]],
    )
