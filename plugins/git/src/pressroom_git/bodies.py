"""Bodies of markdown files, taken apart and put together: the codec of the platform."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from pressroom.sdk import CallError
from pressroom_content.contract import BodyBlock, Post, render_body

from pressroom_git.escaping import escaped, html_shown, liquid_shown, unescaped, without_raw, without_raws
from pressroom_git.foreign_blocks import BlockGroup, groups, has_html, is_more
from pressroom_git.front_matter import Generator
from pressroom_git.html_text import blocks_of
from pressroom_git.markdown_blocks import MarkdownPiece, definitions, label_key, pieces_of, segments

_NEWLINES = re.compile(r"\r\n?")
_LINE_ENDS = re.compile(r"\r\n?|\n")
_END_OF_LINE = re.compile(r"[\r\n]\Z")
_REFERENCE = re.compile(
    r"(?P<escape>\\.)|(?P<image>!?)\[(?P<text>(?:[^\[\]\\]|\\.)*+)\](?:\[(?P<label>(?:[^\[\]\\]|\\.)*+)\])?(?![(:])",
    re.DOTALL,
)
_HARMLESS: Final = ("HTML", "link definitions", "more")
_MARK: Final = "<!-- -->\n\n"
"""What keeps a block apart from the one before it, which would take it in."""

_INDENTED = re.compile(r"(?: {4}|\t)")
_ORDERED = re.compile(r" {0,3}\d{1,9}[.)]")
_FRAGMENT = re.compile(r"\n\s*\n")


@dataclass(frozen=True, slots=True)
class MarkdownCodec:
    """The codec of a generator's markdown files; it implements `pressroom_content.contract.BodyCodec`."""

    generator: Generator

    def split(self, raw: str) -> Sequence[BodyBlock]:
        """Return the blocks of a body."""
        pieces = pieces_of(raw)
        if pieces is None:
            return [BodyBlock(raw, "text")]
        known = definitions(raw, pieces)
        return [self._block(raw, group, known) for group in groups(raw, pieces, self.generator)]

    def join(self, sources: Sequence[str], original: str = "") -> str:
        """Return a body of blocks; those that were not beside each other are kept apart by an empty line."""
        if not sources:
            return "" if original.strip() else original
        before = [block.source for block in self.split(original)] if original else []
        beside = set(pairwise(before))
        made = [sources[0]]
        for one, following in pairwise(sources):
            if (one, following) not in beside:
                made.append(_gap(one, following))
            made.append(following)
        return "".join(made)

    def encode(self, html: str, markdown: str) -> Sequence[str]:
        """Return the sources of a text. Raw HTML is left to generators that show it by default, but for Hugo."""
        html, markdown = (text.encode(errors="replace").decode() for text in (html, markdown))
        text = _NEWLINES.sub("\n", markdown).strip("\n")
        if not text.strip():
            return [f"{one}\n\n" for one in self._of_html(html) if one.strip()]
        pieces = pieces_of(text)
        if pieces is None:
            pieces = [MarkdownPiece(0, len(text), "text")]
        known = "\n".join(text[piece.start : piece.end] for piece in pieces if piece.kind == "definitions")
        made: list[str] = []
        for group in groups(text, pieces, None):
            made += self._encoded(text, group, known)
        return [f"{one.strip(chr(10))}\n\n" for one in made if one.strip()]

    def programs(self, raw: str) -> Sequence[str]:
        """Return the sources of blocks in which the generator runs something, such as shortcodes and components."""
        return [
            block.source.strip()
            for block in self.split(raw)
            if block.markdown is None and not block.name.startswith(_HARMLESS)
        ]

    def _encoded(self, text: str, group: BlockGroup, known: str) -> Iterator[str]:
        source = text[group.start : group.end]
        if is_more(source):
            yield source
        elif self.generator == "hugo" and any(has_html(text, piece) for piece in group.pieces):
            yield from self._of_html(_rendered(source, known))
        elif self.generator == "jekyll" and any(piece.html for piece in group.pieces):
            yield liquid_shown(_FRAGMENT.sub("\n", _kramdown_html(_rendered(source, known))))
        else:
            for piece in group.pieces:
                yield escaped(text, piece, self.generator) + (f"\n{piece.closer}" if piece.closer else "")

    def _of_html(self, html: str) -> Iterator[str]:
        for markdown, attributes in blocks_of(html):
            for piece in pieces_of(markdown) or (MarkdownPiece(0, len(markdown), "text"),):
                yield escaped(markdown, piece, self.generator) + (attributes if self.generator == "hugo" else "")

    def _block(self, raw: str, group: BlockGroup, known: Mapping[str, tuple[str, str]]) -> BodyBlock:
        source = raw[group.start : group.end]
        if not group.name:
            shown = "".join(_with_targets(raw, piece, known) for piece in group.pieces)
            return BodyBlock(source, group.pieces[0].kind, markdown=self._shown(shown))
        inner = without_raw(source.replace("\r\n", "\n")) if self.generator == "jekyll" else source
        if inner != source.replace("\r\n", "\n"):
            pieces = pieces_of(inner)
            parts = groups(inner, pieces, None) if pieces else ()
            if len(parts) == 1 and not parts[0].name:
                return BodyBlock(source, parts[0].pieces[0].kind, markdown=inner.strip("\n"))
        return BodyBlock(source, group.name)

    def _shown(self, text: str) -> str:
        return unescaped(_NEWLINES.sub("\n", text), self.generator).strip("\n").rstrip()


def _rendered(markdown: str, known: str) -> str:
    try:
        return render_body(f"{markdown.rstrip()}\n\n{known}", "markdown")
    except CallError:  # too intricate: better as text than not at all
        return ""


def _kramdown_html(html: str) -> str:
    return html.replace("{:", "{&#58;")


def _with_targets(raw: str, piece: MarkdownPiece, known: Mapping[str, tuple[str, str]]) -> str:
    """Return a block in which links have their targets, which are defined elsewhere in the file."""
    if not known or piece.kind == "code":
        return raw[piece.start : piece.end]

    def inline(match: re.Match[str]) -> str:
        if match["escape"]:
            return match[0]
        target, title = known.get(label_key(match["label"] or match["text"]), ("", ""))
        return f"{match['image']}[{match['text']}]({target}{' ' + title if title else ''})" if target else match[0]

    return "".join(part if code else _REFERENCE.sub(inline, part) for part, code in segments(raw, piece))


def _gap(before: str, after: str) -> str:
    """Return what keeps two blocks apart that were not beside each other."""
    newline = "\r\n" if "\r\n" in before else "\n"
    pieces, following = pieces_of(before), pieces_of(after)
    last, first = (pieces[-1] if pieces else None), (following[0] if following else None)
    gap = ""
    if last is not None and last.closer:
        gap = f"{'' if _END_OF_LINE.search(before) else newline}{last.closer}{newline}{newline}"
    elif len(_LINE_ENDS.findall(before[len(before.rstrip(" \t\r\n")) :])) < 2:
        gap = newline if _END_OF_LINE.search(before) else newline * 2
    if last is None or first is None:
        return gap
    text = after[first.start : first.end].lstrip("\r\n")
    lists = last.kind == first.kind == "list" and _is_ordered(before[last.start :]) == _is_ordered(text)
    return gap + _MARK if lists or (last.kind in ("list", "footnote") and _INDENTED.match(text)) else gap


def _is_ordered(source: str) -> bool:
    return _ORDERED.match(source.lstrip("\r\n")) is not None


def body_of(post: Post, generator: Generator, path: str) -> str:
    """Return the body of a post as its file has it, so that the generator shows it and runs nothing in it."""
    if path.endswith(".html"):
        body = _NEWLINES.sub("\n", post.markdown).rstrip() + "\n"
        return html_shown(body, generator)
    codec = MarkdownCodec(generator)
    return codec.join(codec.encode(post.html, post.markdown)).rstrip() + "\n"


def body_read(body: str, generator: Generator) -> str:
    """Return a body as readers are shown it, for a comparison with what was sent."""
    return unescaped(without_raws(body) if generator == "jekyll" else body, generator)
