"""Helpers to read one element of a page."""

from __future__ import annotations

from selectolax.lexbor import LexborHTMLParser


def text_of(tree: LexborHTMLParser, selector: str) -> str:
    """Return the text of the first element that matches a selector. Raises `AssertionError` if none does."""
    node = tree.css_first(selector)
    assert node is not None, selector
    return node.text()


def attribute_of(tree: LexborHTMLParser, selector: str, name: str) -> str:
    """Return an attribute of the first element that matches a selector. Raises `AssertionError` if none does."""
    node = tree.css_first(selector)
    assert node is not None, selector
    return node.attributes[name] or ""
