"""Checks of how sentences are worded: passives, transitions, beginnings, words that exclude."""

from __future__ import annotations

from itertools import groupby

from pressroom_content.language import find_passive

from pressroom_seo.scoring.checks.registry import check, unsupported
from pressroom_seo.scoring.context import Context
from pressroom_seo.scoring.report import Evidence, Status
from pressroom_seo.scoring.rules import Rule
from pressroom_seo.scoring.text import Sentence
from pressroom_seo.scoring.verdict import Verdict, at_least, at_most, bad, good, graded, plural, skipped

_NO_SENTENCES = "There are no sentences."


@check
def passive_voice(context: Context, rule: Rule) -> Verdict:
    """Is most of it in the active voice?"""
    pack, sentences = context.pack, context.text.spoken
    if pack is None:
        return unsupported(context, "passives")
    if not sentences:
        return skipped(_NO_SENTENCES)
    found = [(one, passive) for one in sentences if (passive := find_passive(one.text, one.words, pack))]
    percent = 100 * len(found) / len(sentences)
    return graded(
        at_most(percent, rule["good"], rule["ok"]),
        f"{len(found)} of {plural(len(sentences), 'sentence')} are in the passive: {percent:.1f} %.",
        round(percent, 1),
        fix="Say who does it, and make them the subject.",
        evidence=(Evidence(one.text, f"{context.text.place(one)}: “{passive}”") for one, passive in found),
    )


@check
def transition_words(context: Context, rule: Rule) -> Verdict:
    """Do words such as “because” and “however” tie the sentences together?"""
    pack, sentences = context.pack, context.text.prose
    if pack is None:
        return unsupported(context, "transition words")
    if context.text.words < rule["from"]:
        return skipped(f"The text has under {rule['from']} words; in short texts their share says little.")
    if not sentences:
        return skipped(_NO_SENTENCES)
    without = [one for one in sentences if pack.transitions.find(one.words) is None]
    percent = 100 * (len(sentences) - len(without)) / len(sentences)
    status = at_least(percent, rule["good"], rule["ok"])
    shown = [] if status is Status.GOOD else without
    return graded(
        status,
        f"{len(sentences) - len(without)} of {plural(len(sentences), 'sentence')} have a transition word: "
        f"{percent:.1f} %.",
        round(percent, 1),
        fix="Say how sentences hang together, such as with because, however, for example, then.",
        evidence=(Evidence(one.text, context.text.place(one)) for one in shown),
    )


@check
def sentence_beginnings(context: Context, rule: Rule) -> Verdict:
    """Do sentences begin in different ways?"""
    pack, sentences = context.pack, context.text.prose
    if pack is None:
        return unsupported(context, "sentence beginnings")
    if not sentences:
        return skipped(_NO_SENTENCES)
    alike = [list(group) for _, group in groupby(sentences, key=lambda one: _beginning(one, pack.articles))]
    longest = max(alike, key=len)
    if len(longest) < rule["row"]:
        return good(f"At most {plural(len(longest), 'sentence')} in a row begin alike.", len(longest))
    rows = sum(len(row) >= rule["row"] for row in alike)
    beginning = " ".join(_beginning(longest[0], pack.articles)).capitalize()
    return bad(
        f"{len(longest)} sentences in a row begin with “{beginning}”" + (f"; {rows} such rows." if rows > 1 else "."),
        len(longest),
        fix="Begin one of them with something else, or join two.",
        evidence=(Evidence(one.text, context.text.place(one)) for one in longest),
    )


def _beginning(sentence: Sentence, articles: frozenset[str]) -> tuple[str, ...]:
    """Return the first word, or the first two where the first is an article."""
    return sentence.words[: 2 if sentence.words[0] in articles else 1]


@check
def inclusive_language(context: Context, rule: Rule) -> Verdict:
    """Do its words leave anybody out? Advice, and only when asked for."""
    del rule
    if "inclusive_language" not in context.asked:
        return skipped("Off by default; name it in “checks” to have it.")
    pack = context.pack
    if pack is None or pack.inclusive is None:
        return unsupported(context, "inclusive language")
    found = [(one, term) for one in context.text.sentences for term in pack.inclusive.find_all(one.words)]
    if not found:
        return good("None of the listed words is in the text.", 0)
    one, term = found[0]
    del one
    return bad(
        f"{plural(len(found), 'word')} may exclude people.",
        len(found),
        fix=f"Instead of “{term}”, consider {pack.inclusive_instead[term]}.",
        evidence=(
            Evidence(sentence.text, f"{context.text.place(sentence)}: “{word}”, rather {pack.inclusive_instead[word]}")
            for sentence, word in found
        ),
    )
