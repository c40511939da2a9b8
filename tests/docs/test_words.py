"""The word check finds the listed words, and nothing else."""

import tomllib
from pathlib import Path

import pytest
from support.words import LIST, WordList, check, sources

WORDS = WordList(LIST.read_text(encoding="utf-8"))


def found(folder: Path, name: str, text: str) -> list[str]:
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return [line.partition(":")[2] for line in check(file, WORDS, folder)]


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.md", "Open\nthe address.", ["2: 'address'"]),
        ("a.md", "An IP address and an e-mail\naddress.", []),
        ("a.md", "See `address` and [this](address.md).\n```\naddress\n```\n", []),
        ("a.md", "<!-- begin errors -->\nAn address.\n<!-- end errors -->", []),
        ("a.py", 'def f() -> None:\n    """Return a picture."""', ["2: 'picture'"]),
        ("a.py", "picture = 1  # it goes on", ["1: 'goes on'"]),
        ("a.py", 'address = {"address": 1}', []),
        ("a.py", 'raise ValueError(f"{address} is no colour")', ["1: 'is no colour'"]),
        ("a.py", 'def f() -> None:\n    """Do.\n\n    Args:\n        picture: an image.\n    """', []),
        (
            "a.html",
            '<p title="A picture">{{ picture }} <picture></picture> stranger</p>',
            ["1: 'stranger'", "1: 'picture'"],
        ),
        ("a.md", "There is no image here.", []),
        ("a.md", "This many or so many that it hurts, calls in flight.", []),
    ],
)
def test_prose_is_checked_and_code_is_not(tmp_path: Path, name: str, text: str, words: list[str]) -> None:
    assert sorted(line.partition(": write")[0].partition(": say")[0] for line in found(tmp_path, name, text)) == sorted(
        words
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "def ask_told(asked: int) -> None: ...",
            ["1: 'told' in the name 'ask_told'", "1: 'asked' in the name 'asked'"],
        ),
        ("class LateAnswer: ...", ["1: 'Answer' in the name 'LateAnswer'"]),
        ("MAX_ANSWERS = 1", ["1: 'ANSWERS' in the name 'MAX_ANSWERS'"]),
        ("self.said = told.asked", ["1: 'said' in the name 'said'"]),
        ("phrases_asked = result = 1", []),
    ],
)
def test_names_defined_in_code_are_checked(tmp_path: Path, text: str, words: list[str]) -> None:
    (tmp_path / "core/src").mkdir(parents=True)
    assert [line.partition(": write")[0] for line in found(tmp_path, "core/src/a.py", text)] == words


def test_only_names_are_checked_in_tests(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    text = "def test_it(told: int) -> None:\n    stranger = told  # as it stands"
    assert [line.partition(": write")[0] for line in found(tmp_path, "tests/test_a.py", text)] == [
        "1: 'told' in the name 'told'",
        "2: 'stranger' in the name 'stranger'",
    ]


def test_a_name_can_be_allowed_in_some_files(tmp_path: Path) -> None:
    for folder in ("core/src", "tests"):
        (tmp_path / folder).mkdir(parents=True)
    assert found(tmp_path, "core/src/a.py", "answer = 1") == []
    assert len(found(tmp_path, "tests/test_a.py", "answer = 1")) == 1


def test_the_tests_are_checked() -> None:
    assert Path(__file__) in sources()


def test_every_exception_has_a_reason() -> None:
    document = tomllib.loads(LIST.read_text(encoding="utf-8"))
    assert [entry for entry in (*document["allow"], *document["allow_name"]) if not entry.get("reason")] == []
