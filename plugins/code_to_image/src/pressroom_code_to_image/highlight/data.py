"""Rules for JSON, SQL and shell sessions with prompts, commands and output."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from pygments.token import Keyword, Name, Text

from pressroom_code_to_image.highlight import shell
from pressroom_code_to_image.highlight.tokens import (
    Role,
    Token,
    TokenKind,
    is_a,
    lexed,
    quoted,
    significant,
    split,
    word_set,
)

_ESCAPE: Final = re.compile(r"\\(?:u[0-9a-fA-F]{4}|.)")


def refined_json(tokens: list[Token]) -> list[Token]:
    """Return the tokens of JSON with their roles."""
    return [part for token in tokens for part in _json(token)]


def _json(token: Token) -> Iterator[Token]:
    if is_a(token.type, Name.Tag):
        token.role = Role.KEY
        yield from split(token, _ESCAPE, Role.ESCAPE)
    elif is_a(token.type, Keyword.Constant):
        token.role = Role.LITERAL
        yield token
    elif token.kind is TokenKind.STRING:
        for part in quoted(token):
            yield from split(part, _ESCAPE, Role.ESCAPE) if part.role is Role.STRING else (part,)
    else:
        yield token


_MODIFIERS: Final = word_set("PRIMARY KEY DEFAULT REFERENCES CASCADE CHECK FOREIGN CONSTRAINT")
_TYPES: Final = word_set(
    "BIGINT BIGSERIAL BIT BLOB BOOL BOOLEAN BYTEA CHAR CHARACTER DATE DATETIME DECIMAL DOUBLE FLOAT INT "
    "INTEGER INTERVAL JSON JSONB NUMERIC REAL SERIAL SMALLINT TEXT TIME TIMESTAMP TIMESTAMPTZ UUID "
    "VARCHAR"
)
_FUNCTIONS: Final = word_set(
    "ABS AVG CAST CEIL COALESCE CONCAT COUNT DATE_TRUNC EXTRACT FLOOR GREATEST IFNULL LAG LEAD LEAST LEFT "
    "LENGTH LOWER MAX MIN MOD NOW NULLIF POWER RANK REPLACE RIGHT ROUND ROW_NUMBER SUBSTRING SUM TRIM "
    "UPPER STRING_AGG ARRAY_AGG JSON_AGG DENSE_RANK NTILE FIRST_VALUE LAST_VALUE"
)
_NAMED: Final = word_set("TABLE INDEX VIEW FUNCTION PROCEDURE TRIGGER SCHEMA DATABASE")


def refined_sql(tokens: list[Token]) -> list[Token]:
    """Return the tokens of SQL with their roles."""
    words = significant(tokens)
    for index, token in enumerate(words):
        before = words[index - 1].text if index else ""
        after = words[index + 1].text if index + 1 < len(words) else ""
        if token.kind is TokenKind.PUNCTUATION:
            token.role = Role.OPERATOR if token.text not in ("(", ")", ",", ";", ".") else Role.TEXT
        elif token.kind is TokenKind.WORD:
            token.role = _sql_word(words, index, before, after)
    return [part for token in tokens for part in (quoted(token) if token.kind is TokenKind.STRING else [token])]


def _sql_word(words: list[Token], index: int, before: str, after: str) -> Role:
    token = words[index]
    upper = token.text.upper()
    if before == "." or after == ".":
        return Role.CONSTANT
    if upper in _FUNCTIONS and after == "(":
        return Role.BUILTIN
    if upper in _TYPES and not is_a(token.type, Name.Namespace):
        return (
            Role.DECLARATION
            if token.text.isupper() or not is_a(token.type, Name) or is_a(token.type, Name.Builtin)
            else Role.TEXT
        )
    if upper in _MODIFIERS and is_a(token.type, Keyword):
        return Role.MODIFIER
    if is_a(token.type, Keyword) and token.type is not Keyword.Type:
        return Role.KEYWORD
    if _names(words, index):
        return Role.FUNCTION
    return Role.TEXT


def _names(words: list[Token], index: int) -> bool:
    """Return whether a word is a name being created: it follows CREATE and a kind, and IF NOT EXISTS."""
    at = index - 1
    while at > 0 and words[at].text.upper() in ("IF", "NOT", "EXISTS"):
        at -= 1
    if at < 1 or words[at].text.upper() not in _NAMED:
        return False
    return any(words[back].text.upper() == "CREATE" for back in range(max(0, at - 3), at))


_PROMPT: Final = re.compile(
    r"(?>(?:\([\w.-]++\)[ ])?)(?:\[?+[\w.-]++@[\w.-]++[^\s$#%]*+(?>(?:[ ][^\s$#%]++)?)[$#%]|[$%])(?:[ ]++|$)"
)
"""Prompts: `$`, `%`, `ada@mill:~/loom$` or `[root@mill loom]#`, optionally after the name of an environment."""

_MORE: Final = re.compile(r">[ ]++")
"""Prompt of continuation lines."""

_LINE: Final = re.compile(r"[^\n]*+\n|[^\n]++")


def is_session(code: str) -> bool:
    """Return whether a text starts with a prompt, which no script does."""
    return _PROMPT.match(code.lstrip("\n").partition("\n")[0]) is not None


def refined(code: str) -> list[Token]:
    """Return the tokens of a session with their roles. Their concatenation is the input."""
    tokens: list[Token] = []
    continued = False
    for line in _LINE.findall(code):
        prompt = (_MORE if continued else _PROMPT).match(line.removesuffix("\n"))
        if prompt is None and not continued:
            tokens.append(_plain(line, Role.TEXT))
            continue
        start = prompt.end() if prompt is not None else 0
        if start:
            tokens.append(_plain(line[:start], Role.PUNCTUATION))
        command = line[start:]
        continued = command.rstrip("\n").endswith("\\")
        tokens += shell.refined(lexed(command, "bash"))
    return tokens


def _plain(text: str, role: Role) -> Token:
    return Token(text, TokenKind.WORD, Text, role)
