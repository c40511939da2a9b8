"""Highlighting agrees with TextMate grammars in the same themes, character by character."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Final

import pytest
from pressroom_code_to_image.highlight import highlighted
from pressroom_code_to_image.names import Language
from pressroom_code_to_image.themes import THEMES
from support.downloads import npm_packages
from support.needs import program

HERE: Final = Path(__file__).parent / "shiki"

_OTHER_NAMES: Final = {
    "gruvbox-dark": "gruvbox-dark-medium",
    "gruvbox-light": "gruvbox-light-medium",
    "kanagawa": "kanagawa-wave",
    "one-dark": "one-dark-pro",
    "palenight": "material-theme-palenight",
}
THEIR_NAMES: Final = {name: _OTHER_NAMES.get(name, name) for name in THEMES}
COMPARED: Final = ("github-dark", "dracula", "one-dark")
"""The themes over which agreement is averaged: they distinguish most token types."""

MIN_AGREEMENT: Final[dict[Language, float]] = {
    "javascript": 0.93,
    "typescript": 0.95,
    "python": 0.95,
    "go": 0.95,
    "rust": 0.95,
    "bash": 0.88,
    "json": 0.92,
    "html": 0.95,
    "css": 0.9,
    "sql": 0.92,
}

Pieces = list[list[list[str]]]


@pytest.fixture(scope="session")
def shiki() -> Path:
    """Return the `node_modules` folder that contains `shiki`."""
    return npm_packages("shiki", HERE / "package.json")


@pytest.fixture(scope="session")
def theirs(shiki: Path, samples: dict[str, str]) -> dict[str, dict[str, Pieces]]:
    """The samples coloured by Shiki in every theme, by language and by our theme name."""
    order = {
        "modules": str(shiki),
        "themes": list(THEIR_NAMES.values()),
        "samples": [{"language": language, "code": samples[language]} for language in MIN_AGREEMENT],
    }
    command = [program("node"), str(HERE / "colors.js")]
    completed = subprocess.run(
        command, input=json.dumps(order), capture_output=True, text=True, timeout=100, check=False
    )
    assert not completed.returncode, completed.stderr
    theirs = dict(zip(MIN_AGREEMENT, json.loads(completed.stdout), strict=True))
    return {
        language: {ours: themes[their] for ours, their in THEIR_NAMES.items()} for language, themes in theirs.items()
    }


def _colors(lines: Pieces) -> list[tuple[str, str]]:
    """Return each visible character with its colour."""
    return [
        (character, color) for line in lines for text, color in line for character in text if not character.isspace()
    ]


def _agreement(code: str, language: Language, theme: str, lines: Pieces) -> float:
    ours = [
        (character, THEMES[theme].style(role, language).color)  # type: ignore[index]
        for text, role in highlighted(code, language)
        for character in text
        if not character.isspace()
    ]
    expected = _colors(lines)
    assert [character for character, _ in ours] == [character for character, _ in expected]
    return sum(role == other for role, other in zip(ours, expected, strict=True)) / len(expected)


@pytest.mark.parametrize("language", MIN_AGREEMENT)
def test_most_characters_have_the_colour_of_the_textmate_grammar(
    language: Language, theirs: dict[str, dict[str, Pieces]], samples: dict[str, str]
) -> None:
    parts = [_agreement(samples[language], language, theme, theirs[language][theme]) for theme in COMPARED]
    assert sum(parts) / len(parts) >= MIN_AGREEMENT[language]


@pytest.mark.parametrize("theme", THEMES)
def test_every_theme_uses_only_colours_of_its_palette(theme: str, theirs: dict[str, dict[str, Pieces]]) -> None:
    """All our colours occur in the original theme."""
    published = {color for themes in theirs.values() for _, color in _colors(themes[theme])}
    palette = THEMES[theme]  # type: ignore[index]
    ours = {style.color for table in (palette.styles, *palette.languages.values()) for style in table.values()}
    assert ours - published <= {palette.foreground}


def test_plain_text_has_one_colour(samples: dict[str, str]) -> None:
    (piece,) = highlighted(samples["plaintext"], "plaintext")
    assert piece[0] == samples["plaintext"]
