"""Readability checks: sentences, paragraphs and wording."""

from __future__ import annotations

from collections import Counter
from itertools import groupby

from pressroom_content.language import find_passive, find_transition

from pressroom_seo.document import BlockKind
from pressroom_seo.scoring.context import Context
from pressroom_seo.scoring.rules import (
    Evidence,
    Rule,
    Status,
    Verdict,
    at_least,
    at_most,
    bad,
    check,
    good,
    graded,
    plural,
    skipped,
    unsupported,
)
from pressroom_seo.scoring.text import Sentence

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
    long = sorted(
        (sentence for sentence in sentences if len(sentence.words) > rule["words"]),
        key=lambda sentence: -len(sentence.words),
    )
    percent = 100 * len(long) / len(sentences)
    return graded(
        at_most(percent, rule["good"], rule["ok"]),
        f"{len(long)} of {plural(len(sentences), 'sentence')} have more than {rule['words']} words: {percent:.1f} %.",
        round(percent, 1),
        fix="Split the longest sentences, at “and”, “which” or a semicolon.",
        evidence=(
            Evidence(sentence.text, f"{context.text.place(sentence)}: {len(sentence.words)} words") for sentence in long
        ),
    )


@check
def paragraph_length(context: Context, rule: Rule) -> Verdict:
    """Are paragraphs short?"""
    if context.text.unspaced:
        return skipped(_UNSPACED)
    kinds = {BlockKind.PARAGRAPH, BlockKind.QUOTE, BlockKind.LIST_ITEM}
    blocks = context.document.blocks
    sizes = [(words, index) for index, words in enumerate(context.text.block_words) if blocks[index].kind in kinds]
    if not sizes:
        return skipped("There are no paragraphs.")
    longest = max(sizes)[0]
    long_paragraphs = sorted((pair for pair in sizes if pair[0] > rule["good"]), reverse=True)
    return graded(
        at_most(longest, rule["good"], rule["ok"]),
        f"The longest paragraph has {plural(longest, 'word')}.",
        longest,
        fix="Split the longest paragraph where a new thought begins.",
        evidence=(
            Evidence(blocks[index].text, f"{context.text.block_position(index)}: {words} words")
            for words, index in long_paragraphs
        ),
    )


@check
def reading_ease(context: Context, rule: Rule) -> Verdict:
    """Is it easy to read, according to the formula for its language?"""
    del rule
    pack, sentences = context.pack, [sentence for sentence in context.text.spoken if not _is_label(sentence)]
    if pack is None:
        return unsupported(context, "reading ease")
    if not sentences:
        return skipped(_NO_SENTENCES)
    words = [word for sentence in sentences for word in sentence.words if not word.isdigit()]
    if not words:
        return skipped("There are no words to measure.")
    formula = pack.reading_ease
    syllables = sum(pack.syllables.count(word) * number for word, number in Counter(words).items())
    value = round(formula.value(len(words), len(sentences), syllables), 1)
    per_sentence, per_word = len(words) / len(sentences), syllables / len(words)
    status = at_least(value, formula.good, formula.ok)
    listed = [] if status is Status.GOOD else sentences
    hardest = sorted(
        listed, key=lambda sentence: formula.value(max(1, len(sentence.words)), 1, _syllables(context, sentence))
    )
    return graded(
        status,
        f"{formula.name} is {value:g}: {per_sentence:.1f} words a sentence, {per_word:.2f} syllables a word. "
        f"Source: {formula.source}.",
        value,
        fix="Use shorter words and sentences; begin with the sentences that are listed.",
        evidence=(Evidence(sentence.text, context.text.place(sentence)) for sentence in hardest),
    )


def _is_label(sentence: Sentence) -> bool:
    """Return whether a sentence is probably a label without a verb, such as a short list item."""
    return len(sentence.words) < 4 and sentence.text[-1:] not in ".!?…"


def _syllables(context: Context, sentence: Sentence) -> int:
    return sum(map(context.pack.syllables.count, sentence.words)) if context.pack else 0


@check
def word_complexity(context: Context, rule: Rule) -> Verdict:
    """Are most words common and short?"""
    pack = context.pack
    if pack is None:
        return unsupported(context, "complex words")
    words = Counter(word for sentence in context.text.spoken for word in sentence.words if word.isalpha())
    total = words.total()
    if not total:
        return skipped(_NO_SENTENCES)
    keyphrase_words = set(context.keyphrase.words)
    complex_words = {
        word: number
        for word, number in words.items()
        if word not in keyphrase_words and pack.syllables.count(word) >= pack.complex_syllables
    }
    percent = 100 * sum(complex_words.values()) / total
    most_frequent = sorted(complex_words, key=lambda word: (-complex_words[word], word))[:20]
    return graded(
        at_most(percent, rule["good"], rule["good"]),
        f"{percent:.1f} % of the words have {pack.complex_syllables} syllables or more.",
        round(percent, 1),
        fix="Use plainer words where they exist.",
        evidence=[Evidence(", ".join(most_frequent), "complex words")] if most_frequent else [],
    )


@check
def text_alignment(context: Context, rule: Rule) -> Verdict:
    """Is text left-aligned, so that it is easy to find the next line?"""
    kinds = {BlockKind.PARAGRAPH, BlockKind.QUOTE, BlockKind.LIST_ITEM}
    blocks = enumerate(context.document.blocks)
    centred = [
        (index, block)
        for index, block in blocks
        if block.centred and block.kind in kinds and len(block.text) > rule["longest"]
    ]
    if not centred:
        return good("No long text is centred.", 0)
    return bad(
        f"{plural(len(centred), 'long block is', 'long blocks are')} centred.",
        len(centred),
        fix="Align long text at the start of the line.",
        evidence=[Evidence(block.text, context.text.block_position(index)) for index, block in centred[:5]],
    )


@check
def passive_voice(context: Context, rule: Rule) -> Verdict:
    """Is most of it in the active voice?"""
    pack, sentences = context.pack, context.text.spoken
    if pack is None:
        return unsupported(context, "passives")
    if not sentences:
        return skipped(_NO_SENTENCES)
    passives = [
        (sentence, passive) for sentence in sentences if (passive := find_passive(sentence.text, sentence.words, pack))
    ]
    percent = 100 * len(passives) / len(sentences)
    return graded(
        at_most(percent, rule["good"], rule["ok"]),
        f"{len(passives)} of {plural(len(sentences), 'sentence')} are in the passive: {percent:.1f} %.",
        round(percent, 1),
        fix="Reword the passive: say who does it, and make them the subject.",
        evidence=(
            Evidence(sentence.text, f"{context.text.place(sentence)}: “{passive}”") for sentence, passive in passives
        ),
    )


@check
def transition_words(context: Context, rule: Rule) -> Verdict:
    """Do words such as “because” and “however” connect the sentences?"""
    pack, sentences = context.pack, context.text.running
    if pack is None:
        return unsupported(context, "transition words")
    if context.text.words < rule["from"]:
        return skipped(f"The text has under {rule['from']} words; in short texts their share says little.")
    if not sentences:
        return skipped(_NO_SENTENCES)
    number = sum(find_transition(sentence.text, sentence.words, pack) is not None for sentence in sentences)
    percent = 100 * number / len(sentences)
    status = at_least(percent, rule["good"], rule["ok"])
    listed = [] if status is Status.GOOD else context.text.prose
    return graded(
        status,
        f"{number} of {plural(len(sentences), 'sentence')}, headings and list items included, have a transition word: "
        f"{percent:.1f} %.",
        round(percent, 1),
        fix="Connect sentences with words such as because, however, for example, then.",
        evidence=(
            Evidence(sentence.text, context.text.place(sentence))
            for sentence in listed
            if not find_transition(sentence.text, sentence.words, pack)
        ),
    )


@check
def sentence_beginnings(context: Context, rule: Rule) -> Verdict:
    """Do sentences begin in different ways?"""
    pack, sentences = context.pack, context.text.prose
    if pack is None:
        return unsupported(context, "sentence beginnings")
    if not sentences:
        return skipped(_NO_SENTENCES)
    alike = [list(group) for _, group in groupby(sentences, key=lambda sentence: _beginning(sentence, pack.articles))]
    longest = max(alike, key=len)
    if len(longest) < rule["row"]:
        return good(f"At most {plural(len(longest), 'sentence')} in a row begin alike.", len(longest))
    rows = sum(len(row) >= rule["row"] for row in alike)
    beginning = " ".join(_beginning(longest[0], pack.articles)).capitalize()
    return bad(
        f"{len(longest)} sentences in a row begin with “{beginning}”" + (f"; {rows} such rows." if rows > 1 else "."),
        len(longest),
        fix="Begin one of the sentences that begin alike with something else, or join two.",
        evidence=(Evidence(sentence.text, context.text.place(sentence)) for sentence in longest),
    )


def _beginning(sentence: Sentence, articles: frozenset[str]) -> tuple[str, ...]:
    """Return the first word, or the first two if the first is an article."""
    return sentence.words[: 2 if sentence.words[0] in articles else 1]


@check
def inclusive_language(context: Context, rule: Rule) -> Verdict:
    """Does it use words that exclude people? Advice, only on request."""
    del rule
    if "inclusive_language" not in context.requested:
        return skipped("Off by default; list it in “checks” to run it.")
    pack = context.pack
    if pack is None or pack.inclusive is None:
        return unsupported(context, "inclusive language")
    matches = [
        (sentence, term) for sentence in context.text.sentences for term in pack.inclusive.find_all(sentence.words)
    ]
    if not matches:
        return good("None of the listed words is in the text.", 0)
    _, term = matches[0]
    return bad(
        f"{plural(len(matches), 'word')} may exclude people.",
        len(matches),
        fix=f"Instead of “{term}”, consider {pack.inclusive_instead[term]}.",
        evidence=(
            Evidence(sentence.text, f"{context.text.place(sentence)}: “{word}”, rather {pack.inclusive_instead[word]}")
            for sentence, word in matches
        ),
    )
