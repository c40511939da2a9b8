"""What of an article's links, images, tables, code, footnotes and embedded pages is not on its page."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from pressroom_content.publishing.structure import CodeBlock, ShownImage, ShownLink, Structure, Table, words_of

_STEM: Final = re.compile(r"(?:-\d{2,5}x\d{2,5}|-scaled|-rotated|@\d+x)$")
_MIN_STEM: Final = 4
_HALF: Final = 0.5
_ALIKE: Final = 0.3
_MAX_SOURCES: Final = 2_000_000
_HIDDEN_MAIL: Final = "/cdn-cgi/l/email-protection"


@dataclass(frozen=True, slots=True)
class Loss:
    """Something that is not on a page as it was written. `at` is where it is in the article."""

    at: int
    kind: str
    message: str


def excerpt(text: str, longest: int = 60) -> str:
    """Return the beginning of a text in quotation marks."""
    plain = " ".join(text.split())
    return f'"{plain}"' if len(plain) <= longest else f'"{plain[:longest].rstrip()}…"'


def lost_links(article: Structure, page: Structure, is_shown: Callable[[int], bool]) -> Iterator[Loss]:
    """Yield the links that are not on the page, or lead elsewhere. `is_shown` tells it of a text by its number."""
    targets: dict[tuple[str, str, str], list[frozenset[tuple[str, str]]]] = defaultdict(list)
    texts: dict[str, ShownLink] = {}
    for link in page.links:
        place, query = _normal(link.target)
        targets[place].append(query)
        texts.setdefault(words_of(link.text), link)
    for link in article.links:
        words = words_of(link.text)
        if link.target.startswith("#"):
            if words and link.target[1:] in article.ids and is_shown(link.run):
                yield from _lost_place(link, texts.get(words), page)
            continue
        place, query = _normal(link.target)
        if not is_shown(link.run) or any(query <= other for other in targets.get(place, ())):
            continue
        same = texts.get(words) if words else None
        if same is None:
            yield Loss(link.at, "link", f"{excerpt(link.text or link.target)} is not a link to {link.target[:120]}")
        elif _HIDDEN_MAIL not in same.target and quote(link.target, safe="") not in same.target:
            where = f"{same.target[:120] or 'nowhere'} instead of {link.target[:120]}"
            yield Loss(link.at, "link", f"the link {excerpt(link.text)} leads to {where}")


def _lost_place(link: ShownLink, there: ShownLink | None, page: Structure) -> Iterator[Loss]:
    if there is None:
        yield Loss(link.at, "link", f"{excerpt(link.text)} is not a link to {link.target[:120]}")
    elif there.target.startswith("#") and unquote(there.target[1:]) not in page.ids | {"", "top"}:
        yield Loss(link.at, "link", f"the link {excerpt(link.text)} leads nowhere: the page has no {link.target[:120]}")


def _normal(target: str) -> tuple[tuple[str, str, str], frozenset[tuple[str, str]]]:
    """Return what is compared of a URL: its place, and the parameters that it has at least."""
    try:
        parts = urlsplit(target)
        query = frozenset(parse_qsl(parts.query, keep_blank_values=True, max_num_fields=100))
    except ValueError:
        return (target, "", ""), frozenset()
    scheme = "http" if parts.scheme in ("http", "https") else parts.scheme
    place = f"{scheme}://{parts.netloc.lower().removeprefix('www.')}"
    return (place, unquote(parts.path).rstrip("/"), unquote(parts.fragment)), query


def lost_images(article: Structure, page: Structure, begin: int, end: int) -> Iterator[Loss]:
    """Yield the images that are not on the page, or lost their alternative text. `begin` and `end` are its main part.

    Platforms rename, resize and move images: where as many others are in their place, nothing is said of them.
    """
    sources = [unquote(" ".join(image.sources)).lower() for image in page.images]
    whole, by_alt = "\n".join(sources)[:_MAX_SOURCES], {words_of(image.alt) for image in page.images if image.alt}
    waiting: list[ShownImage] = []
    stems = {_stem(image) for image in article.images}
    for image in article.images:
        stem, alt = _stem(image), words_of(image.alt)
        if len(stem) >= _MIN_STEM and stem in whole:
            same = [one for one, text in zip(page.images, sources, strict=True) if stem in text]
            yield from _lost_alt(image, same)
        elif not alt or alt not in by_alt:
            waiting.append(image)
    wanted = {words_of(image.alt) for image in article.images if image.alt}
    others = [
        image
        for image, text in zip(page.images, sources, strict=True)
        if begin <= image.at < end
        and words_of(image.alt) not in wanted
        and not any(len(stem) >= _MIN_STEM and stem in text for stem in stems)
    ] if waiting else []  # fmt: skip
    for number, image in enumerate(waiting):
        if number < len(others):
            yield from _lost_alt(image, [others[number]])
        else:
            name = excerpt(image.alt or (image.sources[0].rpartition("/")[2] if image.sources else "without a name"))
            yield Loss(image.at, "image", f"the image {name} is not shown")


def _lost_alt(image: ShownImage, there: Sequence[ShownImage]) -> Iterator[Loss]:
    if image.alt.strip() and there and not any(one.alt.strip() for one in there):
        yield Loss(image.at, "alt", f"the image {excerpt(image.alt)} lost its alternative text")


def _stem(image: ShownImage) -> str:
    """Return the name of an image's file without what platforms put behind it."""
    try:
        path = urlsplit(image.sources[0]).path if image.sources else ""
    except ValueError:
        path = ""
    name = unquote(path).rpartition("/")[2].rpartition(".")[0] or unquote(path).rpartition("/")[2]
    return _STEM.sub("", name).lower()


def lost_tables(article: Structure, page: Structure, is_on_page: Callable[[str], bool]) -> Iterator[Loss]:
    """Yield the tables that are not on the page, and what they lost. `is_on_page` tells it of a text."""
    by_words: dict[str, list[int]] = defaultdict(list)
    for number, table in enumerate(page.tables):
        for words in {cell.words for row in table.rows for cell in row if cell.words}:
            by_words[words].append(number)
    taken: set[int] = set()
    for table in article.tables:
        cells = [cell for row in table.rows for cell in row]
        votes = Counter(
            number for words in {cell.words for cell in cells if cell.words}
            for number in by_words.get(words, ())[:_MAX_TABLES] if number not in taken
        )  # fmt: skip
        number, count = votes.most_common(1)[0] if votes else (-1, 0)
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
    joined = f" {' '.join(cell.words for cell in others)} "
    lost = [cell for cell in cells if cell.words not in words and f" {cell.words} " not in joined][:_MAX_CELLS]
    if lost:
        more = f" and {len(lost) - 1} more" if len(lost) > 1 else ""
        yield Loss(table.at, "cell", f"{name} lacks the cell {excerpt(lost[0].text)}{more}")
    if any(cell.header for cell in cells) and not any(cell.header for cell in others):
        yield Loss(table.at, "table", f"{name} lost its header")
    wanted = {(cell.words, cell.align) for cell in cells if cell.align in ("right", "center")}
    shown = {(cell.words, cell.align) for cell in others}
    if any((text, align) not in shown for text, align in wanted if text in words):
        yield Loss(table.at, "table", f"{name} lost the alignment of its columns")


def _name(table: Table) -> str:
    first = table.rows[0] if table.rows else []
    return table.caption or " | ".join(cell.text for cell in first if cell.text)


_MAX_TABLES: Final = 50
_MAX_CELLS: Final = 1_000


def lost_code(article: Structure, page: Structure, is_on_page: Callable[[str], bool]) -> Iterator[Loss]:
    """Yield the blocks of code that are not on the page as they were written, or lost their language."""
    texts: dict[str, list[CodeBlock]] = defaultdict(list)
    by_line: dict[str, list[int]] = defaultdict(list)
    for number, block in enumerate(page.code):
        texts[_lines(block.text)].append(block)
        for line in {line.strip() for line in block.text.split("\n")} - {""}:
            by_line[line].append(number)
    for number, block in enumerate(article.code, 1):
        wanted = _lines(block.text)
        if not wanted.strip():
            continue
        name = f"code block {number}{f' ({block.language})' if block.language else ''}"
        same = texts.get(wanted)
        if same is None:
            similar = _most_alike(wanted, by_line)
            if similar is None and is_on_page(block.text):
                yield Loss(block.at, "code", f"{name} is not shown as code: {excerpt(wanted)}")
            elif similar is None:
                yield Loss(block.at, "code", f"{name} is not shown: {excerpt(wanted)}")
            else:
                shown = set(_lines(page.code[similar].text).split("\n"))
                first = next((line for line in wanted.split("\n") if line not in shown), wanted)
                yield Loss(block.at, "code", f"{name} is not shown as written: {excerpt(first)}")
                same = [page.code[similar]]
        if same and block.language and not any(one.language for one in same):
            yield Loss(block.at, "language", f"{name} lost its language")


def _most_alike(text: str, by_line: dict[str, list[int]]) -> int | None:
    lines = {line.strip() for line in text.split("\n")} - {""}
    votes = Counter(number for line in lines for number in by_line.get(line, ())[:_MAX_TABLES])
    if not votes:
        return None
    number, count = votes.most_common(1)[0]
    return number if count >= len(lines) * _ALIKE else None


def _lines(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.split("\n")).strip("\n")


def lost_notes(article: Structure, page: Structure, is_shown: Callable[[int], bool]) -> Iterator[Loss]:
    """Yield the references to footnotes that lead nowhere on the page."""
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
    """Yield the embedded pages, such as videos, that are not on the page."""
    linked = " ".join(link.target for link in page.links)[:_MAX_SOURCES]
    for at, source in article.frames:
        host, known = _frame_id(source)
        if not host or known in page.data:
            continue
        as_link = " but a link" if known in linked else ""
        yield Loss(at, "embed", f"the embedded page {excerpt(f'{host}: {known}')} is not shown{as_link}")


def _frame_id(source: str) -> tuple[str, str]:
    """Return the host of an embedded page, and what names it there."""
    try:
        parts = urlsplit(source)
        last = parts.path.rstrip("/").rpartition("/")[2]
        known = dict(parse_qsl(parts.query, max_num_fields=100)).get("v") or last
    except ValueError:
        return "", ""
    host = parts.netloc.removeprefix("www.").removeprefix("player.")
    return host, known if len(known) >= _MIN_STEM else host
