"""Extraction and validation of structured data (schema.org) in JSON-LD and microdata."""

from pressroom_seo.structured_data.extraction import PageStructuredData, extract_structured_data
from pressroom_seo.structured_data.types import ARTICLE_TYPES, PRODUCT_TYPES, required_in_crawls
from pressroom_seo.structured_data.validation import (
    Problem,
    StructuredDataItem,
    Validation,
    missing_of,
    validate_page,
    validate_structured_data,
)

__all__ = [
    "ARTICLE_TYPES",
    "PRODUCT_TYPES",
    "PageStructuredData",
    "Problem",
    "StructuredDataItem",
    "Validation",
    "extract_structured_data",
    "missing_of",
    "required_in_crawls",
    "validate_page",
    "validate_structured_data",
]
