"""The operator's replacements for page templates, from the folder `[branding] templates`.

`base.html` there replaces that template of the host, `content/post.html` that of the plugin `content`. The folder is
read once, at the start. A faulty file is left out and reported, and pages use the original instead.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import stat
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final

import structlog

import pressroom
from pressroom.config.models import BrandingSettings
from pressroom.errors import PluginError
from pressroom.gate.deadlines import Overdue, alarm
from pressroom.gate.failures import one_line
from pressroom.sdk import PageTemplates
from pressroom.sdk.page_templates import BUILTIN_PREFIX, OperatorTemplate, TemplateOptions, TemplateTooLong
from pressroom.validation.echo import nearest

log = structlog.get_logger()

_PACKAGE: Final = Path(pressroom.__file__).parent
FRAME_FOLDER: Final = _PACKAGE / "http" / "templates"
"""Templates that every page of the host shares, also available as `web/…`."""

HOST_FOLDERS: Final = (
    FRAME_FOLDER,
    *(_PACKAGE / "interfaces" / part / "templates" for part in ("tools_api/pages", "dashboard", "oauth")),
)
FRAME_ALIAS: Final = "web"
HOST_FILTERS: Final = ("code", "paragraphs", "json_script")
"""Filters of the host's templates in addition to Jinja's own."""

STATIC: Final = "static"
MEDIA_TYPES: Final[Mapping[str, str]] = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".webp": "image/webp",
    ".ico": "image/x-icon",
    ".woff2": "font/woff2",
}
"""Media types of the files served from the folder `static`, by file extension."""

_MAX_TEMPLATE_BYTES: Final = 262_144
_MAX_STATIC_BYTES: Final = 4_194_304
MAX_FILES: Final = 1000
_MAX_DEPTH: Final = 4
_STATIC_NAME: Final = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}")
_COPIED: Final = re.compile(r"\{# Copied from (\S+) of pressroom \S+, ([0-9a-f]{16})")


@dataclass(frozen=True, slots=True)
class TemplateProblem:
    """A problem with an operator's file: its path, the line (0 if unknown), a message and a hint."""

    path: str
    message: str
    hint: str = ""
    line: int = 0

    def __str__(self) -> str:
        """Return the path, the line if known, and the message."""
        return f"{self.path}{f', line {self.line}' if self.line else ''}: {self.message}"


class TemplateFolder:
    """The operator's templates, style sheet and static files. `problems` lists the files left out, with the reasons.

    `changed` lists copies whose originals have changed, as pairs of file and template. `failures` counts rendering
    failures by template.
    """

    def __init__(self, settings: BrandingSettings) -> None:
        self.problems: list[TemplateProblem] = []
        self.changed: list[tuple[str, str]] = []
        self.failures: Counter[str] = Counter()
        self.static: dict[str, bytes] = {}
        self.stylesheet = self._read_stylesheet(settings.stylesheet)
        self._logged: set[tuple[str, str]] = set()
        self._files: dict[str, dict[str, OperatorTemplate]] = {}
        self._replaced: dict[str, dict[str, OperatorTemplate]] = {}
        self._originals: dict[str, dict[str, Path]] = {}
        if settings.templates is not None:
            self._read_folder(settings.templates)
        options = TemplateOptions(filters=dict.fromkeys(HOST_FILTERS, str), aliases={FRAME_ALIAS: FRAME_FOLDER})
        self._check("", HOST_FOLDERS, options)

    def of_plugin(self, plugin: str, folders: Sequence[Path]) -> PageTemplates:
        """Return the templates in these folders of a plugin, with the operator's replacements."""
        self._check(plugin, folders, TemplateOptions())
        return PageTemplates(folders, self._replaced[plugin], partial(self.note, plugin), interrupting=_interrupting)

    def of_host(self, folders: Sequence[Path], options: TemplateOptions) -> PageTemplates:
        """Return templates of the host, with the operator's replacements."""
        options = replace(options, aliases={FRAME_ALIAS: FRAME_FOLDER})
        return PageTemplates(folders, self._replaced[""], partial(self.note, ""), options, _interrupting)

    def settle(self) -> None:
        """Report folders for plugins that are unknown or have no templates. Call it after all plugins are loaded."""
        for owner in sorted(self._files.keys() - self._originals.keys()):
            first = min(self._files[owner].values(), key=lambda file: file.path)
            similar = nearest(owner, [plugin_id for plugin_id in self._originals if plugin_id])
            known = ", ".join(sorted(filter(None, self._originals))) or "none"
            hint = f"did you mean {similar}?" if similar else f"the plugins with templates are {known}"
            message = f"no plugin that is loaded has the id {owner!r} and templates"
            self.problems.append(TemplateProblem(str(Path(first.path).parent), message, hint))

    def originals(self) -> Iterator[tuple[str, Path, str]]:
        """Yield each replaceable template: its name, its file, and the operator's file or an empty string."""
        for owner, templates in sorted(self._originals.items()):
            for name, path in sorted(templates.items()):
                replacement = self._replaced[owner].get(name)
                yield (f"{owner}/{name}" if owner else name), path, replacement.path if replacement else ""

    def note(self, owner: str, template: str, error: BaseException) -> None:
        """Count a failure of an operator's template, and log each distinct one once with file and line."""
        lines = _lines_of(error, {file.path for file in self._replaced[owner].values()})
        path, line = lines[-1] if lines else ("", 0)
        name = f"{owner}/{template}" if owner else template
        self.failures[name] += 1
        text = one_line(error)
        if (name, text) not in self._logged and len(self._logged) < MAX_FILES:
            self._logged.add((name, text))
            log.error("a template of the operator failed", template=name, file=path, line=line, error=text)

    def _check(self, owner: str, folders: Sequence[Path], options: TemplateOptions) -> None:
        originals = {name: path for folder in reversed(folders) for name, path in _templates_in(folder)}
        self._originals[owner] = originals
        files = dict(self._files.get(owner, {}))
        while broken := self._broken(files, folders, options):
            for name, problem in broken.items():
                self.problems.append(problem)
                del files[name]
        self._replaced[owner] = files
        used = {name for file in files.values() for name in _names_in(file.source)}
        for name, file in files.items():
            if name not in originals and name not in used:
                similar = nearest(name, originals)
                hint = f"did you mean {similar}?" if similar else "`pressroom templates list` names them"
                self.problems.append(TemplateProblem(file.path, "no template has this name", hint))
            copied = _COPIED.match(file.source)
            if copied and name in originals and copied[2] != fingerprint(originals[name].read_text("utf-8")):
                self.changed.append((file.path, copied[1]))

    def _broken(
        self, files: Mapping[str, OperatorTemplate], folders: Sequence[Path], options: TemplateOptions
    ) -> dict[str, TemplateProblem]:
        if not files:
            return {}
        from jinja2 import TemplateError, TemplateSyntaxError  # noqa: PLC0415 - most operators have none

        templates, problems = PageTemplates(folders, files, None, options), {}
        for name, file in files.items():
            try:
                missing = [reference for reference in templates.referenced(name) if not templates.has(reference)]
            except TemplateSyntaxError as error:
                problems[name] = TemplateProblem(file.path, error.message or "wrong syntax", "correct it", error.lineno)
            except (TemplateError, RecursionError, ValueError) as error:
                problems[name] = TemplateProblem(file.path, one_line(error), "correct it")
            else:
                if missing:
                    hint = f"write {BUILTIN_PREFIX}/{name} for the one that it replaces"
                    message = f"it names {missing[0]!r}, which is not a template"
                    problems[name] = TemplateProblem(file.path, message, hint, _line_with(file.source, missing[0]))
        return problems

    def _read_stylesheet(self, path: Path | None) -> bytes:
        if path is None:
            return b""
        try:
            content = _read(path, None, _MAX_STATIC_BYTES)
            content.decode("utf-8")
        except (OSError, ValueError) as error:
            self.problems.append(TemplateProblem(str(path), _reason(error), "correct [branding] stylesheet"))
            return b""
        return content

    def _read_folder(self, folder: Path) -> None:
        try:
            root = folder.resolve(strict=True)
            os.scandir(root).close()
        except (OSError, RuntimeError) as error:
            hint = "create it, or correct [branding] templates"
            self.problems.append(TemplateProblem(str(folder), f"cannot be read: {_reason(error)}", hint))
            return
        for number, path in enumerate(self._walk(root)):
            if number == MAX_FILES:
                message = f"it has more than {MAX_FILES} files; the others are not read"
                self.problems.append(
                    TemplateProblem(str(folder), message, "name a folder that contains only templates")
                )
                return
            parts = path.relative_to(root).parts
            try:
                if parts[0] == STATIC and len(parts) > 1:
                    self._add_static(path, root, "/".join(parts[1:]))
                    continue
                source = _read(path, root, _MAX_TEMPLATE_BYTES).decode("utf-8")
            except (OSError, ValueError) as error:
                self.problems.append(TemplateProblem(str(path), _reason(error), "correct it, or remove it"))
                continue
            owner, name = (parts[0], "/".join(parts[1:])) if len(parts) > 1 else ("", parts[0])
            self._files.setdefault(owner, {})[name] = OperatorTemplate(source, str(path))

    def _add_static(self, path: Path, root: Path, name: str) -> None:
        if not _STATIC_NAME.fullmatch(name) or path.suffix.lower() not in MEDIA_TYPES:
            ends = ", ".join(MEDIA_TYPES)
            raise ValueError(f"it is not served: a name has letters, digits, - and _, and ends in one of {ends}")
        self.static[name] = _read(path, root, _MAX_STATIC_BYTES)

    def _walk(self, root: Path) -> Iterator[Path]:
        def unreadable(error: OSError) -> None:
            self.problems.append(TemplateProblem(str(error.filename), _reason(error), "check its permissions"))

        for folder, folders, files in os.walk(root, onerror=unreadable):
            folders[:] = sorted(folder for folder in folders if not folder.startswith("."))
            if len(Path(folder).relative_to(root).parts) >= _MAX_DEPTH:
                for name in folders:
                    message = f"folders deeper than {_MAX_DEPTH} levels are not read"
                    self.problems.append(TemplateProblem(str(Path(folder) / name), message, "move its files up"))
                folders.clear()
            for name in folders:
                if (Path(folder) / name).is_symlink():
                    message = "a symbolic link to a folder is not followed"
                    self.problems.append(TemplateProblem(str(Path(folder) / name), message, "copy the folder"))
            yield from (Path(folder) / name for name in sorted(files) if not name.startswith("."))


def folders_of(packages: Sequence[str]) -> tuple[Path, ...]:
    """Return the `templates` folders of these packages.

    Raises:
        PluginError: a package does not exist, or has no such folder.
    """
    folders = []
    for package in packages:
        try:
            spec = importlib.util.find_spec(package)
        except (ImportError, ValueError):
            spec = None
        candidates = (
            [Path(location) / "templates" for location in (spec.submodule_search_locations or ())] if spec else []
        )
        folder = next((candidate for candidate in candidates if candidate.is_dir()), None)
        if folder is None:
            raise PluginError(
                f"templates names {package!r}, which is not a package with a folder `templates`",
                hint="name a package, such as __package__, and make the folder in it",
            )
        folders.append(folder)
    return tuple(folders)


def fingerprint(source: str) -> str:
    """Return a hash for detecting changes of a template."""
    return hashlib.sha256(source.encode()).hexdigest()[:16]


def _templates_in(folder: Path) -> Iterator[tuple[str, Path]]:
    for path in folder.rglob("*.*"):
        if path.is_file() and not path.name.startswith("."):
            yield path.relative_to(folder).as_posix(), path


def _names_in(source: str) -> Iterator[str]:
    for match in re.finditer(r"""\{%-?\+?\s*(?:extends|include|import|from)\s+["']([^"']+)["']""", source):
        yield match[1]


def _line_with(source: str, text: str) -> int:
    return source[: max(0, source.find(text))].count("\n") + 1


def _lines_of(error: BaseException, paths: set[str]) -> list[tuple[str, int]]:
    """Return the operator's files and lines in an exception's traceback, innermost last."""
    positions, traceback = [], error.__traceback__
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename in paths:
            # Jinja corrects the line numbers of generated code only for subclasses of `Exception`.
            compiled, line = traceback.tb_frame.f_globals.get("__jinja_template__"), traceback.tb_lineno
            line = compiled.get_corresponding_lineno(line) if compiled is not None else line
            positions.append((traceback.tb_frame.f_code.co_filename, line))
        traceback = traceback.tb_next
    return positions or (_lines_of(error.__cause__, paths) if error.__cause__ is not None else [])


@contextmanager
def _interrupting(seconds: float) -> Iterator[None]:
    """Interrupt the rendering of a template after it has blocked the event loop for `seconds`.

    Raises:
        TemplateTooLong: the time is up.
    """

    def give_up() -> None:
        log.error("a template of the operator cannot be interrupted; the process is ended", seconds=seconds)

    try:
        with alarm(seconds, give_up):
            yield
    except Overdue as error:
        raise TemplateTooLong(f"it takes more than {seconds:g} s") from error


def _read(path: Path, root: Path | None, max_bytes: int) -> bytes:
    """Return the content of a regular file below `root`, or anywhere if that is `None`.

    Raises:
        OSError: the file cannot be read.
        ValueError: it is not a regular file, is larger than `max_bytes` bytes, or is a symbolic link out of the folder.
    """
    if root is not None and not path.resolve(strict=True).is_relative_to(root):
        raise ValueError("it is a symbolic link that leads out of the folder")
    # Without O_NONBLOCK, opening a named pipe blocks until there is a writer.
    with os.fdopen(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise ValueError("it is not a regular file")
        content = file.read(max_bytes + 1)
    if len(content) > max_bytes:
        raise ValueError(f"it is larger than {max_bytes // 1024} KiB")
    return content


def _reason(error: Exception) -> str:
    if isinstance(error, UnicodeDecodeError):
        return "it is not UTF-8"
    return error.strerror or str(error) if isinstance(error, OSError) else str(error)
