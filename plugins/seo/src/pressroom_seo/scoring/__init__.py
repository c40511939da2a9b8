"""Judging articles: score and checks, search result previews, structured data. Nothing here does I/O."""

from pressroom_seo.scoring.article import (
    Article,
    Author,
    ImageFacts,
    LinkStatus,
    OtherArticle,
    Profile,
    World,
)
from pressroom_seo.scoring.json_ld import BUILDABLE, Built, build_structured_data
from pressroom_seo.scoring.page import article_from_page
from pressroom_seo.scoring.report import Action, CheckResult, Evidence, Gate, GroupResult, Report, Status
from pressroom_seo.scoring.rules import PROFILES, rule_set
from pressroom_seo.scoring.score import score
from pressroom_seo.scoring.snippet import SnippetPreview, pixel_width, preview_snippet
from pressroom_seo.structured_data import (
    Validation,
    validate_page,
    validate_structured_data,
)

__all__ = [
    "BUILDABLE",
    "PROFILES",
    "Action",
    "Article",
    "Author",
    "Built",
    "CheckResult",
    "Evidence",
    "Gate",
    "GroupResult",
    "ImageFacts",
    "LinkStatus",
    "OtherArticle",
    "Profile",
    "Report",
    "SnippetPreview",
    "Status",
    "Validation",
    "World",
    "article_from_page",
    "build_structured_data",
    "pixel_width",
    "preview_snippet",
    "rule_set",
    "score",
    "validate_page",
    "validate_structured_data",
]
