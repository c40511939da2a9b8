"""Languages: which are supported, how they are detected, and the highlighting of those without their own rules."""

from __future__ import annotations

from typing import get_args

import pytest
from pressroom.catalog.schema import parameter_list
from pressroom_code_to_image.highlight import Role, highlighted
from pressroom_code_to_image.highlight.detection import detected
from pressroom_code_to_image.names import LANGUAGES, Language, language_of
from pressroom_code_to_image.params import CodeImageParams
from pressroom_code_to_image.plugin import EXAMPLES
from pressroom_code_to_image.render import render
from pydantic import ValidationError
from pygments.lexers import get_all_lexers

JAVA = """\
// Adds numbers.
public class Sum {
    static int of(int... values) {
        return Arrays.stream(values).sum() + 42;
    }
}
"""

SNIPPETS = {
    "const x = 1": "javascript",
    "export function sum(values: number[]): number {\n  return 1;\n}": "typescript",
    "class A:\n    pass": "python",
    "package main\n\nfunc main() {}": "go",
    'fn main() { println!("a"); }': "rust",
    "npm install pressroom": "bash",
    "$ ls\nnotes.txt": "bash",
    '{"a": [1, true]}': "json",
    '<div class="a">x</div>': "html",
    "body { color: red; }": "css",
    "select name from people": "sql",
    "#!/usr/bin/env ruby\nputs 1": "ruby",
    "FROM python:3\nRUN pip install x": "docker",
    "name: build\non:\n  push:\n": "yaml",
    '[package]\nname = "a"': "toml",
    "#include <stdio.h>\nint main(void) { return 0; }": "c",
    "public class A { public static void main(String[] a) {} }": "java",
    "--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y": "diff",
    "A sentence in plain English, with a comma.": "plaintext",
}


@pytest.mark.parametrize("language", sorted({alias for _, aliases, _, _ in get_all_lexers() for alias in aliases[:1]}))
def test_every_pygments_language_is_accepted_and_keeps_the_text(language: str) -> None:
    code = f"\n\n\t{JAVA}<?php echo 'é'; ?>\n"
    for text in (code, code.rstrip(), "- a"):
        assert "".join(piece for piece, _ in highlighted(text, language_of(language))) == text


@pytest.mark.parametrize(
    ("language", "last", "role"),
    [
        ("bash", "# the end", Role.COMMENT),
        ("rust", "// the end", Role.COMMENT),
        ("java", "// the end", Role.COMMENT),
        ("csharp", "// the end", Role.COMMENT),
        ("nginx", "# the end", Role.COMMENT),
        ("markdown", "## The end", Role.FUNCTION),
        ("diff", "+added", Role.STRING),
    ],
)
def test_the_last_line_is_highlighted_like_the_others(language: str, last: str, role: Role) -> None:
    for code in (last, f"{last}\n", f"\n{last}"):
        pieces = highlighted(code, language)
        assert "".join(text for text, _ in pieces) == code
        assert [kind for text, kind in pieces if text.strip()] == [role], code


@pytest.mark.parametrize(
    ("alias", "language"),
    [("js", "javascript"), ("TS", "typescript"), ("py", "python"), ("sh", "bash"), ("golang", "go"),
     ("text", "plaintext"),
     ("yml", "yaml"), ("c++", "cpp"), ("hcl", "terraform"), ("svelte", "html")],
)  # fmt: skip
def test_aliases_select_the_same_language(alias: str, language: str) -> None:
    assert CodeImageParams(code="x", language=alias) == CodeImageParams(code="x", language=language)


def test_every_listed_language_is_its_own_canonical_name() -> None:
    assert [language_of(name) for name in LANGUAGES] == list(LANGUAGES)


@pytest.mark.parametrize(("name", "hint"), [("pyton", "python"), ("javascrpt", "javascript"), ("☃", "use auto")])
def test_an_unknown_language_is_refused_with_similar_names(name: str, hint: str) -> None:
    with pytest.raises(ValidationError, match=hint):
        CodeImageParams(code="x", language=name)


def test_the_descriptor_lists_the_contract_languages_first() -> None:
    (record,) = (parameter for parameter in parameter_list(CodeImageParams) if parameter["name"] == "language")
    assert (record["type"], record["default"]) == ("enum", "typescript")
    assert record["enumValues"][: len(get_args(Language))] == list(get_args(Language))


def test_a_language_without_rules_still_has_its_parts_distinguished() -> None:
    roles = highlighted(JAVA, "java")
    assert "".join(text for text, role in roles if role is Role.COMMENT).strip() == "// Adds numbers."
    expected = {"public": Role.DECLARATION, "Sum": Role.CLASS, "return": Role.KEYWORD, "42": Role.NUMBER}
    assert expected.items() <= dict(roles).items()


@pytest.mark.parametrize(("code", "language"), SNIPPETS.items())
def test_the_language_is_detected(code: str, language: str) -> None:
    assert detected(code) == language


def test_the_languages_of_the_samples_are_detected(samples: dict[str, str]) -> None:
    assert {name: detected(code) for name, code in samples.items()} == {name: name for name in samples}


def test_a_file_name_takes_precedence_and_the_default_title_is_ignored() -> None:
    assert detected("x = 1", "notes.py") == "python"
    ruby = "def f\n  1\nend"
    by_itself = render(CodeImageParams(code=ruby, language="auto")).content
    assert by_itself == render(CodeImageParams(code=ruby, language="ruby")).content
    assert by_itself != render(CodeImageParams(code=ruby, language="typescript")).content


def test_the_sample_on_the_page_does_not_affect_language_detection() -> None:
    sample = EXAMPLES[0].params
    assert sample["language"] == "auto"
    assert detected(sample["code"], sample["title"]) == "typescript"
    assert detected("def f(a):\n    return a", sample["title"]) == "python"


@pytest.mark.parametrize(
    "unit", ["a", "a ", "\n", "a{\n", "select ", "(", "[", "a: ", "<a", "fn a(", "let a:", "def a("]
)
def test_language_detection_handles_8000_characters_of_one_kind(unit: str) -> None:
    """Unbounded repetitions would make some patterns take minutes, and nested brackets would exhaust the stack."""
    assert detected((unit * 8000)[:8000]) in LANGUAGES
