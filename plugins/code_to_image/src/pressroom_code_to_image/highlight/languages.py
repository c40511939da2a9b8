"""The languages: which lexer reads each, and which rules refine it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from pressroom_code_to_image.highlight import data, go, python, rust, scripts, shell, web
from pressroom_code_to_image.highlight import data as sessions
from pressroom_code_to_image.highlight.tokens import Role, Token, lexed
from pressroom_code_to_image.names import Language

_RULES: Final[dict[str, Callable[[list[Token]], list[Token]]]] = {
    "javascript": partial(scripts.refined, typed=False),
    "typescript": partial(scripts.refined, typed=True),
    "python": python.refined,
    "go": go.refined,
    "rust": rust.refined,
    "bash": shell.refined,
    "json": data.refined_json,
    "html": web.refined_html,
    "css": web.refined_css,
    "sql": data.refined_sql,
}


def highlighted(code: str, language: Language) -> list[tuple[str, Role]]:
    """Return the pieces of a code, in order and complete, each with its role. Lines end with line feeds."""
    rules = _RULES.get(language)
    if rules is None:
        return [(code, Role.TEXT)]
    if language == "bash" and sessions.is_session(code):
        return [(token.text, token.role) for token in sessions.refined(code)]
    return [(token.text, token.role) for token in rules(lexed(code, language))]
