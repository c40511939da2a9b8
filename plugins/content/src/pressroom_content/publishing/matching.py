"""Matching the passages of an article with those of its page, one to one, in order."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from pressroom_content.publishing.structure import Passage, Structure, main_part, words_of

_SIMILAR: Final = 0.6
_SHORT_WORDS: Final = 4
_SHORT: Final = 20
_EDGE: Final = 3
_COMMON: Final = 20
_MAX_SEARCHED: Final = 300_000_000
_SEARCH_COST: Final = 200


@dataclass(frozen=True, slots=True)
class PassageMatch:
    """The position of an article's passage on the page. `run` is `None` if it is spread over several passages."""

    run: int | None
    exact: bool = False
    missing: tuple[str, ...] = ()


class PassageMatches:
    """Matches the passages of an article, without table cells, with those of its page.

    `begin` and `end` delimit the main part of the page. Passages outside of it match only if they are of the same kind
    and not in a menu. `wanted` holds the passages of the article to look for, with their indices.
    """

    def __init__(self, article: Structure, page: Structure) -> None:
        self._article, self._page = article, page
        self.begin, self.end = main_part(page, [run.words for run in article.runs])
        self.wanted = [(number, run) for number, run in enumerate(article.runs) if run.words and run.kind != "cell"]
        self._groups: dict[str, list[int]] = defaultdict(list)
        for number, run in self.wanted:
            self._groups[run.words].append(number)
        self._exact: dict[str, list[int]] = defaultdict(list)
        self._edges: dict[str, list[int]] = defaultdict(list)
        self._by_word: dict[str, list[int]] = defaultdict(list)
        self._starts: list[int] = []
        self._numbers: list[int] = []
        self._text = self._index()
        self._searched = 0
        self._matched: set[int] = set()
        self._matches: dict[int, PassageMatch | None] = {}
        self._match_all()
        self._matched_runs = {match.run for match in self._matches.values() if match is not None}

    def __getitem__(self, number: int) -> PassageMatch | None:
        """Return the match of a passage of the article, by its index; `None` if it is not on the page."""
        return self._matches.get(number)

    def is_shown(self, number: int) -> bool:
        """Check whether a passage of the article is on the page, so that its contents can be compared."""
        return self._matches.get(number, PassageMatch(None)) is not None

    def is_inside(self, at: int, run: int = -1) -> bool:
        """Check whether an element of the page is part of the article: in the main part, or in a matched passage."""
        return self.begin <= at < self.end or run in self._matched_runs

    def is_on_page(self, text: str) -> bool:
        """Check whether a text is anywhere on the page."""
        words = words_of(text)
        return not words or words in self._exact or self.occurs(words, self._text)

    def occurs(self, words: str, text: str) -> bool:
        """Check whether a text contains these words. Beyond the search limit, they count as found."""
        self._searched += len(text)
        return self._searched > _MAX_SEARCHED or f" {words} " in text

    def moved(self) -> Iterator[tuple[int, int | None]]:
        """Yield the paragraphs and headings that moved, each with the one that precedes it in the article.

        Only passages that occur once are considered. The smallest possible number of them is reported as moved.
        """
        pairs: list[tuple[int, int]] = []
        for number, run in self.wanted:
            match = self._matches[number]
            if match is None or match.run is None or not match.exact or run.lists or run.quotes:
                continue
            unique = len(self._groups[run.words]) == len(self._exact[run.words]) == 1
            if unique and run.kind in ("paragraph", "heading") and self.is_inside(self._page.runs[match.run].at):
                pairs.append((number, match.run))
        in_order = set(_longest_increasing([run for _, run in pairs]))
        before: int | None = None
        for position, (number, _) in enumerate(pairs):
            if position not in in_order:
                yield number, before
            else:
                before = number

    def _index(self) -> str:
        """Index the passages of the page by their edges and words. Return its text."""
        parts, length = [" "], 1
        for number, run in enumerate(self._page.runs):
            if not run.words:
                continue
            self._exact[run.words].append(number)
            if not self.begin <= run.at < self.end:
                continue
            words = run.words.split(" ")
            if len(words) > 1:
                edges = {" ".join(part) for count in range(1, _EDGE + 1) for part in (words[:count], words[-count:])}
                for edge in edges - {run.words}:
                    if edge in self._groups:
                        self._edges[edge].append(number)
            for word in set(words):
                if len(self._by_word[word]) <= _COMMON:
                    self._by_word[word].append(number)
            self._starts.append(length)
            self._numbers.append(number)
            parts.append(f"{run.words} ")
            length += len(run.words) + 1
        return "".join(parts)

    def _match_all(self) -> None:
        cells = Counter(run.words for run in self._article.runs if run.kind == "cell" and run.words in self._groups)
        unmatched = {}
        for words, numbers in self._groups.items():
            candidates = list(self._without_cells(self._exact.get(words, ()), cells[words]))
            inside = [number for number in candidates if self.begin <= self._page.runs[number].at < self.end]
            remaining = self._take(numbers, inside, _position_of)
            remaining = self._take(remaining, inside, _kind_of)
            remaining = self._take(remaining, inside, lambda _: None)
            if remaining:
                remaining = self._take(
                    remaining, [number for number in candidates if not self._page.runs[number].in_menu], _kind_of
                )
            if remaining:
                unmatched[words] = remaining
        for words, numbers in unmatched.items():
            self._match_inexact(words, numbers)

    def _without_cells(self, numbers: Sequence[int], cells: int) -> Iterator[int]:
        """Yield passages of the page, omitting as many table cells as the article has itself."""
        for number in numbers:
            if cells and self._page.runs[number].kind == "cell":
                cells -= 1
            else:
                yield number

    def _take(self, numbers: Sequence[int], candidates: Sequence[int], key: Callable[[Passage], Hashable]) -> list[int]:
        """Match passages of the article with passages of the page that have the same key. Return the unmatched ones."""
        if not numbers:
            return []
        free: dict[Hashable, deque[int]] = defaultdict(deque)
        for number in candidates:
            if number not in self._matched:
                free[key(self._page.runs[number])].append(number)
        unmatched = []
        for number in numbers:
            if queue := free.get(key(self._article.runs[number])):
                self._matches[number] = PassageMatch(queue[0], exact=True)
                self._matched.add(queue.popleft())
            else:
                unmatched.append(number)
        return unmatched

    def _match_inexact(self, words: str, numbers: Sequence[int]) -> None:
        """Find equal passages of the article inside longer ones, spread over several ones, or slightly changed."""
        count = words.count(" ") + 1
        edges = (
            iter(())
            if count > _EDGE
            else (number for number in self._edges.get(words, ()) if number not in self._matched)
        )
        occurrences = self._occurrences(words) if count >= _SHORT_WORDS or len(words) >= _SHORT else iter(())
        similar = self._similar(words)
        for number in numbers:
            edge = next(edges, None)
            if edge is not None:
                self._matches[number] = PassageMatch(edge)
            else:
                self._matches[number] = next(occurrences, None) or next(similar, None)

    def _occurrences(self, words: str) -> Iterator[PassageMatch]:
        """Yield the occurrences of words in the text of the page, except in passages that are already matched."""
        at, phrase = 0, f" {words} "
        while self._searched <= _MAX_SEARCHED:
            begin, at = at, self._text.find(phrase, at)
            self._searched += _SEARCH_COST + (at if at >= 0 else len(self._text)) - begin
            if at < 0:
                return
            position = bisect_right(self._starts, at + 1) - 1
            number = self._numbers[position]
            page_words = self._page.runs[number].words
            complete = at + 1 + len(words) <= self._starts[position] + len(page_words)
            if not complete:
                yield PassageMatch(None)
            elif number not in self._matched and page_words != words:
                yield PassageMatch(number)
            at += len(words) + 1

    def _similar(self, text: str) -> Iterator[PassageMatch]:
        """Yield the passages of the page that share most of a text's words, the best match first."""
        words = Counter(text.split(" "))
        total = sum(words.values())
        if total < _EDGE:
            return
        votes: Counter[int] = Counter()
        for word in words:
            numbers = self._by_word.get(word, ())
            if len(numbers) <= _COMMON:
                votes.update(number for number in numbers if number not in self._matched)
        for number, _ in votes.most_common():
            missing = words - Counter(self._page.runs[number].words.split(" "))
            if sum(missing.values()) > (1 - _SIMILAR) * total:
                return
            yield PassageMatch(number, missing=tuple(missing))


def _position_of(run: Passage) -> Hashable:
    return run.kind, run.lists, run.quotes, run.box


def _kind_of(run: Passage) -> Hashable:
    return run.kind


def _longest_increasing(numbers: Sequence[int]) -> Iterator[int]:
    """Yield the positions of a longest increasing subsequence of distinct numbers, in reverse order."""
    ends: list[int] = []
    positions: list[int] = []
    predecessors: list[int] = []
    for position, number in enumerate(numbers):
        length = bisect_right(ends, number)
        predecessors.append(positions[length - 1] if length else -1)
        ends[length : length + 1], positions[length : length + 1] = [number], [position]
    position = positions[-1] if positions else -1
    while position >= 0:
        yield position
        position = predecessors[position]
