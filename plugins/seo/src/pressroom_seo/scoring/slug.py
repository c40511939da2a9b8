"""The last part of an article's address."""

from __future__ import annotations

import re
from urllib.parse import unquote

from pressroom_seo.scoring.article import Article
from pressroom_seo.scoring.context import split_address
from pressroom_seo.scoring.document import clean_text

_SEPARATORS = re.compile(r"[\W_]+")


def slug_of(article: Article) -> str:
    """Return the slug: the one given, else the last part of the path of the article's address; decoded."""
    if article.slug.strip():
        return clean_text(unquote(article.slug, errors="replace")).strip().strip("/").rpartition("/")[2]
    parts = split_address(article.url)
    path = parts.path if parts else ""
    return clean_text(unquote(path, errors="replace")).strip("/").rpartition("/")[2]


def slug_words(slug: str) -> list[str]:
    """Return the words of a slug in lower case, a file ending left out."""
    return [part for part in _SEPARATORS.split(re.sub(r"\.[a-z]{2,5}$", "", slug.lower())) if part]
