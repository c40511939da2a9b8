"""Article checks, one module per group. Importing this package registers them."""

from collections.abc import Mapping
from typing import Final

from pressroom_seo.checks import CHECKS
from pressroom_seo.scoring.checks import discovery, keyphrase, links, metadata, readability, structure  # noqa: F401
from pressroom_seo.scoring.rules import ArticleCheck

ARTICLE_CHECKS: Final[Mapping[str, ArticleCheck]] = CHECKS.of(ArticleCheck)
"""All article checks by ID."""
