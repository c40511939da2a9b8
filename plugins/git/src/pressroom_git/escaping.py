"""Text and code that no generator runs, each in the way that the generator shows as it was written."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from pressroom_git.front_matter import Generator
from pressroom_git.markdown_blocks import MarkdownPiece, segments

_SHORTCODE = re.compile(r"\{\{(?:<((?:(?!\{\{|>\}\}).)*+)>|%((?:(?!\{\{|%\}\}).)*+)%)\}\}", re.DOTALL)
_OPEN = re.compile(r"\{\{(?=[<%](?!/\*))")
_WRAPPED = re.compile(r"\{\{(?:</\*((?:(?!\{\{|\*/>\}\}).)*+)\*/>|%/\*((?:(?!\{\{|\*/%\}\}).)*+)\*/%)\}\}", re.DOTALL)
_BARE_COMMENT = re.compile(r"\{\{(?=(?:</\*(?!(?:(?!\{\{).)*?\*/>\}\})|%/\*(?!(?:(?!\{\{).)*?\*/%\}\})))", re.DOTALL)
_EVEN: Final = r"(?<!\\)((?:\\\\)*+)"
"""Backslashes that leave what follows them as it is."""

_HEADING_END = re.compile(rf"{_EVEN}\{{(?=[^{{}}\n]*\}}[ \t]*$)", re.MULTILINE)
_LINE_ATTRIBUTES = re.compile(r"^((?:[ \t>]|[-+*][ \t]|\d{1,9}[.)][ \t])*+)\{", re.MULTILINE)
_TERM = re.compile(r"^([ \t>]*+):(?=[ \t])", re.MULTILINE)
_ABBREVIATION = re.compile(r"^([ \t]*+)\*(?=\[[^\]\n]*\]:)", re.MULTILINE)
_PIPE = re.compile(rf"{_EVEN}\|")
_DOLLARS = re.compile(rf"{_EVEN}(?:\$(?=\$)|(?<=\$)\$)")
_BREAK = re.compile(r"(?<!\\)((?:\\\\)*+)\\(?=\n)")
_NUMBER = re.compile(r"^((?:[ \t>]|[-+*][ \t])*+\d{1,9})\)(?=[ \t])", re.MULTILINE)
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
_RAW_LINES = re.compile(r"^\{% raw %\}\n((?:(?!\{% (?:end)?raw).)*+)\{% endraw %\}$", re.DOTALL | re.MULTILINE)

INVISIBLE: Final = "\u200b"
"""What is between the characters of code that would begin a shortcode without an end, or attributes of kramdown: code
shows entities as they are written, so there is no other way to write them."""


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
