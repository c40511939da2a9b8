"""Language detection by file name, first line, or characteristic patterns."""

from __future__ import annotations

import json
import re
from typing import Final

from pygments.lexers import find_lexer_class_for_filename

from pressroom_code_to_image.highlight import data as sessions
from pressroom_code_to_image.names import PLAIN, language_of

_FILE_NAME: Final = re.compile(r"[\w.@+-]+\.[A-Za-z][\w+-]{0,9}|Dockerfile|Makefile")
_SHEBANG: Final = re.compile(r"#!\s*(?:\S*/env\s+(?:-S\s+)?)?(?:\S*/)?([a-z]+)[\d.]*(?:\s|$)")
_INTERPRETERS: Final = {"sh": "bash", "zsh": "bash", "ksh": "bash", "dash": "bash", "node": "javascript",
                        "deno": "typescript", "bun": "typescript", "rscript": "r", "pwsh": "powershell"}  # fmt: skip
_MIN_SCORE: Final = 2

_SIGNS: Final = {
    "html": [
        (20, r"(?i)\A\s*<!doctype html"),
        (2, r"(?i)</?(?:html|body|div|span|head|script|ul|table|button|form)\b[^>]*>"),
    ],
    "xml": [
        (4, r"\A\s*<\?xml\b"),
        (1, r"\A\s*<[a-z][\w:-]*[^>]*\bxmlns\b"),
    ],
    "php": [
        (5, r"<\?php\b|<\?="),
    ],
    "css": [
        (2, r"(?m)^\s*[.#]?[\w-]+[^;{}()=]*\{\s*$(?=\s*[\w-]+\s*:[^=]*;)"),
        (2, r"@media\b|:root\b|@import url|@keyframes\b"),
        (1, r"(?m)^\s*(?:color|margin|padding|display|background|font[\w-]*|border)\s*:\s*[^=]+;"),
        (2, r"[.#]?[\w-]+\s*\{\s*(?:[\w-]+\s*:\s*[^;{}]+;\s*)+\}"),
    ],
    "scss": [
        (3, r"(?m)^\s*(?:@mixin|@include|@use)\b"),
        (2, r"(?m)^\s*\$[\w-]+\s*:\s*[^;]+;"),
    ],
    "sql": [
        (3, r"(?im)^\s*(?:select\b[\s\S]+?\bfrom|with\s+\w+\s+as\s*\()\b"),
        (
            3,
            r"(?im)^\s*(?:insert\s+into|update\s+\S+\s+set|create\s+(?:table|index|view)|delete\s+from|alter\s+table)\b",
        ),
    ],
    "python": [
        (3, r"(?m)^\s*(?:async\s+)?def\s+\w+\(.*\)\s*(?:->.*)?:\s*(?:#.*)?$"),
        (3, r"(?m)^\s*class\s+\w+(?:\(.*\))?:\s*$"),
        (2, r"(?m)^from\s+[\w.]+\s+import\s"),
        (1, r"(?m)^import\s+[\w.]+(?:\s+as\s+\w+)?\s*$"),
        (2, r"(?m)^\s*(?:if|for|while|elif|with|try|except)\b.*:\s*$"),
        (1, r"\bself\.|\bNone\b|\bTrue\b|\bprint\("),
        (1, r"\bf[\"']"),
        (1, r"(?m)^\s*@\w[\w.]*(?:\(.*\))?\s*$"),
    ],
    "ruby": [
        (3, r"(?m)^\s*def\s+[\w.?!]+(?:\(.*\))?\s*$"),
        (2, r"(?m)^\s*end\s*$"),
        (1, r"\bputs\b|\brequire\s+['\"]|\.each\s+do\b|\bdo\s+\|"),
        (1, r"(?m)^\s*class\s+\w+(?:\s*<\s*\w+)?\s*$"),
    ],
    "go": [
        (4, r"(?m)^package\s+\w+\s*$"),
        (3, r"(?m)^func\s+(?:\(\w+\s+\*?\w+\)\s*)?\w*\("),
        (1, r":="),
        (1, r"\bfmt\.\w+|\bchan\b|\bdefer\b|err\s*!=\s*nil"),
    ],
    "rust": [
        (3, r"\bfn\s+\w+\s*(?:<[^>]*>)?\([^)]*\)(?:\s*->\s*[\w<>&:']+)?\s*\{"),
        (2, r"\blet\s+mut\b|\bimpl\b[^;{]*\{|#\[derive|\bpub\s+(?:fn|struct|enum|mod)\b"),
        (2, r"\bprintln!|\bvec!|\buse\s+(?:std|crate)::"),
        (1, r"&(?:mut|str)\b|::<|\.unwrap\(\)"),
    ],
    "java": [
        (4, r"\bpublic\s+static\s+void\s+main\b"),
        (3, r"(?m)^import\s+(?:static\s+)?java[x]?\.[\w.*]+;"),
        (2, r"\bpublic\s+(?:final\s+)?(?:class|interface|record|enum)\s+\w+"),
        (2, r"\bSystem\.out\.print|@Override\b"),
    ],
    "csharp": [
        (3, r"(?m)^using\s+[A-Z][\w.]*;"),
        (3, r"\bConsole\.Write"),
        (2, r"\bnamespace\s+[A-Z][\w.]*|\{\s*get;\s*(?:set;|init;)?\s*\}"),
    ],
    "kotlin": [
        (3, r"\bfun\s+(?:\w+\.)?\w+\([^)]*\)(?:\s*:\s*[\w<>?]+)?\s*[={]"),
        (2, r"\bdata\s+class\b|\bval\s+\w+"),
        (1, r"\bprintln\("),
    ],
    "swift": [
        (3, r"\bfunc\s+\w+\([^)]*\)(?:\s*(?:async|throws))*\s*->"),
        (2, r"(?m)^import\s+(?:SwiftUI|UIKit|Foundation)\b"),
        (2, r"\bguard\s+let\b|\bif\s+let\b.*\{|\bvar\s+body\s*:\s*some\b"),
        (1, r"\blet\s+\w+\s*:\s*[A-Z]\w+\s*="),
    ],
    "cpp": [
        (3, r"\bstd::\w+|#include\s*<(?:iostream|vector|string|memory|map|algorithm)>"),
        (2, r"\btemplate\s*<|\busing\s+namespace\b|\bclass\s+\w+\s*(?::\s*public\s+\w+)?\s*\{\s*(?:public|private):"),
    ],
    "c": [
        (3, r"(?m)^#include\s*[<\"][\w/]+\.h[>\"]"),
        (2, r"\bint\s+main\s*\("),
        (1, r"\bprintf\(|\bmalloc\(|\bstruct\s+\w+\s*\*"),
    ],
    "typescript": [
        (3, r"(?m)^\s*(?:export\s+)?(?:interface\s+\w+|type\s+\w+(?:<[^>]*>)?\s*=|enum\s+\w+\s*\{)"),
        (3, r"[(,]\s*\w+\??\s*:\s*(?:string|number|boolean|any|unknown|void|[A-Z]\w*)\b"),
        (2, r"\)\s*:\s*(?:Promise<|string|number|boolean|void|[A-Z]\w*)[\w<>\[\], |]*\s*(?:\{|=>)"),
        (3, r"\b(?:const|let)\s+\w+\s*:\s*[\w<>\[\]{}| ]+="),
        (1, r"\bimport\s+type\b|\bas\s+const\b|\breadonly\b"),
    ],
    "javascript": [
        (2, r"\b(?:const|let|var)\s+[\w{\[][^=;:]*=(?!=)"),
        (2, r"\bfunction\s*\*?\s*\w*\([^):]*\)\s*\{|=>"),
        (2, r"\bconsole\.\w+\(|\bdocument\.|\brequire\(['\"]|\bmodule\.exports"),
        (2, r"(?m)^\s*(?:import\s+.*\s+from\s+['\"]|export\s+(?:default|const|function))"),
        (1, r"===|\bawait\s"),
    ],
    "bash": [
        (2, r"(?m)^\s*(?:sudo|apt(?:-get)?|npm|npx|pip|git|docker|curl|brew|make|kubectl)\s+[\w\"'$./@-]"),
        (2, r"(?m)^\s*(?:cd|mkdir|echo|export|chmod|ssh|grep|cat|ls)\s+[\w\"'$./@-]"),
        (2, r"(?m)^\s*(?:if\s+\[\[?\s.*;\s*then|fi|done|esac)\s*$"),
        (2, r"\$\{?\w+\}?.*\|\s*\w+|&&\s*\w+\s|\$\(\w+"),
        (1, r"(?m)^\s*[A-Z_]+=\S*$"),
    ],
    "docker": [
        (4, r"(?m)\A(?:#.*\n|\s)*(?:ARG\s.*\n)*FROM\s+[\w./:-]+"),
        (2, r"(?m)^(?:RUN|COPY|ENTRYPOINT|CMD|WORKDIR)\s"),
    ],
    "yaml": [
        (2, r"(?m)\A(?:---\s*\n|#.*\n)*[\w.-]+:\s*(?:\n\s+[\w-]|[^{};=]*$)"),
        (2, r"(?m)^\s*-\s+[\w.-]+:\s"),
        (1, r"(?m)^\s{2,20}[\w.-]+:\s*[^;{}]*$"),
    ],
    "toml": [
        (2, r"(?m)^\[{1,2}[\w.\"-]+\]{1,2}\s*$"),
        (2, r"(?m)^[\w-]+\s*=\s*(?:\"[^\"]*\"|\[|\d|true|false)"),
    ],
    "ini": [
        (2, r"(?m)^\[[\w .:-]+\]\s*$"),
        (1, r"(?m)^[\w.-]+\s*=\s*[^\"'\[{]*$"),
    ],
    "diff": [
        (4, r"(?m)^(?:diff --git|--- \S.*\n\+\+\+ \S|@@ -\d)"),
    ],
    "markdown": [
        (2, r"(?m)^#{1,6}\s+\S"),
        (2, r"(?m)^```"),
        (1, r"\[[^\]]+\]\([^)]+\)"),
        (1, r"(?m)^\s*[-*]\s+\S"),
    ],
    "graphql": [
        (3, r"(?m)^\s*(?:query|mutation|subscription|fragment)\s+\w+[^;]*\{"),
        (3, r"(?m)^type\s+\w+[^=]*\{\s*\n\s*\w+(?:\([^)]*\))?\s*:\s*\[?\w+!?"),
    ],
    "lua": [
        (3, r"(?m)^\s*local\s+(?:function\s+)?\w+"),
        (1, r"(?m)^\s*end\s*$|\bthen\b"),
    ],
    "haskell": [
        (3, r"(?m)^\w+\s*::\s*.*->"),
        (2, r"(?m)^(?:module\s+\w|import\s+qualified|data\s+\w+\s*=)"),
    ],
    "elixir": [
        (4, r"(?m)^\s*defmodule\s"),
        (2, r"\|>|(?m:^\s*defp?\s)"),
    ],
}
"""Patterns that indicate each language, with their weights."""

_LOOKED_AT: Final = 4000
"""Number of characters to examine."""

# A set can lack its end: searching for it from each "[" would take quadratic time.
_REPETITION: Final = re.compile(r"\\.|\[(?>(?:\\.|[^\]\\]++)*)\]?|(?P<sign>[*+])")
_BOUNDED: Final = {"*": "{0,80}", "+": "{1,80}"}


def _bounded(pattern: str) -> re.Pattern[str]:
    """Compile a pattern with bounded repetitions, so that no input causes excessive backtracking."""
    return re.compile(_REPETITION.sub(lambda match: _BOUNDED[match[0]] if match["sign"] else match[0], pattern))


_COMPILED: Final = {name: [(weight, _bounded(pattern)) for weight, pattern in signs] for name, signs in _SIGNS.items()}


def detected(code: str, title: str = "") -> str:
    """Return the language of code, or `plaintext` if it cannot be detected.

    Args:
        code: the text.
        title: the title, whose file extension takes precedence; empty if the user chose none.
    """
    return _by_name(title.strip()) or _by_first_line(code) or _by_signs(code)


def _by_name(title: str) -> str | None:
    if not _FILE_NAME.fullmatch(title):
        return None
    lexer = find_lexer_class_for_filename(title)
    return language_of(lexer.aliases[0]) if lexer is not None and lexer.aliases else None


def _by_first_line(code: str) -> str | None:
    text = code.lstrip()
    if match := _SHEBANG.match(text):
        name = _INTERPRETERS.get(match[1], match[1])
        return name if name in _SIGNS or name in _INTERPRETERS.values() or name == "perl" else None
    if sessions.is_session(code):
        return "bash"
    if text[:1] in ("{", "["):
        try:
            json.loads(text)
        except (ValueError, RecursionError):
            return None
        return "json"
    return None


def _by_signs(code: str) -> str:
    start = code[:_LOOKED_AT]
    scores = {name: sum(weight for weight, sign in signs if sign.search(start)) for name, signs in _COMPILED.items()}
    best = max(scores, key=lambda name: scores[name])
    return best if scores[best] >= _MIN_SCORE else PLAIN
