"""The checks, a module per group; importing this package registers them all."""

from pressroom_seo.scoring.checks import (  # noqa: F401
    discovery,
    keyphrase,
    keyphrase_places,
    links,
    media,
    metadata,
    page,
    readability,
    structure,
    wording,
)
from pressroom_seo.scoring.checks.registry import CHECKS, Check

__all__ = ["CHECKS", "Check"]
