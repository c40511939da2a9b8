"""Find words in prose that this project avoids, and suggest replacements.

Run it from the root of the repository: `python tests/support/words.py [FILE...]`. It reads documentation, templates,
and the docstrings, comments and strings of programs; code in backticks and examples are not prose. In the names that
programs and tests define, it looks for words of their own list. The words are in `words.toml`, with a reason for each
exception.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
LIST: Final = Path(__file__).with_name("words.toml")

_SOURCES: Final = (
    "*.md",
    "docs/**/*.md",
    "core/src/**/*.py",
    "core/src/**/*.html",
    "plugins/*/src/**/*.py",
    "plugins/*/src/**/*.html",
    "plugins/*/README.md",
    "plugin-template/**/*",
)
_SKIPPED: Final = ("docs/site/*",)
_TESTS: Final = "tests/**/*.py"  # only their names are checked

_BLOCK: Final = re.compile(r"^(`{3,}|~{3,}).*?^\1", re.MULTILINE | re.DOTALL)
_NOT_PROSE: Final = re.compile(
    r"<!-- begin ([\w-]+) -->.*?<!-- end \1 -->"  # generated from programs, which are checked themselves
    r"|``.*?``|`[^`]*`"  # code
    r"|<!--.*?-->"  # comments
    r"|(?<=\])\([^()\s]*\)|(?<=\])\[[^\]]*\]"  # link targets
    r"|https?://\S+"
    r"|\{:?\s*\.[^}]*\}"  # Markdown attributes
    r"|^\s*\w+:(?=\s)",  # argument names in docstrings
    re.DOTALL | re.MULTILINE,
)
_NOT_TEXT: Final = re.compile(r"\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}|<(script|style)\b.*?</\1>", re.DOTALL)
_PLACEHOLDER: Final = re.compile(r"\{\{ cookiecutter.*?\}\}")
_STATEMENT: Final = re.compile(r"\{%.*?%\}")
_TAG: Final = re.compile(r"<[^>]*>", re.DOTALL)
_NAME_PART: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_SPOKEN: Final = re.compile(r"\b(?:alt|title|aria-label|placeholder|content)=\"([^\"]*)\"")


@dataclass(frozen=True, slots=True)
class Word:
    """A word to avoid."""

    pattern: re.Pattern[str]
    write: str


@dataclass(frozen=True, slots=True)
class Allowance:
    """An allowed use of a word, restricted to `paths`."""

    pattern: re.Pattern[str]
    paths: Sequence[str]


class WordList:
    """The words of `words.toml`, with the exceptions."""

    def __init__(self, text: str) -> None:
        document = tomllib.loads(text)
        self.words = [
            Word(re.compile(entry["pattern"], re.IGNORECASE), entry.get("write", "")) for entry in document["word"]
        ]
        self._exceptions = [
            Allowance(re.compile(allowance["text"], re.IGNORECASE), allowance.get("paths", ("*",)))
            for allowance in document.get("allow", ())
        ]
        self._in_names = {word: entry["write"] for entry in document.get("name", ()) for word in entry["words"]}
        self._allowed_names = [
            (frozenset(allowance["names"]), allowance.get("paths", ("*",)))
            for allowance in document.get("allow_name", ())
        ]

    def found_in(self, text: str, path: str) -> Iterator[tuple[int, str, str]]:
        """Yield position, text and replacement of each word to avoid."""
        allowed = [
            match.span()
            for exception in self._exceptions
            if _matches(path, exception.paths)
            for match in exception.pattern.finditer(text)
        ]
        for word in self.words:
            for match in word.pattern.finditer(text):
                if not any(start <= match.start() and match.end() <= end for start, end in allowed):
                    yield match.start(), match[0], word.write

    def found_in_name(self, name: str, path: str) -> Iterator[tuple[str, str]]:
        """Yield each word to avoid of an identifier, and its replacement."""
        if not any(name in names and _matches(path, globs) for names, globs in self._allowed_names):
            for word in _NAME_PART.findall(name):
                if word.lower() in self._in_names:
                    yield word, self._in_names[word.lower()]


def _matches(path: str, globs: Iterable[str]) -> bool:
    return any(fnmatchcase(path, glob) for glob in globs)


def blank(text: str, pattern: re.Pattern[str]) -> str:
    """Replace each match by spaces, preserving lines and columns."""
    return pattern.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def prose_of_markdown(text: str) -> Iterator[tuple[int, str]]:
    """Yield the prose of a page with its first line number."""
    yield 1, blank(blank(text, _BLOCK), _NOT_PROSE)


def prose_of_template(text: str) -> Iterator[tuple[int, str]]:
    """Yield the text of a template that readers see or hear."""
    known = blank(text, _NOT_TEXT)
    yield 1, blank(known, _TAG)
    for match in _SPOKEN.finditer(known):
        yield known.count("\n", 0, match.start()) + 1, match[1]


def prose_of_program(text: str) -> Iterator[tuple[int, str]]:
    """Yield docstrings, comments and the prose strings of a program: those with more than one word."""
    try:
        ast.parse(text)
    except SyntaxError:  # the program is a template
        text = _PLACEHOLDER.sub(lambda match: "x" * len(match[0]), _STATEMENT.sub("", text))
    comment: list[str] = []
    start, before = 0, -1
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            if token.start[0] != before + 1:
                yield start, blank("\n".join(comment), _NOT_PROSE)
                comment, start = [], token.start[0]
            comment.append(token.string)
            before = token.start[0]
    yield start, blank("\n".join(comment), _NOT_PROSE)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value.strip():
            yield node.lineno, blank(node.value, _NOT_PROSE)


def names_of_program(text: str) -> Iterator[tuple[int, str]]:
    """Yield the identifiers that a program defines, with their line numbers."""
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield node.lineno, name
            case ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield node.lineno, name


_READERS: Final = {".md": prose_of_markdown, ".html": prose_of_template, ".py": prose_of_program}


def sources() -> Iterator[Path]:
    """Yield the files with prose for readers, and the tests."""
    for glob in (*_SOURCES, _TESTS):
        for file in sorted(ROOT.glob(glob)):
            path = str(file.relative_to(ROOT))
            if file.is_file() and not _matches(path, _SKIPPED):
                yield file


def check(file: Path, words: WordList, root: Path = ROOT) -> Iterator[str]:
    """Yield a line for each word found in a file below `root`."""
    path, text = str(file.relative_to(root)), file.read_text(encoding="utf-8")
    if not fnmatchcase(path, "tests/*"):
        yield from _check_prose(text, path, words)
    if _has_names(path):
        for line, name in names_of_program(text):
            for phrase, write in words.found_in_name(name, path):
                yield f"{path}:{line}: {phrase!r} in the name {name!r}: write {write}"


def _check_prose(text: str, path: str, words: WordList) -> Iterator[str]:
    reader = _READERS.get(Path(path).suffix.removesuffix(".jinja"), prose_of_markdown)
    for start_line, prose in reader(text):
        for position, phrase, write in words.found_in(prose, path):
            line = start_line + prose.count("\n", 0, position)
            quoted = " ".join(phrase.split())
            yield f"{path}:{line}: {quoted!r}: " + (f"write {write}" if write else "say it another way")


def _has_names(path: str) -> bool:
    """Return whether a file is a program of the project or a test, but neither a template nor a migration."""
    return _matches(path, ("*/src/*.py", "tests/*.py")) and "{{" not in path and "/migrations/versions/" not in path


def main(arguments: Sequence[str]) -> int:
    """Check the given files, or all, and return the exit status."""
    words = WordList(LIST.read_text(encoding="utf-8"))
    files = [Path(argument).resolve() for argument in arguments] or list(sources())
    problems = [line for file in files for line in check(file, words)]
    sys.stdout.writelines(f"{line}\n" for line in problems)
    if problems:
        sys.stdout.write(
            f"{len(problems)} words to replace; the list, and exceptions with their reasons, are in {LIST.name}\n"
        )
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
