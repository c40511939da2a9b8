"""What a plugin can add to the check of an article, beside its score."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from pressroom_content.contract.articles import Article

_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,31}", re.ASCII)


_RESERVED: Final = frozenset(
    {
        "score", "rating", "gates", "groups", "checks", "next_actions", "notes", "ruleset", "language", "words",
        "links", "voice", "snippet", "duplicates",
    }
)  # fmt: skip
"""Members of the answer of `check_blog_seo`, which no review may replace."""


@dataclass(frozen=True, slots=True)
class ArticleReview:
    """What a review found: `data` as JSON values for `structuredContent`, `lines` the same in words.

    `lines` hold what a model needs to act: what is wrong, where, and what to do. They are empty where all is well.
    """

    data: Mapping[str, Any] = field(default_factory=dict)
    lines: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ArticleReviewer:
    """Reviews stored articles. Offer it through the hook `pressroom_article_reviewers`.

    `check_blog_seo` lists `name` among the values of `include` and calls `review` where a client asks for it; the
    answer has `data` under that name. A review never changes the article's score, and has 60 seconds. It may raise
    `InvalidInput` and `BackendError`.
    """

    name: str
    review: Callable[[Article], Awaitable[ArticleReview]]

    def __post_init__(self) -> None:
        """Refuse a name that cannot be a value of `include`."""
        if not _NAME.fullmatch(self.name):
            raise ValueError(f"the name of a reviewer must be lower-case letters, digits and _ (got {self.name!r})")
        if self.name in _RESERVED:
            taken = ", ".join(sorted(_RESERVED))
            raise ValueError(f"the name of a reviewer must be none of {taken} (got {self.name!r})")
