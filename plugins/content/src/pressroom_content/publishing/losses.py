"""Content of an article that its page does not show: one sentence per loss, with a short excerpt."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from pressroom_content.publishing import lost_objects as objects
from pressroom_content.publishing.lost_objects import Loss, excerpt
from pressroom_content.publishing.lost_text import lost_code, lost_links
from pressroom_content.publishing.matching import PassageMatches
from pressroom_content.publishing.structure import Passage, Structure, words_of
from pressroom_content.publishing.structure_reading import MAX_PAGE_RUNS, structure_of

MAX_LISTED: Final = 12
"""The maximum number of losses that are listed. The others are only counted."""

_MAX_PER_KIND: Final = 3
_FEW: Final = 0.3
_MIN_RUNS: Final = 4
_NAMES: Final = {
    "paragraph": "paragraph", "heading": "heading", "item": "list item", "term": "term", "definition": "definition",
    "cell": "cell", "summary": "heading of the collapsible section", "caption": "caption",
}  # fmt: skip
_MARKS: Final = {
    "em": "emphasis", "strong": "bold type", "del": "strikethrough", "ins": "underline", "kbd": "mark-up as a key",
    "mark": "highlight", "sub": "subscript", "sup": "superscript", "abbr": "mark-up as an abbreviation",
    "q": "mark-up as a quotation",
}  # fmt: skip


def read_losses(page: bytes, article: str, url: str) -> list[str]:
    """Return the content of an article (HTML) that a page (UTF-8) at a URL lost; see `losses`.

    Raises:
        InvalidInput: one of them is nested too deeply, or has too many tags.
    """
    return losses(structure_of(article, url), structure_of(page.decode("utf-8", "replace"), url, MAX_PAGE_RUNS))


def losses(article: Structure, page: Structure) -> list[str]:
    """Return the content that the page lost, one sentence each, in the article's order. At most a dozen are listed."""
    return loss_messages(all_losses(article, page))


def all_losses(article: Structure, page: Structure) -> list[Loss]:
    """Return all content of an article that is not on its page, in the article's order."""
    return sorted(_Comparison(article, page).losses(), key=lambda loss: loss.at)


def loss_messages(losses: Sequence[Loss]) -> list[str]:
    """Return the messages of losses: a few of each kind, and the number of the others."""
    messages: list[str] = []
    unlisted, of_kind = 0, Counter[str]()
    for loss in losses:
        of_kind[loss.kind] += 1
        if of_kind[loss.kind] > _MAX_PER_KIND or len(messages) >= MAX_LISTED:
            unlisted += 1
        else:
            messages.append(loss.message)
    return [*messages, f"… and {unlisted} more such losses on the page"] if unlisted else messages


class _Comparison:
    """Compares an article with its page."""

    def __init__(self, article: Structure, page: Structure) -> None:
        self._article, self._page = article, page
        self._matches = PassageMatches(article, page)

    def losses(self) -> Iterator[Loss]:
        """Yield the losses, in no particular order."""
        matches = self._matches
        passages = matches.wanted
        shown = sum(matches[number] is not None for number, _ in passages)
        if len(passages) >= _MIN_RUNS and shown < len(passages) * _FEW:
            yield Loss(
                -1,
                "page",
                f"the page shows {shown} of the {len(passages)} passages of the article: it may be an older version "
                "from a cache, show an excerpt only, or be put together in the browser",
            )
            return
        yield from self._texts(passages)
        yield from self._levels(passages)
        yield from self._marks()
        yield from self._order()
        yield from lost_links(self._article, self._page, matches)
        yield from objects.lost_images(self._article, self._page, matches.begin, matches.end)
        yield from objects.lost_tables(self._article, self._page, matches.is_on_page)
        yield from lost_code(self._article, self._page, matches.is_on_page)
        yield from objects.lost_notes(self._article, self._page, matches.is_shown)
        yield from objects.lost_frames(self._article, self._page)
        yield from self._rules()
        yield from self._numbering()

    def _texts(self, passages: Iterable[tuple[int, Passage]]) -> Iterator[Loss]:
        for number, run in passages:
            match, name = self._matches[number], f"{_NAMES[run.kind]} {excerpt(run.text)}"
            if match is None:
                yield Loss(run.at, "text", f"the {name} is not shown")
                continue
            if match.missing:
                lacks = ", ".join(match.missing)[:80]
                yield Loss(run.at, "text", f"the {name} is not shown as written: the page lacks {lacks}")
            if match.run is None:
                continue
            yield from self._match_losses(run, self._page.runs[match.run], name, exact=match.exact)

    def _match_losses(self, run: Passage, page_run: Passage, name: str, *, exact: bool) -> Iterator[Loss]:
        if run.kind == "heading" and page_run.kind != "heading":
            yield Loss(run.at, "heading", f"the {name} is not shown as a heading")
        if run.lists and run.kind == "item":
            yield from _in_list(run, page_run, name)
        if page_run.quotes < run.quotes:
            form = "as a quote" if not page_run.quotes else "as a quote inside another"
            yield Loss(run.at, "quote", f"{excerpt(run.text)} is not shown {form}")
        yield from _of_block(run, page_run, name)
        if exact and page_run.breaks > run.breaks:
            yield Loss(run.at, "break", f"a line break was put into the {name}")
        elif exact and page_run.breaks < run.breaks:
            yield Loss(run.at, "break", f"a line break of the {name} is lost")

    def _order(self) -> Iterator[Loss]:
        for number, before in self._matches.moved():
            run = self._article.runs[number]
            position = "before all others" if before is None else f"after {excerpt(self._article.runs[before].text)}"
            name = f"{_NAMES[run.kind]} {excerpt(run.text)}"
            yield Loss(run.at, "order", f"the {name} is shown in another place; in the article it is {position}")

    def _levels(self, passages: Iterable[tuple[int, Passage]]) -> Iterator[Loss]:
        """Yield headings whose level deviates from the usual shift: themes may move all levels."""
        headings = []
        for number, run in passages:
            match = self._matches[number]
            if run.kind == "heading" and match is not None and match.run is not None:
                page_run = self._page.runs[match.run]
                if page_run.kind == "heading":
                    headings.append((run, page_run.level))
        if not headings:
            return
        usual, _ = Counter(level - run.level for run, level in headings).most_common(1)[0]
        for run, level in headings:
            if level - run.level != usual:
                yield Loss(
                    run.at,
                    "heading",
                    f"the heading {excerpt(run.text)} is shown at level {level} instead of {run.level + usual}",
                )

    def _marks(self) -> Iterator[Loss]:
        """Yield the words that lost their formatting."""
        by_kind: dict[str, list[str]] = defaultdict(list)
        for mark in self._page.marks:
            by_kind[mark.kind].append(mark.text if mark.kind == "code" else words_of(mark.text))
        texts = {kind: f" {' '.join(' '.join(parts).split())} " for kind, parts in by_kind.items()}
        known = {(kind, part) for kind, parts in by_kind.items() for part in parts}
        for mark in self._article.marks:
            text = mark.text if mark.kind == "code" else words_of(mark.text)
            if not text or (mark.kind, text) in known or not self._matches.is_shown(mark.run):
                continue
            if self._matches.occurs(text, texts.get(mark.kind, "")):
                continue
            if mark.kind == "code":
                yield Loss(mark.at, "mark", f"the code {excerpt(mark.text)} is not shown as written")
            else:
                yield Loss(mark.at, "mark", f"{excerpt(mark.text)} lost its {_MARKS[mark.kind]}")

    def _rules(self) -> Iterator[Loss]:
        shown_count = sum(self._matches.is_inside(at) for at in self._page.rules)
        for at in self._article.rules[shown_count:]:
            yield Loss(at, "rule", "a horizontal rule is not shown")

    def _numbering(self) -> Iterator[Loss]:
        starts = {numbered_list.run: numbered_list.start for numbered_list in self._page.numbered}
        for numbered_list in self._article.numbered:
            match = self._matches[numbered_list.run]
            if numbered_list.start == 1 or match is None or match.run is None:
                continue
            shown_start, run = starts.get(match.run), self._article.runs[numbered_list.run]
            if shown_start is not None and shown_start != numbered_list.start:
                yield Loss(
                    numbered_list.at,
                    "numbering",
                    f"the numbered list {excerpt(run.text)} begins at {shown_start} instead of {numbered_list.start}",
                )


def _in_list(run: Passage, page_run: Passage, name: str) -> Iterator[Loss]:
    if not page_run.lists:
        yield Loss(run.at, "list", f"the {name} is not shown in a list")
    elif len(page_run.lists) < len(run.lists):
        yield Loss(run.at, "list", f"the {name} is not nested as written")
    elif page_run.lists[-1] != run.lists[-1]:
        kind = "with a number" if page_run.lists[-1] == "ol" else "with a bullet"
        yield Loss(run.at, "list", f"the {name} is shown {kind}")


def _of_block(run: Passage, page_run: Passage, name: str) -> Iterator[Loss]:
    if run.kind in ("term", "definition") and page_run.kind != run.kind:
        yield Loss(run.at, "definition", f"the {name} is not shown as part of a list of definitions")
    if run.kind == "summary" and page_run.kind != "summary":
        yield Loss(run.at, "details", f"the section {excerpt(run.text)} cannot be collapsed")
    if run.direction == "rtl" and page_run.direction not in ("rtl", "auto"):
        yield Loss(run.at, "direction", f"the {name} lost its direction, from right to left")
    if run.language and run.language.partition("-")[0] != page_run.language.partition("-")[0]:
        yield Loss(run.at, "language", f"the {name} lost the mark of its language ({run.language})")
    if run.box is not None and page_run.box is None:
        yield Loss(run.at, "task", f"the {name} lost the box of its task")
    elif run.box is not None and page_run.box != run.box:
        yield Loss(run.at, "task", f"the box of the task {excerpt(run.text)} is {'not ' if run.box else ''}ticked")
