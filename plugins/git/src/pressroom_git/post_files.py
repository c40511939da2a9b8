"""Post files: front matter and body. Edits preserve all unchanged parts byte for byte.

Conversion between files and posts runs in worker processes.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise
from typing import Any, Final, Self

import tomli_w
import yaml
from pressroom_content.contract import Post, RemotePost, SiteRefused

from pressroom_git.bodies import MarkdownCodec, body_of, body_read, without_raws
from pressroom_git.front_matter import (
    LIQUID,
    MARKER,
    Format,
    changes_of,
    front_of,
    has_image,
    is_live,
    text,
    with_state,
)
from pressroom_git.layout import SiteLayout
from pressroom_git.repository import MAX_FILE_BYTES, File

_MAX_LENGTH: Final = 65_536
_MAX_LINES: Final = 2000
_MAX_VALUE_LINES: Final = 200
_YAML = re.compile(
    r"(?P<open>\ufeff?---[ \t]*\r?\n)(?P<front>.*?)(?P<close>(?<=\n)---[ \t]*(?:\r?\n[\r\n]*|\Z))", re.DOTALL
)
_TOML = re.compile(
    r"(?P<open>\ufeff?\+\+\+[ \t]*\r?\n)(?P<front>.*?)(?P<close>(?<=\n)\+\+\+[ \t]*(?:\r?\n[\r\n]*|\Z))", re.DOTALL
)
_OTHER_BREAKS: Final = frozenset("\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029")
_TOML_KEY = re.compile(r"[ \t]*(?:\"[^\"\\\r\n]*\"|'[^'\r\n]*'|[\w-]+)[ \t]*=")
_TOML_TABLE = re.compile(r"[ \t]*\[")

Lines = tuple[int, int]


@dataclass(frozen=True, slots=True)
class PostFile:
    """A parsed post file: delimiters with the empty lines after them, front matter, and body.

    `text` is the source of the front matter, `front` its members. A file without front matter has an empty `opening`.
    """

    opening: str
    text: str
    closing: str
    front: Mapping[str, Any]
    body: str
    form: Format = "yaml"

    @classmethod
    def of(cls, content: bytes) -> Self:
        """Parse a file. Invalid front matter is treated as part of the body."""
        source = content.decode("utf-8", "surrogateescape")
        patterns: tuple[tuple[re.Pattern[str], Format], ...] = ((_YAML, "yaml"), (_TOML, "toml"))
        for pattern, form in patterns:
            match = pattern.match(source)
            if match is not None and len(match["front"]) <= _MAX_LENGTH:
                front = _parsed(match["front"], form)
                if front is not None:
                    return cls(match["open"], match["front"], match["close"], front, source[match.end() :], form)
        return cls("", "", "", {}, source)

    @classmethod
    def new(cls, front: Mapping[str, Any], body: str, form: Format) -> Self:
        """Create a file. Members that are `None` are omitted."""
        line = "+++\n" if form == "toml" else "---\n"
        return cls(line, _dumped(front, form), f"{line}\n", _without_none(front), body, form)

    @property
    def readable(self) -> bool:
        """Whether the file is valid UTF-8; other files cannot be edited."""
        return not _has_surrogates(self.opening + self.text + self.body)

    @property
    def content(self) -> bytes:
        """The bytes of the file."""
        return f"{self.opening}{self.text}{self.closing}{self.body}".encode("utf-8", "surrogateescape")

    def with_body(self, body: str) -> Self:
        """Return a copy with another body."""
        return replace(self, body=_cleaned(body))

    def with_front(self, changes: Mapping[str, Any]) -> Self:
        """Return a copy with these members of the front matter set; `None` removes one.

        Other members, comments and the order are preserved, unless the front matter cannot be edited line by line, such
        as a flow mapping in braces: then it is rewritten.
        """
        changed = {name: _cleaned(value) for name, value in changes.items()}
        changed = {name: value for name, value in changed.items() if value != self.front.get(name)}
        if not changed:
            return self
        front = {**self.front, **changed}
        front = {name: value for name, value in front.items() if value is not None}
        if not self.opening:
            return replace(self.new(front, "", self.form), body=self.body)
        text = _edited(self.text, changed, self.form)
        if text is None or _parsed(text, self.form) != _parsed(_dumped(front, self.form), self.form):
            text = _dumped(front, self.form)
        return replace(self, text=text, front=front)


def _edited(text: str, changes: Mapping[str, Any], form: Format) -> str | None:
    """Edit the lines of some members of front matter; `None` if it cannot be edited line by line."""
    lines = text.splitlines(keepends=True)
    if len(lines) > _MAX_LINES or "\r" in text.replace("\r\n", "") or not _OTHER_BREAKS.isdisjoint(text):
        return None
    line_ranges = _toml_line_ranges(lines) if form == "toml" else _yaml_line_ranges(text, lines)
    if line_ranges is None:
        return None
    newline = "\r\n" if "\r\n" in text else "\n"
    new: list[str] = []
    edits: list[tuple[Lines, str]] = []
    for name, value in changes.items():
        dumped = "" if value is None else _dumped({name: value}, form).replace("\n", newline)
        if name in line_ranges:
            edits.append((line_ranges[name], dumped))
        elif dumped:
            new.append(dumped)
    for (first, last), dumped in sorted(edits, reverse=True):
        lines[first:last] = [dumped]
    if form == "toml":  # members after a table header would belong to that table
        at = next((number for number, line in enumerate(lines) if _TOML_TABLE.match(line)), len(lines))
        return "".join([*lines[:at], *new, *lines[at:]])
    return "".join([*lines, *new])


def _yaml_line_ranges(text: str, lines: Sequence[str]) -> Mapping[str, Lines] | None:
    try:
        root = yaml.compose(text, Loader=PlainLoader)
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
    if root is None:
        return {}
    if not isinstance(root, yaml.MappingNode) or root.flow_style or root.start_mark.column:
        return None
    starts = [key.start_mark.line for key, _ in root.value]
    names = [key.value for key, _ in root.value if isinstance(key, yaml.ScalarNode)]
    if len(names) != len(starts) or len(set(names)) != len(names) or len(set(starts)) != len(starts):
        return None
    line_ranges = {}
    for name, (first, following) in zip(names, pairwise([*starts, len(lines)]), strict=True):
        last = following
        while last > first + 1 and (not lines[last - 1].strip() or lines[last - 1].startswith(("#", "..."))):
            last -= 1  # comments above the next member belong to that
        line_ranges[name] = (first, last)
    return line_ranges


def _toml_line_ranges(lines: Sequence[str]) -> Mapping[str, Lines] | None:
    line_ranges: dict[str, Lines] = {}
    at = 0
    while at < len(lines) and not _TOML_TABLE.match(lines[at]):
        if not _TOML_KEY.match(lines[at]):
            at += 1
            continue
        for end in range(at + 1, min(len(lines), at + _MAX_VALUE_LINES) + 1):
            read = _parsed("".join(lines[at:end]), "toml")
            if read is not None:
                break
        else:
            return None
        if len(read) != 1:
            return None
        line_ranges[next(iter(read))] = (at, end)
        at = end
    return line_ranges


def _dumped(front: Mapping[str, Any], form: Format) -> str:
    members = _without_none(front)
    if form == "toml":
        return tomli_w.dumps(members) if members else ""
    if not members:
        return ""
    dumped: str = yaml.safe_dump(members, allow_unicode=True, sort_keys=False, width=1000, default_flow_style=False)
    return dumped


def _without_none(front: Mapping[str, Any]) -> dict[str, Any]:
    return {_clean(name): _cleaned(value) for name, value in front.items() if value is not None}


def _parsed(front: str, form: Format) -> dict[str, Any] | None:
    front = front.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    try:
        if form == "toml":
            read: Any = tomllib.loads(front.replace("\r\n", "\n"))
        else:
            read = yaml.load(front, Loader=PlainLoader)  # noqa: S506 - a subclass of SafeLoader
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
    if read is None and not front.strip():
        return {}
    return {name: value for name, value in read.items() if isinstance(name, str)} if isinstance(read, dict) else None


class PlainLoader(yaml.SafeLoader):
    """A YAML loader that rejects aliases, which can expand to more data than fits in memory."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        """Compose a node. Raises `yaml.YAMLError` for an alias."""
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("aliases are not supported in front matter")
        return super().compose_node(parent, index)


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return _clean(value)
    if isinstance(value, list):
        return [_cleaned(element) for element in value if element is not None]
    if isinstance(value, dict):
        return {_clean(str(name)): _cleaned(member) for name, member in value.items() if member is not None}
    return value


def _clean(value: str) -> str:
    """Replace lone surrogates, which UTF-8 cannot encode."""
    return value.encode("utf-8", "replace").decode()


def _has_surrogates(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return True
    return False


def new_file(layout: SiteLayout, shared: bool, post: Post, path: str, now: datetime) -> bytes:
    """Return the content of a new draft's file. Raises `SiteRefused`."""
    front = with_state(front_of(post, layout.generator), layout.generator, live=False, now=now)
    body = _body(layout, shared, post, path, PostFile.of(b""))
    return bounded(PostFile.new(front, body, layout.form).content)


def changed_file(layout: SiteLayout, shared: bool, post: Post, path: str, existing: File) -> bytes:
    """Update a file with a post, keeping its state and the members that users added. Raises `SiteRefused`."""
    file = _editable(path, existing)
    body = _body(layout, shared, post, path, file)
    fields = layout.fields(file.front, path)
    return file.with_front(changes_of(post, fields, layout.generator)).with_body(body).content


def file_in_state(layout: SiteLayout, path: str, existing: File, live: bool, now: datetime) -> tuple[bytes, str]:
    """Set the state of a file's post to live or draft. Returns content and post title. Raises `SiteRefused`."""
    file = _editable(path, existing)
    updated = file.with_front(with_state(file.front, layout.generator, live=live, now=now))
    return updated.content, _title(path, file)


def title_of(path: str, existing: File) -> str:
    """Return the title of a file's post, or its path. The file may have any encoding."""
    return _title(path, PostFile.of(existing.content))


def _title(path: str, file: PostFile) -> str:
    return text(file.front.get("title")).encode("utf-8", "replace").decode() or path


def posts_of(layout: SiteLayout, url: str, files: Sequence[tuple[str, File]]) -> list[RemotePost]:
    """Convert files, given with their paths, to posts."""
    return [_post(layout, url, path, file) for path, file in files]


def bounded(content: bytes) -> bytes:
    """Return the content unchanged. Raises `SiteRefused` if it is too large."""
    if len(content) > MAX_FILE_BYTES:
        raise SiteRefused(f"the file would have {len(content)} bytes; at most {MAX_FILE_BYTES} are allowed")
    return content


def _body(layout: SiteLayout, shared: bool, post: Post, path: str, existing: PostFile) -> str:
    """Return the body of a post for its file. Raises `SiteRefused` if it may not be written there."""
    body = _raw(layout, shared, post, path, existing) if post.raw else body_of(post, layout.generator, path)
    return without_raws(body) if existing.front.get(LIQUID) is False else body


def _raw(layout: SiteLayout, shared: bool, post: Post, path: str, existing: PostFile) -> str:
    if path.endswith(".html"):
        raise SiteRefused(f"{path} is an HTML file, whose blocks cannot be distinguished; edit it in the repository")
    if shared or path.endswith(".mdx"):
        codec = MarkdownCodec(layout.generator)
        known = set(codec.programs(existing.body))
        if any(program not in known for program in codec.programs(post.raw)):
            raise SiteRefused(
                f"{path} would gain a block that the generator runs as a program",
                hint="Blocks such as shortcodes are kept where they are; write new ones in the repository.",
            )
    return post.raw


def _editable(path: str, file: File) -> PostFile:
    read = PostFile.of(file.content)
    if not read.readable:
        raise SiteRefused(f"{path} is not UTF-8, so it was not changed", hint="Save it as UTF-8, then try again.")
    return read


def _post(layout: SiteLayout, url: str, path: str, file: File) -> RemotePost:
    read, generator = PostFile.of(file.content), layout.generator
    front, raw = read.front, read.body if read.readable and not path.endswith(".html") else ""
    return RemotePost(
        id=path,
        url=layout.url(url, front, path),
        state="live" if is_live(front, generator) else "draft",
        revision=file.sha,
        html=body_read(read.body.encode("utf-8", "surrogateescape").decode("utf-8", "replace"), generator),
        fields=layout.fields(front, path),
        featured=has_image(front),
        marker=text(front.get(MARKER)),
        updated_at=layout.date(front, path),
        raw=raw,
    )
