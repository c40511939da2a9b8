"""Rules for shell scripts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from pygments.token import Name, String

from pressroom_code_to_image.highlight.tokens import Role, Token, TokenKind, is_a, word_set

_KEYWORDS: Final = word_set("if then elif else fi for while until do done case esac in select function time coproc")
_BUILTINS: Final = word_set(
    "alias bg bind break builtin caller cd command compgen complete continue dirs disown echo enable eval "
    "exec exit false fc fg getopts hash help history jobs kill let logout popd printf pushd pwd read "
    "return set shift shopt source suspend test times trap true type ulimit umask unalias unset wait "
    "mapfile readarray"
)
_MODIFIERS: Final = word_set("local export readonly declare typeset")
_COMMAND_FOLLOWS: Final = word_set("if then elif else while until do ! time")
_BEGINNING: Final = word_set("; ;; & | && || ( { $( ` |&")
_PIECES: Final = re.compile(
    r"(?P<space>\s+)|(?P<mark>;;&?|&&|\|\||\|&|<<-?|>>|[<>]&?|&>|\[\[|\]\]|\$\(\(|\)\)|==|!=|=~|[()\[\]{};|&=!])"
    r"|(?P<word>[^\s()\[\]{};|&=!<>]+)"
)
_OPTION: Final = re.compile(r"--?[\w-]*")
_NUMBER: Final = re.compile(r"\d+")
_REDIRECTS: Final = word_set("< > >> << <<- <& >& &>")
_OPERATORS: Final = word_set("= == != =~ ! && || | &")


def refined(tokens: list[Token]) -> list[Token]:
    """Return the tokens of a shell script with their roles."""
    pieces = [part for token in tokens for part in _parts(token)]
    _Shell(pieces).run()
    return pieces


def _parts(token: Token) -> Iterator[Token]:
    if is_a(token.type, Name.Variable) and token.text.startswith("$"):
        token.role = Role.VARIABLE
        yield token
    elif token.text in ("$(", "${", "$((", "))") or token.role is Role.PLACEHOLDER:
        yield Token(token.text, TokenKind.PUNCTUATION, token.type, token.role)
    elif token.kind is TokenKind.STRING:
        yield from _string(token)
    elif token.kind in (TokenKind.SPACE, TokenKind.COMMENT):
        yield token
    elif is_a(token.type, Name.Variable):
        token.role = Role.VARIABLE
        yield token
    else:
        for match in _PIECES.finditer(token.text):
            kind = {"space": TokenKind.SPACE, "mark": TokenKind.PUNCTUATION}.get(match.lastgroup or "", TokenKind.WORD)
            yield Token(match[0], kind, token.type, Role.TEXT)


def _string(token: Token) -> Iterator[Token]:
    text = token.text
    if text == '"' or text in ("$'", "'"):
        yield Token(text, TokenKind.STRING, token.type, Role.QUOTE)
    elif is_a(token.type, String.Single) and len(text) > 1 and text[-1] == "'":
        opening = text.find("'") + 1
        for part, role in ((text[:opening], Role.QUOTE), (text[opening:-1], Role.STRING), (text[-1], Role.QUOTE)):
            if part:
                yield Token(part, TokenKind.STRING, token.type, role)
    elif text.startswith("<<"):
        end = re.match(r"<<-?", text)
        cut = end.end() if end else 2
        yield Token(text[:cut], TokenKind.PUNCTUATION, token.type, Role.OPERATOR)
        yield Token(text[cut:], TokenKind.STRING, token.type, Role.STRING)
    elif is_a(token.type, String.Escape):
        yield Token(text, TokenKind.STRING, token.type, Role.ESCAPE)
    else:
        yield token


class _Shell:
    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.quoted = False
        self.command = True
        self.depths: list[bool] = []
        self.tested = False

    def run(self) -> None:
        for index, token in enumerate(self.tokens):
            if token.kind is TokenKind.SPACE:
                if "\n" in token.text and not self.quoted:
                    self.command = True
            elif token.kind is TokenKind.STRING:
                if token.text == '"':
                    self.quoted = not self.quoted
                self.command = False
            elif token.kind is TokenKind.PUNCTUATION:
                self._mark(token)
            elif token.kind is TokenKind.WORD and token.role is not Role.COMMENT:
                self._word(index, token)

    def _mark(self, token: Token) -> None:
        text = token.text
        if text in (")", "))"):
            token.role = self._closed(text)
        elif text in ("$(", "${", "}", "$(("):
            token.role = Role.PLACEHOLDER
        elif text in _REDIRECTS or text in _OPERATORS:
            token.role = Role.OPERATOR
        else:
            token.role = Role.PUNCTUATION
        if text in ("$(", "`", "("):
            self.depths.append(self.quoted)
            self.quoted, self.command = False, True
        elif text in ("[", "[["):
            self.tested, self.command = self.command, False
        elif text in ("]", "]]"):
            self.tested = False
        if text in _BEGINNING or (text == "!" and not self.tested):
            self.command = not self.tested

    def _closed(self, text: str) -> Role:
        """Handle the end of a substitution or a case pattern; return the role of its mark."""
        if self.depths:
            self.quoted = self.depths.pop()
            self.command = False
            return Role.PLACEHOLDER if self.quoted else Role.PUNCTUATION
        self.command = self.command or text == ")"
        return Role.OPERATOR if text == ")" else Role.PUNCTUATION

    def _word(self, index: int, token: Token) -> None:
        text = token.text
        after = self.tokens[index + 1].text if index + 1 < len(self.tokens) else ""
        if is_a(token.type, Name.Variable):
            token.role = Role.VARIABLE
            if after == "=":
                self.command = False
            return
        if self.quoted:
            token.role = Role.OPERATOR if set(text) <= set(":-?+#%/@*^,") else Role.VARIABLE
            return
        if self.command:
            self._first_word(token, after)
            return
        if text in ("in", "do", "then") and text in _KEYWORDS:
            token.role = Role.KEYWORD
            self.command = text != "in"
        elif _OPTION.fullmatch(text):
            token.role = Role.OPERATOR if self.tested else Role.CONSTANT
        elif _NUMBER.fullmatch(text):
            token.role = Role.NUMBER
        elif text in ("true", "false"):
            token.role = Role.LITERAL
        else:
            token.role = Role.STRING

    def _first_word(self, token: Token, after: str) -> None:
        text = token.text
        self.command = text in _COMMAND_FOLLOWS
        if text in _KEYWORDS:
            token.role = Role.KEYWORD
        elif text in _MODIFIERS:
            token.role = Role.MODIFIER
        elif after == ")" and not self.depths:
            token.role = Role.REGEX  # the pattern of a case
        elif after == "(":
            token.role = Role.FUNCTION
        else:
            token.role = Role.BUILTIN if text in _BUILTINS else Role.FUNCTION
