"""The checks, a module per group; importing this package registers them all."""

from pressroom_seo.scoring.checks import (  # noqa: F401
    discovery,
    keyphrase,
    links,
    media,
    metadata,
    page,
    readability,
    structure,
)
from pressroom_seo.scoring.rules import CHECKS, Check

__all__ = ["CHECKS", "Check"]
