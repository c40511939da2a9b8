"""Bodies of markdown files, taken apart and put together: the codec of the platform.

Text and code that no generator should run are escaped, each in the way that the generator shows as it was written.
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
"""Backslashes that leave what follows them as it is."""

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
_SHOWN_LIQUID = re.compile(r'\{\{ "(\{[{%])" \}\}')
_RAW = re.compile(r"\{%-?\s*(?:end)?raw\b")
_RAW_BLOCK = re.compile(r"(\s*)\{% raw %\}\n(.*)\n\{% endraw %\}(\s*)", re.DOTALL)
_RAW_LINES = re.compile(r"^\{% raw %\}\n((?>.*?(?=\{% (?:end)?raw)))\{% endraw %\}$", re.DOTALL | re.MULTILINE)

INVISIBLE: Final = "\u200b"
"""What is between the characters of code that would begin a shortcode without an end, or attributes of kramdown: code
shows entities as they are written, so there is no other way to write them."""

_NEWLINES = re.compile(r"\r\n?")
_LINE_ENDS = re.compile(r"\r\n?|\n")
_END_OF_LINE = re.compile(r"[\r\n]\Z")
_REFERENCE = re.compile(
    r"(?P<escape>\\.)|(?P<image>!?)\[(?P<text>(?>(?:[^\[\]\\]++|\\.)*))\](?:\[(?P<label>(?>(?:[^\[\]\\]++|\\.)*))\])?(?![(:])",
    re.DOTALL,
)
_HARMLESS: Final = ("HTML", "link definitions", "more")
_MARK: Final = "<!-- -->\n\n"
"""What keeps a block apart from the one before it, which would take it in."""

_INDENTED = re.compile(r"(?: {4}|\t)")
_ORDERED = re.compile(r" {0,3}\d{1,9}[.)]")
_START = re.compile(r"\s*(\d{1,9})[.)]")
_FRAGMENT = re.compile(r"\n\s*\n")


def escaped(text: str, piece: MarkdownPiece, generator: Generator) -> str:
    """Return a block as markdown that the generator shows as it was written."""
    in_text, in_code = _ESCAPES[generator]
    parts = [(in_code if code else in_text)(part, piece.kind) for part, code in segments(text, piece)]
    made = "".join(parts).strip("\n")
    return _raw(made) if generator == "jekyll" else made


def unescaped(text: str, generator: Generator) -> str:
    """Return what readers see of a block of this generator: `escaped` backwards, as far as it matters to people."""
    if generator == "hugo":
        return _WRAPPED.sub(_bare, text).replace("{&#123;", "{{").replace(f"{{{INVISIBLE}{{", "{{")
    if generator == "jekyll":
        return without_raw(text).replace(f"{{{INVISIBLE}:", "{:")
    return text


def _bare(match: re.Match[str]) -> str:
    return "{{<" + match[1] + ">}}" if match[1] is not None else "{{%" + match[2] + "%}}"


def without_raw(text: str) -> str:
    """Return a block without the tags of Liquid that `escaped` put around it."""
    found = _RAW_BLOCK.fullmatch(text)
    if found is None:
        return _SHOWN_LIQUID.sub(r"\1", text)
    return text if _RAW.search(found[2]) else f"{found[1]}{found[2]}{found[3]}"


def without_raws(body: str) -> str:
    """Return a body for a file in which Liquid is switched off, without the tags around blocks."""
    return _SHOWN_LIQUID.sub(r"\1", _RAW_LINES.sub(r"\1", body))


def liquid_shown(text: str) -> str:
    """Return HTML in which Liquid runs nothing."""
    return _raw(text.strip("\n"))


def html_shown(html: str, generator: Generator) -> str:
    """Return a body of HTML in which no shortcodes, no Liquid and no attributes of kramdown run."""
    if generator == "hugo":
        return _hugo(html, "{&#123;")
    return f"{_raw(_HANDLER.sub('{&#58;', html).rstrip())}\n" if generator == "jekyll" else html


def _raw(text: str) -> str:
    if not _LIQUID.search(text):
        return text
    if _RAW.search(text):  # a text about Liquid: its own tag would end the one around it
        return _LIQUID.sub(lambda match: f'{{{{ "{match[0]}" }}}}', text)
    return f"{{% raw %}}\n{text}\n{{% endraw %}}"


def _hugo(part: str, instead: str) -> str:
    """Return a part of a text without shortcodes: each in a comment, or with other braces where it has no end."""
    return _BARE_COMMENT.sub(instead, _OPEN.sub(instead, _SHORTCODE.sub(_wrapped, part)))


def _hugo_text(part: str, kind: str) -> str:
    part = _hugo(part, "{&#123;")
    if kind == "heading":
        part = _HEADING_END.sub(r"\1\\{", part)
    return _TERM.sub(r"\1\\:", _LINE_ATTRIBUTES.sub(_brace, part))


def _brace(match: re.Match[str]) -> str:
    """Return the beginning of a line with a brace that begins no attributes; that of a shortcode stays."""
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
    """Return code. kramdown and this program may differ on where code is, so lists of handlers never stay in it."""
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
    """Return a part of a text without expressions: backslashes mean nothing in tags."""
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
        elif self.generator == "jekyll" and any(piece.html or _has_start(text, piece) for piece in group.pieces):
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


def _has_start(text: str, piece: MarkdownPiece) -> bool:
    """Tell whether a list begins at another number than 1, which kramdown shows in HTML only."""
    found = _START.match(text, piece.start) if piece.kind == "list" else None
    return found is not None and int(found[1]) != 1


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
