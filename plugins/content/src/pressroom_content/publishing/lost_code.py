"""What of an article's blocks of code is not on its page: each as it is written, as often, and in its language."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from pressroom_content.publishing.lost_objects import Loss, excerpt
from pressroom_content.publishing.structure import CodeBlock, Structure

_ALIKE: Final = 0.3
_MAX_BLOCKS: Final = 50
_LANGUAGES: Final = (
    "bash sh shell zsh ksh console shell-session shellsession sh-session shellscript terminal",
    "bat batch cmd dos",
    "c h",
    "clojure clj",
    "cpp c++ cc hpp cxx",
    "csharp c# cs",
    "css scss sass less postcss",
    "dart",
    "diff patch udiff",
    "docker dockerfile",
    "elixir ex exs",
    "erlang erl",
    "fsharp f# fs",
    "go golang",
    "graphql gql",
    "groovy gradle",
    "haskell hs",
    "html html5 xhtml xml markup svg rss atom mathml htm vue svelte html-basic",
    "ini conf cfg dosini properties toml",
    "java",
    "javascript js jsx mjs cjs node ecmascript",
    "json jsonc json5 jsonp jsonld",
    "julia jl",
    "kotlin kt kts",
    "lua",
    "make makefile mf",
    "markdown md mdx",
    "matlab octave",
    "nginx",
    "nim nimrod",
    "nix nixos",
    "objective-c objc objectivec obj-c",
    "ocaml ml",
    "perl pl",
    "php php3 php4 php5 phtml html-php",
    "powershell ps ps1 posh pwsh",
    "protobuf proto",
    "python py python3 py3 pycon gyp",
    "r rlang splus",
    "ruby rb erb",
    "rust rs",
    "scala",
    "sql mysql postgresql postgres plpgsql sqlite tsql pgsql",
    "swift",
    "terraform tf hcl",
    "tex latex",
    "typescript ts tsx mts cts",
    "vim viml",
    "yaml yml",
    "zig",
)
"""Names of languages that highlighters take for the same, or use for each other."""

_KNOWN: Final[Mapping[str, str]] = {name: names.split()[0] for names in _LANGUAGES for name in names.split()}
_PLAIN: Final = frozenset({"text", "plaintext", "plain", "txt", "none", "nohighlight", "no-highlight"})


def lost_code(article: Structure, page: Structure, is_on_page: Callable[[str], bool]) -> Iterator[Loss]:
    """Yield the blocks of code that are not on the page as they were written, or lost their language."""
    wanted = {number: text for number, block in enumerate(article.code) if (text := _lines(block.text)).strip()}
    same = _same(article, page, wanted)
    taken = set(same.values())
    by_line: dict[str, list[int]] = defaultdict(list)
    for number, block in enumerate(page.code):
        if number not in taken:
            for line in {line.strip() for line in block.text.split("\n")} - {""}:
                by_line[line].append(number)
    repeated = {text for text, count in Counter(wanted.values()).items() if count > 1}
    for number, text in wanted.items():
        block = article.code[number]
        name = f"code block {number + 1}{f' ({block.language})' if block.language else ''}"
        there = same.get(number)
        if there is None:
            there = _most_alike(text, by_line)
            if there is not None:
                shown = set(_lines(page.code[there].text).split("\n"))
                first = next((line for line in text.split("\n") if line not in shown), text)
                yield Loss(block.at, "code", f"{name} is not shown as written: {excerpt(first)}")
            elif text not in repeated and is_on_page(block.text):
                yield Loss(block.at, "code", f"{name} is not shown as code: {excerpt(text)}")
            else:
                yield Loss(block.at, "code", f"{name} is not shown: {excerpt(text)}")
        if there is not None:
            yield from _lost_language(block, page.code[there].language, name)


def _same(article: Structure, page: Structure, wanted: Mapping[int, str]) -> dict[int, int]:
    """Return the numbers of blocks of the article with those of the page that show them, each for one.

    Where texts are equal, those in the same language go first.
    """
    free: dict[tuple[str, str], list[int]] = defaultdict(list)
    for number in reversed(range(len(page.code))):
        free[_lines(page.code[number].text), _family(page.code[number].language)].append(number)
    found: dict[int, int] = {}
    for number, text in wanted.items():
        if blocks := free.get((text, _family(article.code[number].language))):
            found[number] = blocks.pop()
    left: dict[str, list[int]] = defaultdict(list)
    for (text, _), blocks in free.items():
        left[text] += blocks
    for number, text in wanted.items():
        if number not in found and left.get(text):
            found[number] = left[text].pop()
    return found


def _lost_language(block: CodeBlock, there: str, name: str) -> Iterator[Loss]:
    """Yield that a block is in no language or in another one. Languages that are not known here may get lost."""
    wanted, shown = _family(block.language), _family(there)
    if not block.language or wanted == shown or wanted in _PLAIN:
        return
    if not there or (block.language in _KNOWN and shown in _PLAIN):
        yield Loss(block.at, "language", f"{name} lost its language")
    elif block.language in _KNOWN and there in _KNOWN:
        yield Loss(block.at, "language", f"{name} is marked as {there}")


def _family(language: str) -> str:
    return _KNOWN.get(language, language)


def _most_alike(text: str, by_line: Mapping[str, Sequence[int]]) -> int | None:
    lines = {line.strip() for line in text.split("\n")} - {""}
    votes: Counter[int] = Counter()
    for line in lines:
        votes.update(by_line.get(line, ())[:_MAX_BLOCKS])
    if not votes:
        return None
    number, count = votes.most_common(1)[0]
    return number if count >= len(lines) * _ALIKE else None


def _lines(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.split("\n")).strip("\n")
