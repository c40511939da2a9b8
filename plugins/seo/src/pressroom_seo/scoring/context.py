"""The state that the checks of one article share; each part is computed lazily and cached."""

from __future__ import annotations

import re
from functools import cached_property, lru_cache
from urllib.parse import SplitResult, unquote

from pressroom_content.language import LanguagePack, language_pack, lowered, primary_subtag, split_words

from pressroom_seo.document import (
    Document,
    Image,
    Link,
    clean_text,
    document_from_html,
    document_from_markdown,
)
from pressroom_seo.scoring.article import ScoringArticle, World
from pressroom_seo.scoring.keyphrase import Keyphrase
from pressroom_seo.scoring.text import Detection, Sentence, TextAnalysis, detect_language
from pressroom_seo.structured_data.extraction import types_of
from pressroom_seo.structured_data.types import ARTICLE_TYPES, LISTING_TYPES
from pressroom_seo.urls import normalise, split_url

_SEPARATORS = re.compile(r"[\s._-]+")
_QUESTION_MARKS = ("?", "？", "؟", "⸮", "՞")  # noqa: RUF001


class Context:
    """An article with its parsed body and other derived data."""

    def __init__(self, article: ScoringArticle, world: World, profile: str, requested: frozenset[str]) -> None:
        self.article = article
        self.world = world
        self.profile = profile
        self.requested = requested

    @cached_property
    def document(self) -> Document:
        """The parsed body."""
        body = clean_text(self.article.body)
        return document_from_html(body) if self.article.format == "html" else document_from_markdown(body)

    @cached_property
    def detected(self) -> Detection | None:
        """The detected language of the text; `None` if uncertain."""
        return detect_language(self.document.prose[:6000])

    @cached_property
    def language(self) -> str:
        """The primary subtag of the language to score by: the declared one, else the detected one; can be empty."""
        declared = primary_subtag(clean_text(self.article.language))
        return declared or (self.detected.language if self.detected else "")

    @cached_property
    def pack(self) -> LanguagePack | None:
        """The rules and word lists of the language; `None` if unsupported."""
        return language_pack(self.language)

    def is_question(self, text: str) -> bool:
        """Return whether a text ends with a question mark. The Greek one is a semicolon."""
        marks = (*_QUESTION_MARKS, ";") if self.language == "el" else _QUESTION_MARKS
        return text.rstrip(" \"'”’»)").endswith(marks)  # noqa: RUF001

    @cached_property
    def text(self) -> TextAnalysis:
        """The analysed sentences of the body."""
        return TextAnalysis(self.document, self.pack, self.language)

    @cached_property
    def title(self) -> str:
        """The title that a search result shows."""
        return " ".join(clean_text(self.article.search_title).split())

    @cached_property
    def description(self) -> str:
        """The meta description."""
        return " ".join(clean_text(self.article.description).split())

    @cached_property
    def keyphrase(self) -> Keyphrase:
        """The keyphrase; falsy if none was given."""
        return self.phrase(self.article.keyphrase)

    @cached_property
    def synonyms(self) -> list[Keyphrase]:
        """The first ten synonyms of the keyphrase."""
        return [phrase for phrase in map(self.phrase, self.article.synonyms[:10]) if phrase]

    def phrase(self, text: str) -> Keyphrase:
        """Return a matcher for a phrase in the article's language."""
        return Keyphrase(text, self.pack, self.language)

    def words_of(self, text: str) -> list[str]:
        """Return the words of a short text in lower case."""
        return lowered(split_words(clean_text(text)), self.language)

    @cached_property
    def uses(self) -> list[tuple[Sentence, int, int]]:
        """The sentences that contain the keyphrase, each with its number of uses in any form and in the exact form."""
        counts = ((sentence, self.keyphrase.uses(sentence.words)) for sentence in self.text.sentences)
        return [(sentence, uses.all, uses.exact) for sentence, uses in counts if uses.all]

    @cached_property
    def density(self) -> float:
        """Uses of the keyphrase per 100 words, weighted by its length."""
        return self.density_of(sum(number for _, number, _ in self.uses))

    def density_of(self, uses: int) -> float:
        """Return the density that this number of uses would give."""
        return 100 * uses * self.keyphrase.length_factor / max(1, self.text.words)

    @cached_property
    def address(self) -> SplitResult | None:
        """The article's own URL, parsed."""
        return _comparable(self.article.url)

    def is_internal(self, link: Link) -> bool:
        """Return whether a link leads to another page of the same site."""
        parts = _comparable(link.href or "")
        if parts is None or not _is_page(link, parts):
            return False
        if not parts.netloc:
            return bool(parts.path or parts.query)
        address = self.address
        return address is not None and _host(parts) == _host(address) and not _same_page(parts, address)

    def is_outbound(self, link: Link) -> bool:
        """Return whether a link leads to another site."""
        parts = _comparable(link.href or "")
        if parts is None or not parts.netloc or not _is_page(link, parts):
            return False
        return self.address is None or _host(parts) != _host(self.address)

    @cached_property
    def is_listing(self) -> bool:
        """Whether the page's metadata declares a listing, such as a home page, instead of an article."""
        article = self.article
        if article.structured_data is None or article.authors or article.published:
            return False
        types = types_of(article.structured_data)
        if types & ARTICLE_TYPES:
            return False
        return bool(types & LISTING_TYPES) or (article.social or {}).get("og:type", "").strip().lower() == "website"

    @cached_property
    def images(self) -> list[Image]:
        """The body's images that are not decorative."""
        return [image for image in self.document.images if not image.decorative]


@lru_cache(maxsize=4096)
def _comparable(url: str) -> SplitResult | None:
    """Split a URL. Different spellings of an absolute URL give the same parts; see `normalise`."""
    return split_url(normalise(clean_text(url).strip()) or url)


def _is_page(link: Link, parts: SplitResult) -> bool:
    return link.href is not None and parts.scheme.lower() in {"", "http", "https"}


def _host(parts: SplitResult) -> str:
    return (parts.hostname or "").lower().removeprefix("www.")


def _same_page(one: SplitResult, other: SplitResult) -> bool:
    return (one.path.rstrip("/"), one.query) == (other.path.rstrip("/"), other.query)


def slug_of(article: ScoringArticle) -> str:
    """Return the given slug, or else the last path segment of the article's URL, percent-decoded."""
    if article.slug.strip():
        return clean_text(unquote(article.slug, errors="replace")).strip().strip("/").rpartition("/")[2]
    parts = split_url(article.url)
    path = parts.path if parts else ""
    return clean_text(unquote(path, errors="replace")).strip("/").rpartition("/")[2]


def slug_words(slug: str) -> list[str]:
    """Return the words of a slug in lower case, without a file extension."""
    parts = _SEPARATORS.split(re.sub(r"\.[a-z]{2,5}$", "", slug.lower()))
    return [word for part in parts for word in split_words(part)]
