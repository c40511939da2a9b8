"""Highlighting of individual words and lines."""

from __future__ import annotations

import pytest
from pressroom_code_to_image.highlight import Role, highlighted

SESSION = """\
$ ls -la | grep loom
total 12 if done
-rw-r--r-- 1 ada "staff" $HOME # no comment
(venv) ada@mill:~/loom$ echo \\
>   "hello"
hello
[root@mill etc]# exit
"""


def test_both_words_of_yield_from_are_keywords() -> None:
    roles = dict(highlighted("def f():\n    yield from g()\n", "python"))
    assert roles["yield"] is roles["from"] is Role.KEYWORD


def test_command_output_is_plain() -> None:
    pieces = highlighted(SESSION, "bash")
    assert "".join(text for text, _ in pieces) == SESSION
    assert {text for text, role in pieces if role is Role.TEXT and text.strip()} == {
        "total 12 if done\n",
        '-rw-r--r-- 1 ada "staff" $HOME # no comment\n',
        "hello\n",
    }


def test_prompts_and_commands_of_a_session_are_distinguished() -> None:
    roles = highlighted(SESSION, "bash")
    for prompt in ("$ ", "(venv) ada@mill:~/loom$ ", ">   ", "[root@mill etc]# "):
        assert (prompt, Role.PUNCTUATION) in roles
    assert ("ls", Role.FUNCTION) in roles
    assert ("-la", Role.CONSTANT) in roles
    assert ("grep", Role.FUNCTION) in roles
    assert ("exit", Role.BUILTIN) in roles


@pytest.mark.parametrize(
    "script", ["#!/bin/bash\necho hi\n", "# $ not a prompt\nls\n", "echo '$ ls'\nls -l\n", "$HOME/run\nls\n"]
)
def test_a_script_is_not_treated_as_a_session(script: str) -> None:
    assert any(
        text in ("ls", "echo") and role in (Role.FUNCTION, Role.BUILTIN) for text, role in highlighted(script, "bash")
    )
