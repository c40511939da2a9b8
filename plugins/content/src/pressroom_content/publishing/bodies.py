"""Reconciling an article's body with its post's: unchanged blocks are sent exactly as the website has them."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from hashlib import sha256
from itertools import takewhile
from typing import Any, Final, Self

from pressroom.sdk import InvalidInput

from pressroom_content.contract import BodyBlock, BodyCodec
from pressroom_content.rendering.from_html import to_markdown
from pressroom_content.rendering.pieces import BodyPiece, pieces_of, placeholder

MAX_RAW_LENGTH: Final = 5_000_000
"""The maximum length of a body that is parsed, in characters."""

_APART: Final = "<!-- -->"
"""A separator between adjacent lists, which Markdown would merge otherwise."""

_SPACE: Final = " \t\r\n"
_MAX_ALIGNED: Final = 4_000_000
_KEY_LENGTH: Final = 8


@dataclass(frozen=True, slots=True)
class BodySegment:
    """A part of a body in both forms: `sources` are the website's blocks, `text` is the article's Markdown.

    `key` and `name` are set for a block that only its website understands. Its text is a placeholder then.
    """

    sources: tuple[str, ...]
    text: str
    key: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class SiteBody:
    """A body as its website has it, and its segments, whose sources together make up the whole body."""

    raw: str
    segments: tuple[BodySegment, ...]

    def stored(self) -> list[dict[str, Any]]:
        """Return the segments as JSON."""
        return [
            {"sources": list(segment.sources), "text": segment.text, "key": segment.key, "name": segment.name}
            for segment in self.segments
        ]

    @classmethod
    def of(cls, raw: str, stored: Sequence[Mapping[str, Any]]) -> SiteBody:
        """Return the body whose segments were serialised by `stored`."""
        segments = (
            BodySegment(tuple(entry["sources"]), entry["text"], entry["key"], entry["name"]) for entry in stored
        )
        return cls(raw, tuple(segments))


@dataclass(frozen=True, slots=True)
class ComposedBody:
    """A body for a website. `lost` lists the names of the website's own blocks that the article does not contain."""

    body: SiteBody
    lost: tuple[str, ...] = ()


def read_body(raw: str, codec: BodyCodec) -> SiteBody:
    """Parse a body of a website into segments of Markdown. It can take seconds: call it in a worker."""
    segments = _segments(codec.split(raw))
    for attempt in range(3):
        swallowed = _swallowed([segment.text for segment in segments])
        if not swallowed:
            break
        # A segment whose Markdown runs into its neighbour cannot be edited separately.
        doubtful = swallowed | {at - 1 for at in swallowed} if attempt < 2 else set(range(len(segments)))
        segments = _numbered(
            [_opaque(segment) if at in doubtful and not segment.key else segment for at, segment in enumerate(segments)]
        )
    return SiteBody(raw, tuple(segments))


def joined_text(texts: Sequence[str]) -> str:
    """Join texts of segments to one Markdown text in which each remains a separate block."""
    body, _ = _written(texts, _touching(texts)[0])
    return body


def compose(
    known: SiteBody | None,
    pieces: Sequence[BodyPiece],
    codec: BodyCodec,
    always_encoded: frozenset[int] = frozenset(),
    as_markdown: bool = False,
) -> ComposedBody:
    """Return an article's body in the website's format. It can take seconds: call it in a worker.

    Args:
        known: the body as it was last read or written. Its segments are sent verbatim if the article still has them.
        pieces: the article's body.
        codec: the website's codec.
        always_encoded: numbers of the pieces that are always encoded anew, such as those with images of the library.
        as_markdown: whether the website stores Markdown, in which case the section of footnotes is not written again.
    """
    segments = known.segments if known is not None else ()
    reused = dict(unchanged(segments, pieces, always_encoded))
    by_key = {segment.key: segment for segment in segments if segment.key}
    surroundings = _Surroundings.of(known, pieces, reused, codec)
    composed: list[BodySegment] = []
    lost: list[str] = []
    used: set[str] = set()
    skip = 0
    for number, piece in enumerate(pieces):
        if skip:
            skip -= 1
        elif number in reused:
            segment, count = reused[number]
            composed.append(segment)
            used.add(segment.key)
            skip = count - 1
        elif piece.block:
            if piece.block in by_key and piece.block not in used:
                composed.append(by_key[piece.block])
                used.add(piece.block)
        elif piece.text or not as_markdown:
            encoded = tuple(codec.encode(piece.html, _markdown(piece)))
            if encoded:
                composed.append(BodySegment(surroundings.surrounded(number, encoded), piece.text))
    lost = [segment.name for key, segment in by_key.items() if key not in used]
    sources = [source for segment in composed for source in segment.sources]
    if known is not None and [source for segment in segments for source in segment.sources] == sources:
        return ComposedBody(known)
    raw = codec.join(sources, known.raw if known is not None else "")
    return ComposedBody(SiteBody(raw, tuple(composed)), tuple(lost))


@dataclass(frozen=True, slots=True)
class _Surroundings:
    """What surrounds the words of edited segments: blocks without text, and white space. Both are preserved.

    `before` and `after` map the number of a piece to the sources around it. `endings` maps it to its trailing white
    space.
    """

    before: Mapping[int, tuple[str, ...]]
    after: Mapping[int, tuple[str, ...]]
    endings: Mapping[int, str]

    @classmethod
    def of(
        cls,
        known: SiteBody | None,
        pieces: Sequence[BodyPiece],
        reused: Mapping[int, tuple[BodySegment, int]],
        codec: BodyCodec,
    ) -> Self:
        """Return the surroundings of the segments that are not in `reused` and that new pieces replace."""
        heads: dict[int, BodySegment] = {}
        tails: dict[int, BodySegment] = {}
        for numbers, replaced in _replaced_ranges(known.segments if known is not None else (), pieces, reused):
            same_count = len(numbers) == len(replaced)
            heads.update(zip(numbers, replaced, strict=True) if same_count else [(numbers[0], replaced[0])])
            tails.update(zip(numbers, replaced, strict=True) if same_count else [(numbers[-1], replaced[-1])])
        if known is None or not heads:
            return cls({}, {}, {})
        several = {
            source
            for segment in (*heads.values(), *tails.values())
            if len(segment.sources) > 1
            for source in segment.sources
        }
        empty = (
            {block.source for block in codec.split(known.raw) if block.source in several and _text(block) == ""}
            if several
            else ()
        )
        before = {number: tuple(takewhile(empty.__contains__, segment.sources)) for number, segment in heads.items()}
        after, endings = {}, {}
        for number, segment in tails.items():
            trailing = tuple(reversed(tuple(takewhile(empty.__contains__, reversed(segment.sources)))))
            after[number] = trailing
            words = segment.sources[-1 - len(trailing)]
            ending = words[len(words.rstrip(_SPACE)) :]
            is_last = number == len(pieces) - 1 and segment is known.segments[-1] and not trailing
            if is_last or ending.count("\n") > 1:
                endings[number] = ending
        return cls(before, after, endings)

    def surrounded(self, number: int, encoded: tuple[str, ...]) -> tuple[str, ...]:
        """Return the sources of a piece together with its surroundings."""
        if number in self.endings:
            encoded = (*encoded[:-1], encoded[-1].rstrip(_SPACE) + self.endings[number])
        return (*self.before.get(number, ()), *encoded, *self.after.get(number, ()))


def _replaced_ranges(
    segments: Sequence[BodySegment], pieces: Sequence[BodyPiece], reused: Mapping[int, tuple[BodySegment, int]]
) -> Iterator[tuple[Sequence[int], Sequence[BodySegment]]]:
    """Yield the numbers of the pieces between reused ones, and the segments that they replace."""
    positions = {id(segment): at for at, segment in enumerate(segments)}
    stops = [(number, number + count, positions[id(segment)]) for number, (segment, count) in sorted(reused.items())]
    first = begin = 0
    for start, end, at in [*stops, (len(pieces), len(pieces), len(segments))]:
        numbers = [number for number in range(first, start) if not pieces[number].block]
        replaced = [segment for segment in segments[begin:at] if not segment.key]
        if numbers and replaced and all(pieces[number].text for number in numbers):
            yield numbers, replaced
        first, begin = end, at + 1


def remembered(sent: SiteBody, raw: str, codec: BodyCodec) -> SiteBody:
    """Return the stored form of a body after it was `sent`: platforms rewrite parts of what they receive.

    Its sources are those that the codec reads, including the white space between blocks.
    """
    blocks = codec.split(raw)
    before = [source.strip() for segment in sent.segments for source in segment.sources]
    owners = [number for number, segment in enumerate(sent.segments) for _ in segment.sources]
    now = [block.source for block in blocks]
    result: list[BodySegment] = []
    done: set[int] = set()
    for begin, end, first, last in ranges_of(before, [source.strip() for source in now]):
        segments = list(dict.fromkeys(owners[begin:end]))
        paired = end - begin == last - first and not done.intersection(segments)
        complete = all(owners[begin:end].count(number) == len(sent.segments[number].sources) for number in segments)
        if paired and complete:
            at = first
            for number in segments:
                count = len(sent.segments[number].sources)
                result.append(replace(sent.segments[number], sources=tuple(now[at : at + count])))
                at += count
            done.update(segments)
        else:
            result += _segments(blocks[first:last])
    return SiteBody(raw, tuple(_numbered(result)))


def with_known_texts(known: SiteBody, now: SiteBody) -> SiteBody:
    """Return a body as it is on its website, with the article's own text for unchanged segments.

    A segment of several blocks, such as the section of footnotes, is joined again.
    """
    by_sources = {segment.sources: segment for segment in known.segments if not segment.key}
    max_counts: dict[str, int] = {}
    for sources in by_sources:
        max_counts[sources[0]] = max(len(sources), max_counts.get(sources[0], 0))
    segments: list[BodySegment] = []
    at = 0
    while at < len(now.segments):
        max_count, sources, end, segment = 0, (), at + 1, now.segments[at]
        if not segment.key:
            max_count = max_counts.get(segment.sources[0], 0)
        for number in range(at, len(now.segments)):
            if len(sources) >= max_count or now.segments[number].key:
                break
            sources += now.segments[number].sources
            if sources in by_sources:
                end, segment = number + 1, by_sources[sources]
        segments.append(segment)
        at = end
    return SiteBody(now.raw, tuple(segments))


def ranges_of(before: Sequence[str], now: Sequence[str]) -> Iterator[tuple[int, int, int, int]]:
    """Yield corresponding ranges of two lists as (begin, end, first, last). Ranges of equal items have equal length."""
    limit = min(len(before), len(now))
    head = next((at for at in range(limit) if before[at] != now[at]), limit)
    tail = next((at for at in range(limit - head) if before[-1 - at] != now[-1 - at]), limit - head)
    if head:
        yield 0, head, 0, head
    before_end, now_end = len(before) - tail, len(now) - tail
    if (before_end - head) * (now_end - head) > _MAX_ALIGNED:
        yield head, before_end, head, now_end
    else:
        matcher = SequenceMatcher(None, before[head:before_end], now[head:now_end], autojunk=False)
        for _, begin, end, first, last in matcher.get_opcodes():
            yield head + begin, head + end, head + first, head + last
    if tail:
        yield before_end, len(before), now_end, len(now)


def _markdown(piece: BodyPiece) -> str:
    """Return a piece as Markdown: its original text, unless sanitising removed something from it."""
    if not piece.text:
        return ""
    return to_markdown(piece.html) if piece.lossy or piece.text.startswith("<") else piece.text


def _segments(blocks: Sequence[BodyBlock]) -> list[BodySegment]:
    """Convert blocks to segments. Blocks without text join the preceding segment."""
    segments: list[BodySegment] = []
    waiting: list[str] = []
    for block in blocks:
        text = _text(block)
        if text == "":
            if segments:
                segments[-1] = replace(segments[-1], sources=(*segments[-1].sources, block.source))
            else:
                waiting.append(block.source)
            continue
        segments.append(BodySegment((*waiting, block.source), text or "", "" if text else "new", block.name))
        waiting = []
    if waiting:
        segments.append(BodySegment(tuple(waiting), "", "new", "block"))
    return _numbered(segments)


def _text(block: BodyBlock) -> str | None:
    """Return the text of a block as Markdown, or `None` if it cannot be edited."""
    if not block.source.strip():
        return ""
    if block.markdown is None and block.html is None:
        return None
    try:
        text = block.markdown if block.markdown is not None else to_markdown(block.html or "")
    except InvalidInput:
        return None
    return text.strip("\n").rstrip()


def _numbered(segments: Sequence[BodySegment]) -> list[BodySegment]:
    """Assign each block that cannot be edited a key, and its placeholder as the text."""
    times = Counter[str]()
    numbered = []
    for segment in segments:
        if not segment.key:
            numbered.append(segment)
            continue
        digest = sha256("\0".join(segment.sources).encode(errors="surrogatepass")).hexdigest()[:_KEY_LENGTH]
        times[digest] += 1
        key = digest if times[digest] == 1 else f"{digest}-{times[digest]}"
        numbered.append(replace(segment, key=key, text=placeholder(key, segment.name)))
    return numbered


def _opaque(segment: BodySegment) -> BodySegment:
    return replace(segment, key="new")


def _swallowed(texts: Sequence[str]) -> set[int]:
    """Return the indices of the texts that do not begin a piece of their own when joined."""
    apart, _ = _touching(texts)
    return _without_pieces(texts, apart)[0] if apart else set()


def _touching(texts: Sequence[str]) -> tuple[set[int], Sequence[BodyPiece]]:
    """Return the indices of the texts that would merge with the one before, and the pieces of all of them together."""
    return _without_pieces(texts, set())


def _without_pieces(texts: Sequence[str], apart: set[int]) -> tuple[set[int], Sequence[BodyPiece]]:
    body, starts = _written(texts, apart)
    try:
        pieces = pieces_of(body, "markdown")
    except InvalidInput:
        return set(range(len(texts))), ()
    with_pieces = {bisect_right(starts, piece.line) - 1 for piece in pieces if piece.text}
    return {at for at, text in enumerate(texts) if text and at not in with_pieces}, pieces


def _written(texts: Sequence[str], apart: set[int]) -> tuple[str, list[int]]:
    """Return texts joined to one text, and the line at which each begins."""
    lines: list[str] = []
    starts = []
    for at, text in enumerate(texts):
        if lines:
            lines += ["", _APART, ""] if at in apart else [""]
        starts.append(len(lines))
        lines += text.split("\n")
    return "\n".join(lines) + "\n", starts


def unchanged(
    segments: Sequence[BodySegment], pieces: Sequence[BodyPiece], always_encoded: frozenset[int] = frozenset()
) -> Iterator[tuple[int, tuple[BodySegment, int]]]:
    """Yield each piece number at which an unchanged segment begins, with the segment and how many pieces it spans."""
    if not segments:
        return
    texts = [segment.text for segment in segments]
    apart, known_pieces = _touching(texts)
    body, starts = _written(texts, apart)
    if apart:
        known_pieces = pieces_of(body, "markdown")
    owners = [bisect_right(starts, piece.line) - 1 if piece.text else -1 for piece in known_pieces]
    now = [f"own:{number}" if number in always_encoded else piece.key for number, piece in enumerate(pieces)]
    before = [piece.key for piece in known_pieces]
    matches: dict[int, int] = {}
    for begin, end, first, last in ranges_of(before, now):
        if end - begin == last - first and before[begin:end] == now[first:last]:
            matches.update(zip(range(begin, end), range(first, last), strict=True))
    positions: dict[int, list[int]] = {}
    for at, owner in enumerate(owners):
        positions.setdefault(owner, []).append(matches.get(at, -1))
    for owner, segment in enumerate(segments):
        span = positions.get(owner, [])
        if span and span[0] >= 0 and span == list(range(span[0], span[0] + len(span))):
            yield span[0], (segment, len(span))
