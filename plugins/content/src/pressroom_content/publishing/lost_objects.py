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


def excerpt(text: str, max_length: int = 60) -> str:
    """Return the beginning of a text in quotation marks."""
    plain = " ".join(text.split())
    return f'"{plain}"' if len(plain) <= max_length else f'"{plain[:max_length].rstrip()}…"'


def is_part(words: str, other: str) -> bool:
    """Check whether either text contains the other. Very long texts are not compared and count as contained."""
    if max(len(words), len(other)) > _MAX_WORDS:
        return True
    return f" {words} " in f" {other} " or (bool(other) and f" {other} " in f" {words} ")


def lost_images(article: Structure, page: Structure, begin: int, end: int) -> Iterator[Loss]:
    """Yield images missing from the page, or without their alternative text. `begin` and `end` delimit its main part.

    Platforms rename, resize and move images. A missing image is not reported if an unrelated one can stand in for it.
    """
    page_images = _ImagesOfPage(page, {stem for image in article.images if len(stem := _stem(image)) >= _MIN_STEM})
    waiting: list[ShownImage] = []
    named: list[tuple[ShownImage, Sequence[int]]] = []
    for image in article.images:
        if matches := page_images.of_stem(_stem(image)):
            named.append((image, matches))
        elif not image.alt or words_of(image.alt) not in page_images.by_alt:
            waiting.append(image)
    free = {words for words, numbers in page_images.by_alt.items() if not page_images.claimed.issuperset(numbers)}
    for image, matches in named:
        if words_of(image.alt) not in free:
            yield from _lost_alt(image, [page.images[number] for number in matches])
    alts = {words_of(image.alt) for image in article.images if image.alt}
    unrelated = [
        image
        for number, image in enumerate(page.images)
        if begin <= image.at < end and words_of(image.alt) not in alts and not page_images.is_known(number)
    ] if waiting else []  # fmt: skip
    for number, image in enumerate(waiting):
        if number < len(unrelated):
            yield from _lost_alt(image, [unrelated[number]], renamed=True)
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
        self._all_sources = "\n".join(self._sources)[:_MAX_SOURCES]
        self._starts = [0, *accumulate(len(text) + 1 for text in self._sources)]
        self._searched = 0
        self._by_stem: dict[str, list[int]] = defaultdict(list)
        self.by_alt: dict[str, list[int]] = defaultdict(list)
        self.claimed: set[int] = set()
        for number, image in enumerate(page.images):
            if image.alt:
                self.by_alt[words_of(image.alt)].append(number)
            for stem in {_stem_of(source) for sources in image.sources for source in _SOURCE.split(sources)}:
                if stem in stems:
                    self._by_stem[stem].append(number)
                    self.claimed.add(number)

    def of_stem(self, stem: str) -> Sequence[int]:
        """Return the images with this file name, or else the first one whose URLs contain it."""
        if len(stem) < _MIN_STEM:
            return ()
        if stem not in self._by_stem:
            self._searched += len(self._all_sources)
            at = self._all_sources.find(stem) if self._searched <= _MAX_SEARCHED else -1
            self._by_stem[stem] = [bisect_right(self._starts, at) - 1] if at >= 0 else []
            self.claimed.update(self._by_stem[stem])
        return self._by_stem[stem]

    def is_known(self, number: int) -> bool:
        """Check whether the URLs of an image contain the file name of one of the article's images."""
        few = len(self._stems) <= _MAX_STEMS
        return number in self.claimed or (few and any(stem in self._sources[number] for stem in self._stems))


def _lost_alt(image: ShownImage, candidates: Sequence[ShownImage], *, renamed: bool = False) -> Iterator[Loss]:
    """Yield the loss of an image's alternative text. A `renamed` image may be a different one."""
    alt = words_of(image.alt)
    if not image.alt.strip():
        return
    shown_alts = [candidate.alt for candidate in candidates[:_MAX_STEMS] if candidate.alt.strip()]
    if not shown_alts:
        yield Loss(image.at, "alt", f"the image {excerpt(image.alt)} lost its alternative text")
    elif alt and not renamed and len(candidates) <= _MAX_STEMS:
        words = [words_of(shown_alt) for shown_alt in shown_alts]
        if not any(is_part(alt, other) or (other and alt.startswith(other)) for other in words):
            name = excerpt(image.alt)
            yield Loss(image.at, "alt", f"the image {name} has the alternative text {excerpt(shown_alts[0])} instead")


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
    matched: set[int] = set()
    for table in article.tables:
        cells = [cell for row in table.rows for cell in row]
        votes: Counter[int] = Counter()
        for words in {cell.words for cell in cells if cell.words}:
            numbers = by_words.get(words, deque())
            while numbers and numbers[0] in matched:
                numbers.popleft()
            votes.update(number for number in islice(numbers, _MAX_TABLES) if number not in matched)
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
        matched.add(number)
        yield from _of_table(table, page.tables[number], name)


def _of_table(table: Table, page_table: Table, name: str) -> Iterator[Loss]:
    cells = [cell for row in table.rows for cell in row if cell.words]
    page_cells = [cell for row in page_table.rows for cell in row if cell.words]
    words = {cell.words for cell in page_cells}
    lost = _lost_cells(cells, page_cells)
    if lost:
        more = f" and {len(lost) - 1} more" if len(lost) > 1 else ""
        yield Loss(table.at, "cell", f"{name} lacks the cell {excerpt(lost[0].text)}{more}")
    moved = _moved_cells(table, page_table)
    if moved:
        more = f" and {len(moved) - 1} more" if len(moved) > 1 else ""
        yield Loss(table.at, "cell", f"{name} shows the cell {excerpt(moved[0].text)}{more} in another place")
    if any(cell.header for cell in cells) and not any(cell.header for cell in page_cells):
        yield Loss(table.at, "table", f"{name} lost its header")
    alignments = {(cell.words, cell.align) for cell in cells if cell.align in ("right", "center")}
    page_alignments = {(cell.words, cell.align) for cell in page_cells}
    if any((text, align) not in page_alignments for text, align in alignments if text in words):
        yield Loss(table.at, "table", f"{name} lost the alignment of its columns")


def _lost_cells(cells: Sequence[TableCell], page_cells: Sequence[TableCell]) -> list[TableCell]:
    """Return the cells that are missing or occur less often than in the article: of equal ones, the last."""
    free = Counter(cell.words for cell in page_cells)
    unmatched = []
    for cell in cells:
        if free[cell.words]:
            free[cell.words] -= 1
        else:
            unmatched.append(cell)
    joined = f" {' '.join(free.elements())} "
    return [cell for cell in unmatched[:_MAX_CELLS] if f" {cell.words} " not in joined]


def _moved_cells(table: Table, page_table: Table) -> list[TableCell]:
    """Return the cells that moved to another row or column; empty if the tables do not have the same cells and rows.

    Columns may be inserted before all others, such as row numbers, and merged cells may be split.
    """
    rows, page_rows = ([row for row in side.rows if any(cell.words for cell in row)] for side in (table, page_table))
    if len(rows) != len(page_rows):
        return []
    filled, page_filled = (
        [[(column, cell) for column, cell in enumerate(row) if cell.words] for row in side_rows]
        for side_rows in (rows, page_rows)
    )
    if Counter(cell.words for row in filled for _, cell in row) != Counter(
        cell.words for row in page_filled for _, cell in row
    ):
        return []
    shifts = Counter(
        page_column - column
        for row, page_row in zip(filled, page_filled, strict=True)
        for (column, _), (page_column, _) in zip(row, page_row, strict=False)
    )
    usual = min(shifts.items(), key=lambda shift: (-shift[1], abs(shift[0])))[0]
    moved = []
    for row, page_row in zip(filled, page_filled, strict=True):
        for position, (column, cell) in enumerate(row):
            page_column, page_cell = page_row[position] if position < len(page_row) else (-1, None)
            in_column = table.merged or page_table.merged or page_column == column + usual
            if page_cell is None or page_cell.words != cell.words or not in_column:
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
        host, embed_id = _frame_id(source)
        if not host or embed_id in page.data:
            continue
        as_link = " but a link" if embed_id in linked else ""
        yield Loss(at, "embed", f"the embedded page {excerpt(f'{host}: {embed_id}')} is not shown{as_link}")


def _frame_id(source: str) -> tuple[str, str]:
    """Return the host of an embedded page, and its ID there."""
    try:
        parts = urlsplit(source)
        last = parts.path.rstrip("/").rpartition("/")[2]
        embed_id = dict(parse_qsl(parts.query, max_num_fields=100)).get("v") or last
    except ValueError:
        return "", ""
    host = parts.netloc.removeprefix("www.").removeprefix("player.")
    return host, embed_id if len(embed_id) >= _MIN_STEM else host
