"""Output of commands, tested in-process."""

from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pressroom.cli.output import Output, safe, safe_cell, safe_json
from pressroom.errors import PluginError


def steers_a_terminal(char: str) -> bool:
    """Return whether a character is a control character, a bidirectional control or half of a surrogate pair."""
    direction = unicodedata.bidirectional(char) in {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
    return direction or unicodedata.category(char) in {"Cc", "Cs", "Zl", "Zp"}


any_text = st.text(alphabet=st.characters(exclude_categories=[]))


@given(text=any_text)
def test_text_of_lines_keeps_its_line_ends_and_nothing_else_that_steers(text: str) -> None:
    assert not any(steers_a_terminal(char) for char in safe(text) if char != "\n")
    assert safe(text).count("\n") == text.count("\n")


@given(text=any_text)
def test_a_cell_is_one_line(text: str) -> None:
    assert not any(steers_a_terminal(char) for char in safe_cell(text))


@given(text=st.text())
def test_a_json_document_is_safe_and_means_the_same(text: str) -> None:
    document = safe_json(json.dumps({text: text}, ensure_ascii=False))
    assert not any(steers_a_terminal(char) for char in document)
    assert json.loads(document) == {text: text}


def test_ordinary_text_is_unchanged() -> None:
    text = "naïve café — 日本語 👩‍👩‍👧 [bold]markup[/bold] :smile:"
    assert safe(text) == text


def test_a_human_readable_table_has_aligned_columns(capsys: pytest.CaptureFixture[str]) -> None:
    Output().table(["Tool", "Rate limit"], [("qr", None), ("image-generator", "60 per hour")])
    assert capsys.readouterr().out == "Tool             Rate limit\nqr\nimage-generator  60 per hour\n"


def test_a_json_table_is_a_list_of_objects(capsys: pytest.CaptureFixture[str]) -> None:
    Output(json=True).table(["Tool", "Rate limit"], [("qr", None), ("image", 60)])
    assert json.loads(capsys.readouterr().out) == [
        {"tool": "qr", "rate_limit": None},
        {"tool": "image", "rate_limit": 60},
    ]


def test_an_empty_table_has_its_heading(capsys: pytest.CaptureFixture[str]) -> None:
    Output().table(["Tool", "Summary"], [])
    assert capsys.readouterr().out == "Tool  Summary\n"


def test_sentences_are_omitted_from_json_output(capsys: pytest.CaptureFixture[str]) -> None:
    for output in (Output(json=True), Output()):
        output.line("All is well.")
        output.note("By the way.")
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("All is well.\n", "By the way.\n")


def test_an_error_without_problems_has_its_code_and_hint(capsys: pytest.CaptureFixture[str]) -> None:
    error = PluginError("shout: cannot be imported\x1b[2J", hint="Install it again.")
    Output().error(error)
    assert capsys.readouterr().err == "Error: shout: cannot be imported\\x1b[2J\nInstall it again.\n"
    Output(json=True).error(error)
    assert json.loads(capsys.readouterr().out) == {
        "error": {"code": "plugin_error", "message": "shout: cannot be imported\x1b[2J", "hint": "Install it again."}
    }


@pytest.mark.parametrize("output", [Output(), Output(json=True)])
def test_progress_is_hidden_without_a_terminal(output: Output, capsys: pytest.CaptureFixture[str]) -> None:
    with output.progress("Rendering", total=3) as progress:
        progress.advance()
        progress.advance(2)
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "")
