"""The checks, a module per group; importing this package registers them all."""

from pressroom_seo.scoring.checks import discovery, keyphrase, links, metadata, readability, structure  # noqa: F401
from pressroom_seo.scoring.rules import CHECKS, Check

__all__ = ["CHECKS", "Check"]
