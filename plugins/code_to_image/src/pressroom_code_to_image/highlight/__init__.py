"""Telling what each piece of code is: Pygments' lexers, and rules that come near to what TextMate grammars tell."""

from pressroom_code_to_image.highlight.languages import highlighted
from pressroom_code_to_image.highlight.tokens import Role

__all__ = ["Role", "highlighted"]
