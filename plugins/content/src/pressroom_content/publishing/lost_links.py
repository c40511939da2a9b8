"""What of an article's links is not on its page: whether they are there, where they lead, and their titles."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from pressroom_content.publishing.lost_objects import Loss, excerpt, is_part
from pressroom_content.publishing.matching import PassageMatches
from pressroom_content.publishing.structure import ShownLink, Structure, words_of

_HIDDEN_MAIL: Final = "/cdn-cgi/l/email-protection"
_MAX_TRIED: Final = 100
_MAX_COMPARED: Final = 500_000
_Place = tuple[str, str, str]


class _Key(NamedTuple):
    """What is compared of a link: its place, the parameters of its URL that it has at least, and its words."""

    place: _Place
    query: frozenset[tuple[str, str]]
    words: str


def lost_links(article: Structure, page: Structure, matches: PassageMatches) -> Iterator[Loss]:
    """Yield the links that are not in the article's part of the page, lead elsewhere, or lost their titles.

    What else is on the page, such as its menu, may lead to the same places.
    """
    shown = [link for link in page.links if matches.is_inside(link.at, link.run)]
    by_words: dict[str, list[ShownLink]] = defaultdict(list)
    keys = [_key_of(link) for link in shown]
    for key, link in zip(keys, shown, strict=True):
        by_words[key.words].append(link)
    wanted: dict[_Key, list[ShownLink]] = defaultdict(list)
    for link in article.links:
        if not matches.is_shown(link.run):
            continue
        if not link.target.startswith("#"):
            wanted[_key_of(link)].append(link)
        elif link.target[1:] in article.ids and (words := words_of(link.text)):
            yield from _lost_place(link, by_words.get(words, ()), page)
    yield from _LinkComparison(wanted, list(zip(keys, shown, strict=True)), page.data, matches).losses()


def _lost_place(link: ShownLink, there: Sequence[ShownLink], page: Structure) -> Iterator[Loss]:
    if not there:
        yield Loss(link.at, "link", f"{excerpt(link.text)} is not a link to {link.target[:120]}")
    elif all(
        one.target.startswith("#") and unquote(one.target[1:]) not in page.ids and one.target not in ("#", "#top")
        for one in there[:_MAX_TRIED]
    ):
        yield Loss(link.at, "link", f"the link {excerpt(link.text)} leads nowhere: the page has no {link.target[:120]}")


class _LinkComparison:
    """The links of an article, by what is compared of them, beside those of its part of the page."""

    def __init__(
        self,
        wanted: Mapping[_Key, Sequence[ShownLink]],
        shown: Sequence[tuple[_Key, ShownLink]],
        data: str,
        matches: PassageMatches,
    ) -> None:
        self._wanted, self._data, self._matches = wanted, f" {data} ", matches
        self._compared = 0
        self._same: dict[_Key, list[ShownLink]] = defaultdict(list)
        self._at_place: dict[_Place, list[tuple[_Key, ShownLink]]] = defaultdict(list)
        self._by_words: dict[str, list[tuple[_Key, ShownLink]]] = defaultdict(list)
        for key, link in shown:
            self._same[key].append(link)
            self._by_words[key.words].append((key, link))
            if key not in wanted or len(self._same[key]) > len(wanted[key]):
                self._at_place[key.place].append((key, link))

    def losses(self) -> Iterator[Loss]:
        """Yield what is lost, in no order. Of what is left after a lot of comparing nothing is said."""
        for key, links in self._wanted.items():
            there = list(self._same.get(key, ()))
            if len(there) < len(links) or any(link.title for link in links):
                self._compared += len(self._at_place.get(key.place, ()))
                if self._compared > _MAX_COMPARED:
                    return
                there += self._others(key, links)
            lost = self._missing(links, there)
            for link in lost:
                yield from self._lost(key, link)
            yield from self._lost_titles(links, lost, there)

    def _run_of(self, link: ShownLink) -> int | None:
        match = self._matches[link.run]
        return None if match is None else match.run

    def _others(self, key: _Key, links: Sequence[ShownLink]) -> list[ShownLink]:
        """Return links of the page that may be these: platforms put things into them, split them, and add parameters.

        In a passage that was changed the text of a link may be another one.
        """
        found = (self._matches[link.run] for link in links)
        runs = {match.run for match in found if match is not None and not match.exact}
        return [
            link
            for other, link in self._at_place.get(key.place, ())
            if other != key
            and key.query <= other.query
            and (not key.words or is_part(key.words, other.words) or link.run in runs)
        ]

    def _missing(self, links: Sequence[ShownLink], there: Sequence[ShownLink]) -> Sequence[ShownLink]:
        """Return as many of equal links as are lost, those first whose passage has no such link."""
        count = len(links) - len(there)
        if count <= 0:
            return ()
        runs = {link.run for link in there}
        return sorted(links, key=lambda link: self._run_of(link) in runs)[:count]

    def _lost(self, key: _Key, link: ShownLink) -> Iterator[Loss]:
        same = self._by_words.get(key.words, [])[:_MAX_TRIED] if key.words else []
        quoted = quote(link.target, safe="")
        if any(_HIDDEN_MAIL in one.target or quoted in one.target for _, one in same):
            return
        run = self._run_of(link)
        free = [one for other, one in same if other not in self._wanted]
        there = next((one for one in free if one.run == run), next(iter(free), None))
        if there is None:
            yield Loss(link.at, "link", f"{excerpt(link.text or link.target)} is not a link to {link.target[:120]}")
        else:
            where = f"{there.target[:120] or 'nowhere'} instead of {link.target[:120]}"
            yield Loss(link.at, "link", f"the link {excerpt(link.text)} leads to {where}")

    def _lost_titles(
        self, links: Sequence[ShownLink], lost: Sequence[ShownLink], there: Sequence[ShownLink]
    ) -> Iterator[Loss]:
        titles = {link.title for link in there if link.title}
        shown = [words_of(title) for title in list(titles)[:_MAX_TRIED]]
        gone = {link.at for link in lost}
        for link in links:
            words = words_of(link.title)
            if not words or link.at in gone or link.title in titles or any(is_part(words, one) for one in shown):
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
    place = (
        f"{scheme}://{parts.netloc.lower().removeprefix('www.')}",
        unquote(parts.path).rstrip("/"),
        unquote(parts.fragment),
    )
    return _Key(place, query, words_of(link.text))
