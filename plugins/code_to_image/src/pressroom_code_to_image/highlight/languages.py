"""The lexer and the refining rules of each language.

Languages without rules have Pygments' tokens, with names before a bracket as functions.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any, Final

from pygments.lexers import get_lexer_by_name
from pygments.token import Comment, Generic, Keyword, Name, Number, Operator, Punctuation, String, Text
from pygments.token import _TokenType as TokenType

from pressroom_code_to_image.highlight import data, go, python, rust, scripts, shell, web
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

_ROLES: Final[dict[TokenType, Role]] = {
    Comment: Role.COMMENT,
    Comment.Preproc: Role.KEYWORD,
    Comment.PreprocFile: Role.STRING,
    Generic.Deleted: Role.TAG,
    Generic.Emph: Role.PARAMETER,
    Generic.Heading: Role.FUNCTION,
    Generic.Inserted: Role.STRING,
    Generic.Prompt: Role.PUNCTUATION,
    Generic.Strong: Role.NUMBER,
    Generic.Subheading: Role.FUNCTION,
    Keyword: Role.KEYWORD,
    Keyword.Constant: Role.LITERAL,
    Keyword.Declaration: Role.DECLARATION,
    Keyword.Type: Role.BUILTIN_TYPE,
    Name.Attribute: Role.ATTRIBUTE,
    Name.Builtin: Role.BUILTIN,
    Name.Builtin.Pseudo: Role.SELF,
    Name.Class: Role.CLASS,
    Name.Constant: Role.CONSTANT,
    Name.Decorator: Role.DECORATOR,
    Name.Entity: Role.ESCAPE,
    Name.Exception: Role.CLASS,
    Name.Function: Role.FUNCTION,
    Name.Label: Role.CONSTANT,
    Name.Namespace: Role.NAMESPACE,
    Name.Property: Role.KEY,
    Name.Tag: Role.TAG,
    Name.Variable: Role.VARIABLE,
    Number: Role.NUMBER,
    Operator: Role.OPERATOR,
    Operator.Word: Role.WORD_OPERATOR,
    Punctuation: Role.PUNCTUATION,
    String: Role.STRING,
    String.Affix: Role.DECLARATION,
    String.Doc: Role.COMMENT,
    String.Escape: Role.ESCAPE,
    String.Interpol: Role.PLACEHOLDER,
    String.Regex: Role.REGEX,
    String.Symbol: Role.LITERAL,
}
_PLAIN_NAMES: Final = frozenset({Name, Name.Other})


def highlighted(code: str, language: str) -> list[tuple[str, Role]]:
    """Return the pieces of code in order, each with its role. Lines must end with line feeds.

    Args:
        code: the text.
        language: a result of `names.language_of`, except `auto`.
    """
    if code.endswith("\n"):
        return _pieces(code, language)
    # Many lexers recognise a comment or a heading only by the line feed at its end.
    # Some lexers end with empty pieces.
    *pieces, (last, role) = [piece for piece in _pieces(f"{code}\n", language) if piece[0]]
    return [*pieces, (last[:-1], role)] if len(last) > 1 else pieces


def _pieces(code: str, language: str) -> list[tuple[str, Role]]:
    if language == PLAIN:
        return [(code, Role.TEXT)]
    if language in _SESSIONS and sessions.is_session(code):
        return [(token.text, token.role) for token in sessions.refined(code)]
    rules = _RULES.get(language)
    if rules is None:
        return _generic(code, language)
    return [(token.text, token.role) for token in rules(lexed(code, language))]


def _generic(code: str, language: str) -> list[tuple[str, Role]]:
    """Return the pieces of code in order, each with its role. If the lexer fails, the whole code is one piece."""
    try:
        tokens = list(_lexer(language).get_tokens(code))
    except Exception:  # noqa: BLE001 - any of 600 lexers may trip over some text, and plain code is better than none
        tokens = []
    if "".join(text for _, text in tokens) != code:
        return [(code, Role.TEXT)]
    pieces: list[tuple[str, Role]] = []
    called = False
    for type_, text in reversed(tokens):
        role = _role(type_)
        pieces.append((text, Role.FUNCTION if called and type_ in _PLAIN_NAMES else role))
        called = text.startswith("(") if text.strip() else called and type_ in Text
    return pieces[::-1]


@cache
def _lexer(name: str) -> Any:
    # By default, the lexer strips leading lines and appends a newline.
    return get_lexer_by_name(name, stripnl=False, ensurenl=False)


@cache
def _role(type_: TokenType) -> Role:
    # Look up the type, then its parents: `Name.Function.Magic` is a `Name.Function`.
    return next((_ROLES[ancestor] for ancestor in reversed(type_.split()) if ancestor in _ROLES), Role.TEXT)
