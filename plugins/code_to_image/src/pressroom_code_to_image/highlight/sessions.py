"""Sessions of a shell: prompts, commands, and what the commands wrote, which is not a shell script."""

from __future__ import annotations

import re
from typing import Final

from pygments.token import Text

from pressroom_code_to_image.highlight import shell
from pressroom_code_to_image.highlight.roles import Role
from pressroom_code_to_image.highlight.tokens import Token, TokenKind, lexed

_PROMPT: Final = re.compile(
    r"(?:\([\w.-]++\)[ ])?+(?:\[?+[\w.-]++@[\w.-]++[^\s$#%]*+(?:[ ][^\s$#%]++)?+[$#%]|[$%])(?:[ ]++|$)"
)
"""What is before a command: `$`, `%`, `ada@mill:~/loom$` or `[root@mill loom]#`, after the name of an environment."""

_MORE: Final = re.compile(r">[ ]++")
"""What is before the further lines of a command."""

_LINE: Final = re.compile(r"[^\n]*+\n|[^\n]++")


def is_session(code: str) -> bool:
    """Tell whether a text begins with a prompt: no script does."""
    return _PROMPT.match(code.lstrip("\n").partition("\n")[0]) is not None


def refined(code: str) -> list[Token]:
    """Return the tokens of a session with their roles. Their texts together are the text."""
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
