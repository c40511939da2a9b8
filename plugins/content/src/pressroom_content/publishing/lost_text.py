"""Links and code blocks of an article that its page does not show."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from pressroom_content.publishing.lost_objects import Loss, excerpt, is_part
from pressroom_content.publishing.matching import PassageMatches
from pressroom_content.publishing.structure import CodeBlock, ShownLink, Structure, words_of

_MIN_SIMILARITY: Final = 0.3
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
"""Aliases of languages that highlighters treat as equal or substitute for each other."""

_KNOWN: Final[Mapping[str, str]] = {name: names.split()[0] for names in _LANGUAGES for name in names.split()}
_PLAIN: Final = frozenset({"text", "plaintext", "plain", "txt", "none", "nohighlight", "no-highlight"})


def lost_code(article: Structure, page: Structure, is_on_page: Callable[[str], bool]) -> Iterator[Loss]:
    """Yield code blocks that are not on the page as written, or that lost their language."""
    texts = {number: text for number, block in enumerate(article.code) if (text := _lines(block.text)).strip()}
    matches = _same(article, page, texts)
    matched = set(matches.values())
    by_line: dict[str, list[int]] = defaultdict(list)
    for number, block in enumerate(page.code):
        if number not in matched:
            for line in {line.strip() for line in block.text.split("\n")} - {""}:
                by_line[line].append(number)
    repeated = {text for text, count in Counter(texts.values()).items() if count > 1}
    for number, text in texts.items():
        block = article.code[number]
        name = f"code block {number + 1}{f' ({block.language})' if block.language else ''}"
        page_number = matches.get(number)
        if page_number is None:
            page_number = _most_similar(text, by_line)
            if page_number is not None:
                page_lines = set(_lines(page.code[page_number].text).split("\n"))
                first = next((line for line in text.split("\n") if line not in page_lines), text)
                yield Loss(block.at, "code", f"{name} is not shown as written: {excerpt(first)}")
            elif text not in repeated and is_on_page(block.text):
                yield Loss(block.at, "code", f"{name} is not shown as code: {excerpt(text)}")
            else:
                yield Loss(block.at, "code", f"{name} is not shown: {excerpt(text)}")
        if page_number is not None:
            yield from _lost_language(block, page.code[page_number].language, name)


def _same(article: Structure, page: Structure, texts: Mapping[int, str]) -> dict[int, int]:
    """Return a one-to-one mapping from the article's blocks to the blocks of the page with the same text.

    Of blocks with equal text, those in the same language are paired first.
    """
    free: dict[tuple[str, str], list[int]] = defaultdict(list)
    for number in reversed(range(len(page.code))):
        free[_lines(page.code[number].text), _family(page.code[number].language)].append(number)
    matches: dict[int, int] = {}
    for number, text in texts.items():
        if blocks := free.get((text, _family(article.code[number].language))):
            matches[number] = blocks.pop()
    remaining: dict[str, list[int]] = defaultdict(list)
    for (text, _), blocks in free.items():
        remaining[text] += blocks
    for number, text in texts.items():
        if number not in matches and remaining.get(text):
            matches[number] = remaining[text].pop()
    return matches


def _lost_language(block: CodeBlock, page_language: str, name: str) -> Iterator[Loss]:
    """Yield the loss or change of a block's language. Languages without a known alias may be shown as plain text."""
    family, page_family = _family(block.language), _family(page_language)
    if not block.language or family == page_family or family in _PLAIN:
        return
    if not page_language or (block.language in _KNOWN and page_family in _PLAIN):
        yield Loss(block.at, "language", f"{name} lost its language")
    elif block.language in _KNOWN and page_language in _KNOWN:
        yield Loss(block.at, "language", f"{name} is marked as {page_language}")


def _family(language: str) -> str:
    return _KNOWN.get(language, language)


def _most_similar(text: str, by_line: Mapping[str, Sequence[int]]) -> int | None:
    lines = {line.strip() for line in text.split("\n")} - {""}
    votes: Counter[int] = Counter()
    for line in lines:
        votes.update(by_line.get(line, ())[:_MAX_BLOCKS])
    if not votes:
        return None
    number, count = votes.most_common(1)[0]
    return number if count >= len(lines) * _MIN_SIMILARITY else None


def _lines(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.split("\n")).strip("\n")


_HIDDEN_MAIL: Final = "/cdn-cgi/l/email-protection"
_MAX_TRIED: Final = 100
_MAX_COMPARED: Final = 500_000
_Location = tuple[str, str, str]


class _Key(NamedTuple):
    """The compared properties of a link: location, minimum query parameters and words."""

    location: _Location
    query: frozenset[tuple[str, str]]
    words: str


def lost_links(article: Structure, page: Structure, matches: PassageMatches) -> Iterator[Loss]:
    """Yield links missing from the article's part of the page, with another target, or without their titles.

    Links elsewhere on the page, such as in its menu, may have the same targets and are ignored.
    """
    page_links = [link for link in page.links if matches.is_inside(link.at, link.run)]
    by_words: dict[str, list[ShownLink]] = defaultdict(list)
    keys = [_key_of(link) for link in page_links]
    for key, link in zip(keys, page_links, strict=True):
        by_words[key.words].append(link)
    article_links: dict[_Key, list[ShownLink]] = defaultdict(list)
    for link in article.links:
        if not matches.is_shown(link.run):
            continue
        if not link.target.startswith("#"):
            article_links[_key_of(link)].append(link)
        elif link.target[1:] in article.ids and (words := words_of(link.text)):
            yield from _lost_anchor(link, by_words.get(words, ()), page)
    yield from _LinkComparison(article_links, list(zip(keys, page_links, strict=True)), page.data, matches).losses()


def _lost_anchor(link: ShownLink, candidates: Sequence[ShownLink], page: Structure) -> Iterator[Loss]:
    if not candidates:
        yield Loss(link.at, "link", f"{excerpt(link.text)} is not a link to {link.target[:120]}")
    elif all(
        candidate.target.startswith("#")
        and unquote(candidate.target[1:]) not in page.ids
        and candidate.target not in ("#", "#top")
        for candidate in candidates[:_MAX_TRIED]
    ):
        yield Loss(link.at, "link", f"the link {excerpt(link.text)} leads nowhere: the page has no {link.target[:120]}")


class _LinkComparison:
    """Compares the links of an article, grouped by key, with those in its part of the page."""

    def __init__(
        self,
        article_links: Mapping[_Key, Sequence[ShownLink]],
        page_links: Sequence[tuple[_Key, ShownLink]],
        data: str,
        matches: PassageMatches,
    ) -> None:
        self._article_links, self._data, self._matches = article_links, f" {data} ", matches
        self._compared = 0
        self._same: dict[_Key, list[ShownLink]] = defaultdict(list)
        self._at_location: dict[_Location, list[tuple[_Key, ShownLink]]] = defaultdict(list)
        self._by_words: dict[str, list[tuple[_Key, ShownLink]]] = defaultdict(list)
        for key, link in page_links:
            self._same[key].append(link)
            self._by_words[key.words].append((key, link))
            if key not in article_links or len(self._same[key]) > len(article_links[key]):
                self._at_location[key.location].append((key, link))

    def losses(self) -> Iterator[Loss]:
        """Yield the losses, in no particular order. Links beyond the comparison limit are not reported."""
        for key, links in self._article_links.items():
            candidates = list(self._same.get(key, ()))
            if len(candidates) < len(links) or any(link.title for link in links):
                self._compared += len(self._at_location.get(key.location, ()))
                if self._compared > _MAX_COMPARED:
                    return
                candidates += self._others(key, links)
            lost = self._missing(links, candidates)
            for link in lost:
                yield from self._lost(key, link)
            yield from self._lost_titles(links, lost, candidates)

    def _run_of(self, link: ShownLink) -> int | None:
        match = self._matches[link.run]
        return None if match is None else match.run

    def _others(self, key: _Key, links: Sequence[ShownLink]) -> list[ShownLink]:
        """Return page links that may be equivalent: platforms insert text into links, split them and add parameters.

        In a passage that was changed, the text of the link may differ too.
        """
        matches = (self._matches[link.run] for link in links)
        runs = {match.run for match in matches if match is not None and not match.exact}
        return [
            link
            for other, link in self._at_location.get(key.location, ())
            if other != key
            and key.query <= other.query
            and (not key.words or is_part(key.words, other.words) or link.run in runs)
        ]

    def _missing(self, links: Sequence[ShownLink], candidates: Sequence[ShownLink]) -> Sequence[ShownLink]:
        """Return as many of equal links as are missing, beginning with those whose passage has no such link."""
        count = len(links) - len(candidates)
        if count <= 0:
            return ()
        runs = {link.run for link in candidates}
        return sorted(links, key=lambda link: self._run_of(link) in runs)[:count]

    def _lost(self, key: _Key, link: ShownLink) -> Iterator[Loss]:
        same_words = self._by_words.get(key.words, [])[:_MAX_TRIED] if key.words else []
        quoted = quote(link.target, safe="")
        if any(_HIDDEN_MAIL in candidate.target or quoted in candidate.target for _, candidate in same_words):
            return
        run = self._run_of(link)
        free = [candidate for other, candidate in same_words if other not in self._article_links]
        replacement = next((candidate for candidate in free if candidate.run == run), next(iter(free), None))
        if replacement is None:
            yield Loss(link.at, "link", f"{excerpt(link.text or link.target)} is not a link to {link.target[:120]}")
        else:
            where = f"{replacement.target[:120] or 'nowhere'} instead of {link.target[:120]}"
            yield Loss(link.at, "link", f"the link {excerpt(link.text)} leads to {where}")

    def _lost_titles(
        self, links: Sequence[ShownLink], lost: Sequence[ShownLink], candidates: Sequence[ShownLink]
    ) -> Iterator[Loss]:
        titles = {link.title for link in candidates if link.title}
        shown_titles = [words_of(title) for title in list(titles)[:_MAX_TRIED]]
        lost_at = {link.at for link in lost}
        for link in links:
            words = words_of(link.title)
            if (
                not words
                or link.at in lost_at
                or link.title in titles
                or any(is_part(words, shown_title) for shown_title in shown_titles)
            ):
                continue
            name = f"the link {excerpt(link.text or link.target)}"
            if titles:
                yield Loss(
                    link.at, "title", f"{name} has the title {excerpt(min(titles))} instead of {excerpt(link.title)}"
                )
            elif not self._matches.occurs(link.title, self._data):
                yield Loss(link.at, "title", f"{name} lost its title {excerpt(link.title)}")


def _key_of(link: ShownLink) -> _Key:
    try:
        parts = urlsplit(link.target)
        query = frozenset(parse_qsl(parts.query, keep_blank_values=True, max_num_fields=100))
    except ValueError:
        return _Key((link.target, "", ""), frozenset(), words_of(link.text))
    scheme = "http" if parts.scheme in ("http", "https") else parts.scheme
    location = (
        f"{scheme}://{parts.netloc.lower().removeprefix('www.')}",
        unquote(parts.path).rstrip("/"),
        unquote(parts.fragment),
    )
    return _Key(location, query, words_of(link.text))
