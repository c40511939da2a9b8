"""The lexer and the refining rules of each language."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from pressroom_code_to_image.highlight import data, generic, go, python, rust, scripts, shell, web
from pressroom_code_to_image.highlight import data as sessions
from pressroom_code_to_image.highlight.tokens import Role, Token, lexed
from pressroom_code_to_image.names import PLAIN

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


_SESSIONS: Final = frozenset({"bash", "console"})


def highlighted(code: str, language: str) -> list[tuple[str, Role]]:
    """Return the pieces of code in order, each with its role. Lines must end with line feeds.

    Args:
        code: the text.
        language: a result of `names.language_of`, except `auto`.
    """
    if language == PLAIN:
        return [(code, Role.TEXT)]
    if language in _SESSIONS and sessions.is_session(code):
        return [(token.text, token.role) for token in sessions.refined(code)]
    rules = _RULES.get(language)
    if rules is None:
        return generic.highlighted(code, language)
    return [(token.text, token.role) for token in rules(lexed(code, language))]
