"""Article scoring: score and checks, search result previews, structured data. Performs no I/O."""

from pressroom_seo.scoring.article import (
    Author,
    ImageFacts,
    LinkStatus,
    OtherArticle,
    Profile,
    ScoringArticle,
    World,
    article_from_page,
)
from pressroom_seo.scoring.json_ld import BUILDABLE, JsonLd, build_structured_data
from pressroom_seo.scoring.rules import (
    PROFILES,
    Action,
    Evidence,
    Gate,
    GroupResult,
    ScoringCheck,
    ScoringReport,
    Status,
    rule_set,
)
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
    "Author",
    "Evidence",
    "Gate",
    "GroupResult",
    "ImageFacts",
    "JsonLd",
    "LinkStatus",
    "OtherArticle",
    "Profile",
    "ScoringArticle",
    "ScoringCheck",
    "ScoringReport",
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
