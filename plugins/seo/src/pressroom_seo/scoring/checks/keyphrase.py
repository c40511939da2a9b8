"""Checks of the keyphrase itself, and of how it runs through the text."""

from __future__ import annotations

from pressroom_seo.scoring.checks.registry import NO_KEYPHRASE, check, keyphrase_check, unsupported
from pressroom_seo.scoring.context import Context
from pressroom_seo.scoring.report import Evidence, Status
from pressroom_seo.scoring.rules import Rule
from pressroom_seo.scoring.text import Sentence
from pressroom_seo.scoring.verdict import Verdict, at_most, bad, good, graded, ok, plural, skipped


@check
def keyphrase_set(context: Context, rule: Rule) -> Verdict:
    """Is there a keyphrase?"""
    del rule
    return good(f"The keyphrase is “{context.keyphrase.text}”.") if context.keyphrase else skipped(NO_KEYPHRASE)


@keyphrase_check
def keyphrase_length(context: Context, rule: Rule) -> Verdict:
    """Has it a length that people search for?"""
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
    """Has it any word that carries meaning?"""
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
    message = f"The keyphrase is used {plural(number, 'time')} in {plural(words, 'word')}: {percent:g} %."
    if _is_right(context, rule, number):
        return good(message, percent, _evidence(context))
    few = number == 0 or (words >= rule["short"] and context.density < rule["low"])
    return bad(message, percent, fix=_density_fix(words, number, rule, few=few), evidence=_evidence(context))


def is_stuffed(context: Context, rule: Rule, limit: float) -> bool:
    """Tell whether the density is over the limit of the gate. One use in a very short text is none too many."""
    number = sum(uses for _, uses, _ in context.uses)
    return bool(context.keyphrase) and context.density > limit and not _is_right(context, rule, number)


def _is_right(context: Context, rule: Rule, number: int) -> bool:
    words = context.text.words
    if words < rule["very_short"]:
        return number == 1
    if words < rule["short"]:
        return 1 <= number <= 2
    exact = 100 * sum(uses for _, _, uses in context.uses) / words
    return rule["low"] <= context.density <= rule["high_inflected"] and exact <= rule["high"]


def _density_fix(words: int, number: int, rule: Rule, *, few: bool) -> str:
    if words < rule["short"]:
        most = 1 if words < rule["very_short"] else 2
        wanted = "once" if most == 1 else "once or twice"
        return f"A text this short needs it {wanted}: {'add it' if few else 'take it out elsewhere'}."
    if few:
        least = _whole(rule["low"] * words / 100, up=True)
        return f"Use it {plural(least - number, 'more time')}, where it reads well: {least} in all."
    most = _whole(rule["high"] * words / 100, up=False)
    return f"Take it out or reword it in {plural(max(1, number - most), 'place')}: at most {most} in all."


def _whole(number: float, *, up: bool) -> int:
    whole = int(number)
    return whole + 1 if up and whole < number else whole


def _evidence(context: Context) -> list[Evidence]:
    return [Evidence(sentence.text, context.text.place(sentence)) for sentence, _, _ in context.uses[:5]]


@keyphrase_check
def keyphrase_distribution(context: Context, rule: Rule) -> Verdict:
    """Does it run through the whole text?"""
    text = context.text
    about = [one for one in text.sentences if _is_about(context, one)]
    if not about or not text.words:
        return bad(
            "The keyphrase and its synonyms are nowhere in the text.",
            100,
            fix="Use the keyphrase in the first paragraph, in a subheading and in the text below.",
        )
    length, start, end = _longest_gap(about, text.words)
    percent = round(100 * length / text.words, 1)
    first, last = _sentence_at(text.sentences, start), _sentence_at(text.sentences, end - 1)
    return graded(
        at_most(100 * length / text.words, rule["good"], rule["ok"]),
        f"The longest stretch without the keyphrase is {percent:g} % of the text ({plural(length, 'word')}).",
        percent,
        fix=f"Use the keyphrase or a synonym between {text.place(first)} and {text.place(last)}.",
        evidence=[Evidence(first.text, f"from {text.place(first)}"), Evidence(last.text, f"to {text.place(last)}")],
    )


def _is_about(context: Context, sentence: Sentence) -> bool:
    return context.keyphrase.mentioned(sentence.words) or any(one.mentioned(sentence.words) for one in context.synonyms)


def _longest_gap(about: list[Sentence], words: int) -> tuple[int, int, int]:
    ends = [0, *(one.offset + len(one.words) for one in about)]
    starts = [*(one.offset for one in about), words]
    return max(((start - end, end, start) for end, start in zip(ends, starts, strict=True)), key=lambda gap: gap[0])


def _sentence_at(sentences: list[Sentence], word: int) -> Sentence:
    at = max(0, word)
    return next((one for one in reversed(sentences) if one.offset <= at and one.words), sentences[0])


@keyphrase_check
def keyphrase_unique(context: Context, rule: Rule) -> Verdict:
    """Does another article of the site compete for it?"""
    others = context.world.others
    if others is None:
        return skipped("The site's other articles are not known.")
    same = [one for one in others if one.keyphrase and context.keyphrase.same_as(one.keyphrase)]
    status = at_most(len(same), rule["good"], rule["ok"])
    if status is Status.GOOD:
        return good("No other article of the site has this keyphrase.", 0)
    evidence = [Evidence(one.title or one.keyphrase, one.url) for one in same]
    message = f"{plural(len(same), 'other article has', 'other articles have')} this keyphrase."
    fix = "Choose a more special keyphrase, or merge the articles and redirect."
    verdict = ok if status is Status.OK else bad
    return verdict(message, len(same), fix=fix, evidence=evidence)
