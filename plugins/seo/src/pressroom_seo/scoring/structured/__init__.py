"""Structured data (schema.org) as JSON-LD and microdata: building and validating."""

from pressroom_seo.scoring.structured.build import BUILDABLE, Built, build_structured_data
from pressroom_seo.scoring.structured.extract import Extracted, extract_structured_data
from pressroom_seo.scoring.structured.types import ARTICLE_TYPES, PRODUCT_TYPES, required_in_crawls
from pressroom_seo.scoring.structured.validate import (
    Item,
    Problem,
    Validation,
    missing_of,
    validate_page,
    validate_structured_data,
)

__all__ = [
    "ARTICLE_TYPES",
    "BUILDABLE",
    "PRODUCT_TYPES",
    "Built",
    "Extracted",
    "Item",
    "Problem",
    "Validation",
    "build_structured_data",
    "extract_structured_data",
    "missing_of",
    "required_in_crawls",
    "validate_page",
    "validate_structured_data",
]
