"""The codec for bodies of Markdown files: splits them into blocks and joins them.

Text and code are escaped for each generator, so that it shows them literally and runs nothing in them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType
from typing import Final

from pressroom.sdk import CallError
from pressroom_content.contract import BodyBlock, Post, render_body

from pressroom_git.foreign_blocks import BlockGroup, groups, has_html, is_more
from pressroom_git.front_matter import Generator
from pressroom_git.html_text import blocks_of
from pressroom_git.markdown_blocks import MarkdownPiece, definitions, label_key, pieces_of, segments

_SHORTCODE = re.compile(r"\{\{(?:<((?>.*?(?=\{\{|>\}\})))>|%((?>.*?(?=\{\{|%\}\})))%)\}\}", re.DOTALL)
_OPEN = re.compile(r"\{\{(?=[<%](?!/\*))")
_WRAPPED = re.compile(r"\{\{(?:</\*((?>.*?(?=\{\{|\*/>\}\})))\*/>|%/\*((?>.*?(?=\{\{|\*/%\}\})))\*/%)\}\}", re.DOTALL)
_BARE_COMMENT = re.compile(r"\{\{(?=(?:</\*(?!(?:(?!\{\{).)*?\*/>\}\})|%/\*(?!(?:(?!\{\{).)*?\*/%\}\})))", re.DOTALL)
_EVEN: Final = r"(?<!\\)((?>(?:\\\\)*))"
"""An even number of backslashes, which do not escape the next character."""

_HEADING_END = re.compile(rf"{_EVEN}\{{(?=[^{{}}\n]*\}}[ \t]*$)", re.MULTILINE)
_LINE_ATTRIBUTES = re.compile(r"^((?>(?:[ \t>]++|[-+*][ \t]|\d{1,9}[.)][ \t])*))\{", re.MULTILINE)
_TERM = re.compile(r"^([ \t>]*+):(?=[ \t])", re.MULTILINE)
_ABBREVIATION = re.compile(r"^([ \t]*+)\*(?=\[[^\]\n]*\]:)", re.MULTILINE)
_PIPE = re.compile(rf"{_EVEN}\|")
_DOLLARS = re.compile(rf"{_EVEN}(?:\$(?=\$)|(?<=\$)\$)")
_BREAK = re.compile(r"(?<!\\)((?>(?:\\\\)*))\\(?=\n)")
_NUMBER = re.compile(r"^((?>(?:[ \t>]++|[-+*][ \t])*)\d{1,9})\)(?=[ \t])", re.MULTILINE)
_IAL = re.compile(r"\{:")
_HANDLER = re.compile(r"\{:(?=:|[^{}\n]*\bon\w++\s*+=)", re.IGNORECASE)
_BRACES = re.compile(rf"{_EVEN}([{{}}])")
_MODULE = re.compile(r"^(import|export)\b", re.MULTILINE)
_LESS = re.compile(rf"{_EVEN}<(?!/?[a-z]|!--)")
_TAGS = re.compile(r"(<(?:/?[a-z]|!--)[^<>]*+>)")
_AUTOLINK = re.compile(r"(?<!\\)<((?:https?|mailto):[^\s<>]*+)>")
_TARGET = re.compile(r"\]\([^()\s]*+")
_LIQUID = re.compile(r"\{[{%]")
_ESCAPED_LIQUID = re.compile(r'\{\{ "(\{[{%])" \}\}')
_RAW = re.compile(r"\{%-?\s*(?:end)?raw\b")
_RAW_BLOCK = re.compile(r"(\s*)\{% raw %\}\n(.*)\n\{% endraw %\}(\s*)", re.DOTALL)
_RAW_LINES = re.compile(r"^\{% raw %\}\n((?>.*?(?=\{% (?:end)?raw)))\{% endraw %\}$", re.DOTALL | re.MULTILINE)

INVISIBLE: Final = "\u200b"
"""Separates characters in code that would begin an unclosed shortcode or kramdown attributes. Code shows entities
literally, so there is no other way to escape them."""

_NEWLINES = re.compile(r"\r\n?")
_LINE_ENDS = re.compile(r"\r\n?|\n")
_END_OF_LINE = re.compile(r"[\r\n]\Z")
_REFERENCE = re.compile(
    r"(?P<escape>\\.)|(?P<image>!?)\[(?P<text>(?>(?:[^\[\]\\]++|\\.)*))\](?:\[(?P<label>(?>(?:[^\[\]\\]++|\\.)*))\])?(?![(:])",
    re.DOTALL,
)
_HARMLESS: Final = ("HTML", "link definitions", "more")
_MARK: Final = "<!-- -->\n\n"
"""Separates a block from the one before, which would absorb it."""

_INDENTED = re.compile(r"(?: {4}|\t)")
_ORDERED = re.compile(r" {0,3}\d{1,9}[.)]")
_START = re.compile(r"\s*(\d{1,9})[.)]")
_FRAGMENT = re.compile(r"\n\s*\n")


def escaped(text: str, piece: MarkdownPiece, generator: Generator) -> str:
    """Escape a block of Markdown so that the generator shows it literally."""
    in_text, in_code = _ESCAPES[generator]
    parts = [(in_code if code else in_text)(part, piece.kind) for part, code in segments(text, piece)]
    literal = "".join(parts).strip("\n")
    return _raw(literal) if generator == "jekyll" else literal


def unescaped(text: str, generator: Generator) -> str:
    """Reverse `escaped`, as far as readers see a difference."""
    if generator == "hugo":
        return _WRAPPED.sub(_bare, text).replace("{&#123;", "{{").replace(f"{{{INVISIBLE}{{", "{{")
    if generator == "jekyll":
        return without_raw(text).replace(f"{{{INVISIBLE}:", "{:")
    return text


def _bare(match: re.Match[str]) -> str:
    return "{{<" + match[1] + ">}}" if match[1] is not None else "{{%" + match[2] + "%}}"


def without_raw(text: str) -> str:
    """Remove the Liquid tags that `escaped` added to a block."""
    match = _RAW_BLOCK.fullmatch(text)
    if match is None:
        return _ESCAPED_LIQUID.sub(r"\1", text)
    return text if _RAW.search(match[2]) else f"{match[1]}{match[2]}{match[3]}"


def without_raws(body: str) -> str:
    """Remove the Liquid tags around blocks from a body, for a file in which Liquid is disabled."""
    return _ESCAPED_LIQUID.sub(r"\1", _RAW_LINES.sub(r"\1", body))


def escaped_liquid(text: str) -> str:
    """Escape Liquid in HTML."""
    return _raw(text.strip("\n"))


def escaped_html(html: str, generator: Generator) -> str:
    """Escape shortcodes (Hugo), or Liquid, kramdown extensions and attributes with event handlers (Jekyll), in HTML."""
    if generator == "hugo":
        return _hugo(html, "{&#123;")
    return f"{_raw(_HANDLER.sub('{&#58;', html).rstrip())}\n" if generator == "jekyll" else html


def _raw(text: str) -> str:
    if not _LIQUID.search(text):
        return text
    if _RAW.search(text):  # a raw tag in the text would end the surrounding one
        return _LIQUID.sub(lambda match: f'{{{{ "{match[0]}" }}}}', text)
    return f"{{% raw %}}\n{text}\n{{% endraw %}}"


def _hugo(part: str, replacement: str) -> str:
    """Escape Hugo shortcodes: comment out complete ones, and replace the braces of unclosed ones with `replacement`."""
    return _BARE_COMMENT.sub(replacement, _OPEN.sub(replacement, _SHORTCODE.sub(_wrapped, part)))


def _hugo_text(part: str, kind: str) -> str:
    part = _hugo(part, "{&#123;")
    if kind == "heading":
        part = _HEADING_END.sub(r"\1\\{", part)
    return _TERM.sub(r"\1\\:", _LINE_ATTRIBUTES.sub(_brace, part))


def _brace(match: re.Match[str]) -> str:
    """Escape a brace at the beginning of a line that could begin attributes. Shortcodes stay unchanged."""
    following = match.string[match.end() : match.end() + 1]
    return match[0] if following in ("{", "&") else f"{match[1]}\\{{"


def _hugo_code(part: str, kind: str) -> str:
    del kind
    return _hugo(part, f"{{{INVISIBLE}{{")


def _wrapped(match: re.Match[str]) -> str:
    return f"{{{{</*{match[1]}*/>}}}}" if match[1] is not None else f"{{{{%/*{match[2]}*/%}}}}"


def _jekyll_text(part: str, kind: str) -> str:
    part = _DOLLARS.sub(r"\1\\$", _IAL.sub("{&#58;", part))
    if kind == "heading":
        part = _HEADING_END.sub(r"\1\\{", part)
    part = _ABBREVIATION.sub(r"\1\\*", _TERM.sub(r"\1\\:", part))
    if kind != "table":
        part = _PIPE.sub(r"\1\\|", part)
    return _NUMBER.sub(r"\1.", _BREAK.sub(r"\1  ", part))


def _jekyll_code(part: str, kind: str) -> str:
    """Escape kramdown extensions and attributes with event handlers: kramdown may not recognise the code as code."""
    del kind
    return _HANDLER.sub(f"{{{INVISIBLE}:", part)


def _astro_text(part: str, kind: str) -> str:
    if kind == "HTML":
        return part.replace("{", "&#123;").replace("}", "&#125;")
    part = _AUTOLINK.sub(lambda match: f"[{match[1].removeprefix('mailto:')}]({match[1]})", part)
    part = _TARGET.sub(lambda match: match[0].replace("{", "%7B").replace("}", "%7D"), part)
    part = "".join(map(_braces, _TAGS.split(part)))
    return _MODULE.sub(lambda match: f"&#{ord(match[0][0])};{match[0][1:]}", part) if kind == "paragraph" else part


def _braces(part: str) -> str:
    """Escape expressions: with entities in tags, where backslashes have no effect, and with backslashes elsewhere."""
    if _TAGS.fullmatch(part):
        return part.replace("{", "&#123;").replace("}", "&#125;")
    return _LESS.sub(r"\1\\<", _BRACES.sub(r"\1\\\2", part))


def _same(part: str, kind: str) -> str:
    del kind
    return part


_ESCAPES: Final[Mapping[Generator, tuple[Callable[[str, str], str], Callable[[str, str], str]]]] = MappingProxyType(
    {
        "hugo": (_hugo_text, _hugo_code),
        "jekyll": (_jekyll_text, _jekyll_code),
        "astro": (_astro_text, _same),
    }
)


@dataclass(frozen=True, slots=True)
class MarkdownCodec:
    """The codec for a generator's Markdown files. Implements `pressroom_content.contract.BodyCodec`."""

    generator: Generator

    def split(self, raw: str) -> Sequence[BodyBlock]:
        """Split a body into blocks."""
        pieces = pieces_of(raw)
        if pieces is None:
            return [BodyBlock(raw, "text")]
        targets = definitions(raw, pieces)
        return [self._block(raw, group, targets) for group in groups(raw, pieces, self.generator)]

    def join(self, sources: Sequence[str], original: str = "") -> str:
        """Join blocks into a body. Blocks that are not adjacent in the original are separated by an empty line."""
        if not sources:
            return "" if original.strip() else original
        before = [block.source for block in self.split(original)] if original else []
        adjacent = set(pairwise(before))
        parts = [sources[0]]
        for source, following in pairwise(sources):
            if (source, following) not in adjacent:
                parts.append(_gap(source, following))
            parts.append(following)
        return "".join(parts)

    def encode(self, html: str, markdown: str) -> Sequence[str]:
        """Convert a text to blocks. Raw HTML is kept except for Hugo, which does not render it by default."""
        html, markdown = (text.encode(errors="replace").decode() for text in (html, markdown))
        text = _NEWLINES.sub("\n", markdown).strip("\n")
        if not text.strip():
            return [f"{block}\n\n" for block in self._of_html(html) if block.strip()]
        pieces = pieces_of(text)
        if pieces is None:
            pieces = [MarkdownPiece(0, len(text), "text")]
        link_definitions = "\n".join(text[piece.start : piece.end] for piece in pieces if piece.kind == "definitions")
        blocks: list[str] = []
        for group in groups(text, pieces, None):
            blocks += self._encoded(text, group, link_definitions)
        return [f"{block.strip(chr(10))}\n\n" for block in blocks if block.strip()]

    def programs(self, raw: str) -> Sequence[str]:
        """Return the sources of blocks with code that the generator runs, such as shortcodes and components."""
        return [
            block.source.strip()
            for block in self.split(raw)
            if block.markdown is None and not block.name.startswith(_HARMLESS)
        ]

    def _encoded(self, text: str, group: BlockGroup, link_definitions: str) -> Iterator[str]:
        source = text[group.start : group.end]
        if is_more(source):
            yield source
        elif self.generator == "hugo" and any(has_html(text, piece) for piece in group.pieces):
            yield from self._of_html(_rendered(source, link_definitions))
        elif self.generator == "jekyll" and any(piece.html or _has_start(text, piece) for piece in group.pieces):
            yield escaped_liquid(_FRAGMENT.sub("\n", _kramdown_html(_rendered(source, link_definitions))))
        else:
            for piece in group.pieces:
                yield escaped(text, piece, self.generator) + (f"\n{piece.closer}" if piece.closer else "")

    def _of_html(self, html: str) -> Iterator[str]:
        for markdown, attributes in blocks_of(html):
            for piece in pieces_of(markdown) or (MarkdownPiece(0, len(markdown), "text"),):
                yield escaped(markdown, piece, self.generator) + (attributes if self.generator == "hugo" else "")

    def _block(self, raw: str, group: BlockGroup, targets: Mapping[str, tuple[str, str]]) -> BodyBlock:
        source = raw[group.start : group.end]
        if not group.name:
            markdown = "".join(_with_targets(raw, piece, targets) for piece in group.pieces)
            return BodyBlock(source, group.pieces[0].kind, markdown=self._shown(markdown))
        inner = without_raw(source.replace("\r\n", "\n")) if self.generator == "jekyll" else source
        if inner != source.replace("\r\n", "\n"):
            pieces = pieces_of(inner)
            parts = groups(inner, pieces, None) if pieces else ()
            if len(parts) == 1 and not parts[0].name:
                return BodyBlock(source, parts[0].pieces[0].kind, markdown=inner.strip("\n"))
        return BodyBlock(source, group.name)

    def _shown(self, text: str) -> str:
        return unescaped(_NEWLINES.sub("\n", text), self.generator).strip("\n").rstrip()


def _rendered(markdown: str, link_definitions: str) -> str:
    try:
        return render_body(f"{markdown.rstrip()}\n\n{link_definitions}", "markdown")
    except CallError:  # too complex to render
        return ""


def _kramdown_html(html: str) -> str:
    return html.replace("{:", "{&#58;")


def _with_targets(raw: str, piece: MarkdownPiece, targets: Mapping[str, tuple[str, str]]) -> str:
    """Inline the targets of a block's reference links, which are defined elsewhere in the file."""
    if not targets or piece.kind == "code":
        return raw[piece.start : piece.end]

    def inline(match: re.Match[str]) -> str:
        if match["escape"]:
            return match[0]
        target, title = targets.get(label_key(match["label"] or match["text"]), ("", ""))
        return f"{match['image']}[{match['text']}]({target}{' ' + title if title else ''})" if target else match[0]

    return "".join(part if code else _REFERENCE.sub(inline, part) for part, code in segments(raw, piece))


def _gap(before: str, after: str) -> str:
    """Return the separator between two blocks that were not adjacent."""
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


def _has_start(text: str, piece: MarkdownPiece) -> bool:
    """Return whether a list starts at a number other than 1, which kramdown only supports in HTML."""
    match = _START.match(text, piece.start) if piece.kind == "list" else None
    return match is not None and int(match[1]) != 1


def _is_ordered(source: str) -> bool:
    return _ORDERED.match(source.lstrip("\r\n")) is not None


def body_of(post: Post, generator: Generator, path: str) -> str:
    """Return the body of a post for its file, escaped so that the generator runs nothing in it."""
    if path.endswith(".html"):
        body = _NEWLINES.sub("\n", post.markdown).rstrip() + "\n"
        return escaped_html(body, generator)
    codec = MarkdownCodec(generator)
    return codec.join(codec.encode(post.html, post.markdown)).rstrip() + "\n"


def body_read(body: str, generator: Generator) -> str:
    """Return a body as readers see it, for comparison with the one sent."""
    return unescaped(without_raws(body) if generator == "jekyll" else body, generator)
