"""Syntax highlighting: Pygments' lexers, refined by rules that approximate TextMate grammars."""

from pressroom_code_to_image.highlight.languages import highlighted
from pressroom_code_to_image.highlight.tokens import Role

__all__ = ["Role", "highlighted"]
