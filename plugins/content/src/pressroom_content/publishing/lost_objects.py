"""Images, tables, footnotes and embedded pages of an article that its page does not show."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice
from typing import Final
from urllib.parse import parse_qsl, unquote, urlsplit

from pressroom_content.publishing.structure import ShownImage, Structure, Table, TableCell, words_of

_STEM: Final = re.compile(r"(?:-\d{2,5}x\d{2,5}|-scaled|-rotated|@\d+x)$")
_MIN_STEM: Final = 4
_HALF: Final = 0.5
_MAX_SOURCES: Final = 2_000_000
_MAX_SEARCHED: Final = 300_000_000
_MAX_STEMS: Final = 100
_MAX_WORDS: Final = 5_000
_SOURCE: Final = re.compile(r"[\s,]")


@dataclass(frozen=True, slots=True)
class Loss:
    """Content that is not on a page as it was written. `at` is its position in the article."""

    at: int
    kind: str
    message: str


def excerpt(text: str, longest: int = 60) -> str:
    """Return the beginning of a text in quotation marks."""
    plain = " ".join(text.split())
    return f'"{plain}"' if len(plain) <= longest else f'"{plain[:longest].rstrip()}…"'


def is_part(words: str, others: str) -> bool:
    """Check whether either text contains the other. Very long texts are not compared and count as contained."""
    if max(len(words), len(others)) > _MAX_WORDS:
        return True
    return f" {words} " in f" {others} " or (bool(others) and f" {others} " in f" {words} ")


def lost_images(article: Structure, page: Structure, begin: int, end: int) -> Iterator[Loss]:
    """Yield images missing from the page, or without their alternative text. `begin` and `end` delimit its main part.

    Platforms rename, resize and move images. A missing image is not reported if an unrelated one can stand in for it.
    """
    there = _ImagesOfPage(page, {stem for image in article.images if len(stem := _stem(image)) >= _MIN_STEM})
    waiting: list[ShownImage] = []
    named: list[tuple[ShownImage, Sequence[int]]] = []
    for image in article.images:
        if same := there.of_stem(_stem(image)):
            named.append((image, same))
        elif not image.alt or words_of(image.alt) not in there.by_alt:
            waiting.append(image)
    free = {words for words, numbers in there.by_alt.items() if not there.claimed.issuperset(numbers)}
    for image, same in named:
        if words_of(image.alt) not in free:
            yield from _lost_alt(image, [page.images[number] for number in same])
    wanted = {words_of(image.alt) for image in article.images if image.alt}
    others = [
        image
        for number, image in enumerate(page.images)
        if begin <= image.at < end and words_of(image.alt) not in wanted and not there.is_known(number)
    ] if waiting else []  # fmt: skip
    for number, image in enumerate(waiting):
        if number < len(others):
            yield from _lost_alt(image, [others[number]], renamed=True)
        else:
            name = excerpt(image.alt or (image.sources[0].rpartition("/")[2] if image.sources else "without a name"))
            yield Loss(image.at, "image", f"the image {name} is not shown")


class _ImagesOfPage:
    """The images of a page, looked up by file name or alternative text. Values are indices.

    `claimed` holds the indices of images that match one of the article.
    """

    def __init__(self, page: Structure, stems: Collection[str]) -> None:
        self._stems = stems
        self._sources = [unquote(" ".join(image.sources)).lower() for image in page.images]
        self._whole = "\n".join(self._sources)[:_MAX_SOURCES]
        self._starts = [0, *accumulate(len(text) + 1 for text in self._sources)]
        self._searched = 0
        self._by_stem: dict[str, list[int]] = defaultdict(list)
        self.by_alt: dict[str, list[int]] = defaultdict(list)
        self.claimed: set[int] = set()
        for number, image in enumerate(page.images):
            if image.alt:
                self.by_alt[words_of(image.alt)].append(number)
            for stem in {_stem_of(source) for one in image.sources for source in _SOURCE.split(one)}:
                if stem in stems:
                    self._by_stem[stem].append(number)
                    self.claimed.add(number)

    def of_stem(self, stem: str) -> Sequence[int]:
        """Return the images with this file name, or else the first one whose URLs contain it."""
        if len(stem) < _MIN_STEM:
            return ()
        if stem not in self._by_stem:
            self._searched += len(self._whole)
            at = self._whole.find(stem) if self._searched <= _MAX_SEARCHED else -1
            self._by_stem[stem] = [bisect_right(self._starts, at) - 1] if at >= 0 else []
            self.claimed.update(self._by_stem[stem])
        return self._by_stem[stem]

    def is_known(self, number: int) -> bool:
        """Check whether the URLs of an image contain the file name of one of the article's images."""
        few = len(self._stems) <= _MAX_STEMS
        return number in self.claimed or (few and any(stem in self._sources[number] for stem in self._stems))


def _lost_alt(image: ShownImage, there: Sequence[ShownImage], *, renamed: bool = False) -> Iterator[Loss]:
    """Yield the loss of an image's alternative text. A `renamed` image may be a different one."""
    alt = words_of(image.alt)
    if not image.alt.strip():
        return
    shown = [one.alt for one in there[:_MAX_STEMS] if one.alt.strip()]
    if not shown:
        yield Loss(image.at, "alt", f"the image {excerpt(image.alt)} lost its alternative text")
    elif alt and not renamed and len(there) <= _MAX_STEMS:
        words = [words_of(one) for one in shown]
        if not any(is_part(alt, one) or (one and alt.startswith(one)) for one in words):
            name = excerpt(image.alt)
            yield Loss(image.at, "alt", f"the image {name} has the alternative text {excerpt(shown[0])} instead")


def _stem(image: ShownImage) -> str:
    return _stem_of(image.sources[0]) if image.sources else ""


def _stem_of(source: str) -> str:
    """Return the file name of an image without the suffixes that platforms append."""
    try:
        path = unquote(urlsplit(source).path)
    except ValueError:
        return ""
    name = path.rpartition("/")[2].rpartition(".")[0] or path.rpartition("/")[2]
    return _STEM.sub("", name).lower()


def lost_tables(article: Structure, page: Structure, is_on_page: Callable[[str], bool]) -> Iterator[Loss]:
    """Yield tables missing from the page, and lost parts of the others. `is_on_page` looks up a text."""
    by_words: dict[str, deque[int]] = defaultdict(deque)
    for number, table in enumerate(page.tables):
        for words in {cell.words for row in table.rows for cell in row if cell.words}:
            by_words[words].append(number)
    taken: set[int] = set()
    for table in article.tables:
        cells = [cell for row in table.rows for cell in row]
        votes: Counter[int] = Counter()
        for words in {cell.words for cell in cells if cell.words}:
            numbers = by_words.get(words, deque())
            while numbers and numbers[0] in taken:
                numbers.popleft()
            votes.update(number for number in islice(numbers, _MAX_TABLES) if number not in taken)
        number, count = min(votes.items(), key=lambda vote: (-vote[1], vote[0])) if votes else (-1, 0)
        name = f"the table {excerpt(_name(table))}"
        filled = {cell.words for cell in cells if cell.words}
        if not filled:
            continue
        if count < len(filled) * _HALF:
            first = next(cell.text for cell in cells if cell.words)
            as_text = is_on_page(first)
            yield Loss(table.at, "table", f"{name} is not shown{' as a table' if as_text else ''}")
            continue
        taken.add(number)
        yield from _of_table(table, page.tables[number], name)


def _of_table(table: Table, there: Table, name: str) -> Iterator[Loss]:
    cells = [cell for row in table.rows for cell in row if cell.words]
    others = [cell for row in there.rows for cell in row if cell.words]
    words = {cell.words for cell in others}
    lost = _lost_cells(cells, others)
    if lost:
        more = f" and {len(lost) - 1} more" if len(lost) > 1 else ""
        yield Loss(table.at, "cell", f"{name} lacks the cell {excerpt(lost[0].text)}{more}")
    moved = _moved_cells(table, there)
    if moved:
        more = f" and {len(moved) - 1} more" if len(moved) > 1 else ""
        yield Loss(table.at, "cell", f"{name} shows the cell {excerpt(moved[0].text)}{more} in another place")
    if any(cell.header for cell in cells) and not any(cell.header for cell in others):
        yield Loss(table.at, "table", f"{name} lost its header")
    wanted = {(cell.words, cell.align) for cell in cells if cell.align in ("right", "center")}
    shown = {(cell.words, cell.align) for cell in others}
    if any((text, align) not in shown for text, align in wanted if text in words):
        yield Loss(table.at, "table", f"{name} lost the alignment of its columns")


def _lost_cells(cells: Sequence[TableCell], others: Sequence[TableCell]) -> list[TableCell]:
    """Return the cells that are missing or occur less often than in the article: of equal ones, the last."""
    free = Counter(cell.words for cell in others)
    left = []
    for cell in cells:
        if free[cell.words]:
            free[cell.words] -= 1
        else:
            left.append(cell)
    joined = f" {' '.join(free.elements())} "
    return [cell for cell in left[:_MAX_CELLS] if f" {cell.words} " not in joined]


def _moved_cells(table: Table, there: Table) -> list[TableCell]:
    """Return the cells that moved to another row or column; empty if the tables do not have the same cells and rows.

    Columns may be inserted before all others, such as row numbers, and merged cells may be split.
    """
    rows, others = ([row for row in one.rows if any(cell.words for cell in row)] for one in (table, there))
    if len(rows) != len(others):
        return []
    mine, theirs = (
        [[(column, cell) for column, cell in enumerate(row) if cell.words] for row in one] for one in (rows, others)
    )
    if Counter(cell.words for row in mine for _, cell in row) != Counter(
        cell.words for row in theirs for _, cell in row
    ):
        return []
    shifts = Counter(
        other - column
        for row, shown in zip(mine, theirs, strict=True)
        for (column, _), (other, _) in zip(row, shown, strict=False)
    )
    usual = min(shifts.items(), key=lambda shift: (-shift[1], abs(shift[0])))[0]
    moved = []
    for row, shown in zip(mine, theirs, strict=True):
        for position, (column, cell) in enumerate(row):
            other, one = shown[position] if position < len(shown) else (-1, None)
            in_column = table.merged or there.merged or other == column + usual
            if one is None or one.words != cell.words or not in_column:
                moved.append(cell)
    return moved


def _name(table: Table) -> str:
    first = table.rows[0] if table.rows else []
    return table.caption or " | ".join(cell.text for cell in first if cell.text)


_MAX_TABLES: Final = 50
_MAX_CELLS: Final = 1_000


def lost_notes(article: Structure, page: Structure, is_shown: Callable[[int], bool]) -> Iterator[Loss]:
    """Yield references to footnotes that do not lead to an element of the page."""
    by_label: dict[str, list[str]] = defaultdict(list)
    for note in page.notes:
        by_label[words_of(note.label)].append(note.target)
    for number, note in enumerate(article.notes):
        if note.target not in article.ids or not is_shown(note.run):
            continue
        targets = by_label.get(words_of(note.label))
        if targets is None and number < len(page.notes):
            targets = [page.notes[number].target]
        if targets is None:
            yield Loss(note.at, "note", f"the reference to footnote {note.label} is not a link")
        elif not any(target in page.ids or unquote(target) in page.ids for target in targets):
            yield Loss(note.at, "note", f"footnote {note.label} leads nowhere")


def lost_frames(article: Structure, page: Structure) -> Iterator[Loss]:
    """Yield embedded pages, such as videos, that are not on the page."""
    linked = " ".join(link.target for link in page.links)[:_MAX_SOURCES]
    for at, source in article.frames:
        host, known = _frame_id(source)
        if not host or known in page.data:
            continue
        as_link = " but a link" if known in linked else ""
        yield Loss(at, "embed", f"the embedded page {excerpt(f'{host}: {known}')} is not shown{as_link}")


def _frame_id(source: str) -> tuple[str, str]:
    """Return the host of an embedded page, and its ID there."""
    try:
        parts = urlsplit(source)
        last = parts.path.rstrip("/").rpartition("/")[2]
        known = dict(parse_qsl(parts.query, max_num_fields=100)).get("v") or last
    except ValueError:
        return "", ""
    host = parts.netloc.removeprefix("www.").removeprefix("player.")
    return host, known if len(known) >= _MIN_STEM else host
