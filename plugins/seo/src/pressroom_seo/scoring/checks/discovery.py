"""Checks of whether answer engines can find the article and its answers."""

from __future__ import annotations

import re
from itertools import islice, takewhile

from pressroom_seo.document import Block, BlockKind, clean_text, document_from_markdown
from pressroom_seo.scoring.context import Context
from pressroom_seo.scoring.rules import (
    Evidence,
    Rule,
    Status,
    Verdict,
    at_least,
    bad,
    check,
    good,
    graded,
    plural,
    skipped,
)
from pressroom_seo.urls import split_url


@check
def markdown_twin(context: Context, rule: Rule) -> Verdict:
    """Is the article also available as Markdown?"""
    twin = context.world.markdown_twin
    if twin is None:
        return skipped("It is not known whether the article is available as Markdown.")
    if not twin.strip():
        return bad(
            "There is no Markdown version at the article's URL with .md.", 0, fix="Publish the article as Markdown."
        )
    article_words = set(context.words_of(context.document.prose))
    twin_words = set(context.words_of(document_from_markdown(clean_text(twin)).prose))
    percent = round(100 * len(article_words & twin_words) / len(article_words)) if article_words else 100
    return graded(
        Status.GOOD if percent >= rule["good"] else Status.BAD,
        f"The Markdown has {percent} % of the article's words.",
        percent,
        fix="Publish the Markdown again: it differs from the current article.",
    )


@check
def llms_entry(context: Context, rule: Rule) -> Verdict:
    """Is the article in the site's index for language models?"""
    listed = context.world.listed
    if listed is not None:
        fix = "Publish the article; only the newest ones are listed."
        message = f"The article is {'' if listed else 'not '}listed in this server's /llms.txt."
        return graded(Status.GOOD if listed else Status.BAD, message, listed, fix=fix)
    text = context.world.llms_txt
    if text is None:
        return skipped("The site's /llms.txt is not known.")
    fault = _llms_fault(clean_text(text), rule)
    if fault:
        return bad(fault, False, fix="Publish /llms.txt with an H1 and links to the articles.")
    article_url = split_url(context.article.url)
    if article_url is None or not article_url.netloc:
        return skipped("The article's URL is not known.")
    links = re.findall(r"\]\(\s*<?([^)\s>]{1,2000})", clean_text(text))
    if any(_leads_to(link, article_url.netloc, article_url.path) for link in links):
        return good("The article is listed in /llms.txt.", True)
    return bad("The article is not listed in /llms.txt.", False, fix="Add a link to it under its section.")


def _llms_fault(text: str, rule: Rule) -> str:
    if len(text.strip()) < rule["shortest"]:
        return f"/llms.txt has under {rule['shortest']} characters." if text.strip() else "There is no /llms.txt."
    if not re.search(r"^# \S", text, re.MULTILINE):
        return "/llms.txt has no H1."
    return "" if "](" in text else "/llms.txt has no links."


def _leads_to(link: str, host: str, path: str) -> bool:
    parts = split_url(link)
    if parts is None or (parts.netloc and parts.netloc.lower() != host.lower()):
        return False
    stem = path.rstrip("/")
    return parts.path.rstrip("/") in {stem, f"{stem}.md", f"{stem}/index.md"}


@check
def answer_first(context: Context, rule: Rule) -> Verdict:
    """Is each question in a heading followed by a short answer?"""
    blocks = context.document.blocks
    questions = [(index, block) for index, block in enumerate(blocks) if _is_question(context, block)]
    if not questions:
        return skipped("No heading asks a question.")
    faulty = [(block, problem) for index, block in questions if (problem := _answer_fault(context, index, rule))]
    answered = len(questions) - len(faulty)
    message = f"{answered} of {plural(len(questions), 'question')} in headings are answered at once."
    if not faulty:
        return good(message, answered)
    return bad(
        message,
        answered,
        fix=f"Answer each question in the first {rule['sentences']} sentences, in up to {rule['words']} words.",
        evidence=[Evidence(block.text, problem) for block, problem in faulty],
    )


def _is_question(context: Context, block: Block) -> bool:
    if block.kind is not BlockKind.HEADING or block.level == 1:
        return False
    if context.is_question(block.text):
        return True
    words = context.words_of(block.text)
    pack = context.pack
    # “How to” headings introduce steps, so without a question mark only direct questions count.
    return pack is not None and len(words) > 3 and words[0] in pack.question_words and words[1] in _VERBS


_VERBS = frozenset(
    [
        "is",
        "are",
        "do",
        "does",
        "did",
        "can",
        "should",
        "will",
        "was",
        "were",
        "would",
        "ist",
        "sind",
        "kann",
        "est",
        "sont",
        "es",
        "son",
        "è",
        "sono",
        "é",
        "são",
    ]
)


def _answer_fault(context: Context, index: int, rule: Rule) -> str:
    blocks, starts = context.document.blocks, context.text.first_of_block
    under = range(index + 1, len(blocks))
    next_index = next((number for number in under if blocks[number].kind is not BlockKind.CODE), None)
    if next_index is None or blocks[next_index].kind is BlockKind.HEADING:
        return "no text follows"
    begin = starts.get(next_index)
    if begin is None:
        return "no sentence follows"
    after = islice(context.text.sentences, begin, begin + int(rule["sentences"]))
    first = list(takewhile(lambda sentence: blocks[sentence.block].kind is not BlockKind.HEADING, after))
    if context.is_question(first[0].text):
        return "another question follows"
    words = sum(len(sentence.words) for sentence in first)
    return f"the first sentences have {words} words" if words > rule["words"] else ""


@check
def secondary_phrases(context: Context, rule: Rule) -> Verdict:
    """Do the secondary phrases appear?"""
    phrases = [phrase for phrase in map(context.phrase, context.article.secondary_phrases[:20]) if phrase]
    if not phrases:
        return skipped("No secondary phrases were given.")
    sentences = [*(sentence.words for sentence in context.text.sentences), tuple(context.words_of(context.title))]
    missing = [phrase for phrase in phrases if not any(phrase.share(words) == 1 for words in sentences)]
    present = len(phrases) - len(missing)
    percent = 100 * present / len(phrases)
    return graded(
        at_least(percent, rule["good"], 1e-9),
        f"{present} of {plural(len(phrases), 'secondary phrase')} appear.",
        present,
        fix=f"Work in {', '.join(f'“{phrase.text}”' for phrase in missing[:5])}.",
        evidence=[Evidence(phrase.text, "missing") for phrase in missing],
    )
