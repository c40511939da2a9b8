"""Parsing of article bodies into headings, paragraphs, links and images."""

from pressroom_seo.document.markup import MAX_BODY, clean_text, relations, safe_html
from pressroom_seo.document.model import Block, BlockKind, Document, Image, Link, Video
from pressroom_seo.document.parsing import document_from_html, document_from_markdown

__all__ = [
    "MAX_BODY",
    "Block",
    "BlockKind",
    "Document",
    "Image",
    "Link",
    "Video",
    "clean_text",
    "document_from_html",
    "document_from_markdown",
    "relations",
    "safe_html",
]
