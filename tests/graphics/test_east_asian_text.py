"""Chinese, Japanese and Korean text: rendered with the fonts of the extra `cjk`, as boxes without them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from PIL import Image
from pressroom.graphics.color import BLACK
from pressroom.graphics.font_check import check_fonts
from pressroom.graphics.text import FontLibrary, TextStyle, default_library, draw_text, missing_characters, shape
from pressroom.graphics.text.fonts import load_faces
from pressroom.testing import RunningHost
from pressroom.testing.plugin import settings_for_test

LIBRARY = default_library()
WITHOUT = FontLibrary(face for face in LIBRARY.all_faces() if "CJK" not in face.family)
SENTENCES = {
    "zh-Hans": "简体中文\uff1a今天天气很好。",
    "zh-Hant": "繁體中文\uff1a今天天氣很好。",
    "ja": "日本語の文章、カタカナとｶﾅ。",
    "ko": "한국어 문장은 이렇게 씁니다.",
}


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHost]:
    with RunningHost(settings_for_test({}, tmp_path_factory.mktemp("east"))) as running:
        yield running


def drawn(
    text: str, style: TextStyle, library: FontLibrary = LIBRARY
) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    image = Image.new("L", (500, 60), "white").convert("RGB")
    draw_text(image, shape(text, style, library), 5, 42, BLACK)
    return np.asarray(image.convert("L"))


def without_packages(prefix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide modules whose name starts with `prefix` from the font check."""
    monkeypatch.setattr(
        "pressroom.graphics.font_check.find_spec", lambda name: None if name.startswith(prefix) else find_spec(name)
    )


@pytest.mark.parametrize("text", SENTENCES.values(), ids=SENTENCES)
def test_without_fonts_each_character_is_a_visible_box(text: str) -> None:
    lacking = [character for character in dict.fromkeys(text) if character > "\u2fff"]
    assert set(lacking) <= set(shape(text, TextStyle(30), WITHOUT).missing)
    first, second = (drawn(character, TextStyle(30), WITHOUT) for character in lacking[:2])
    assert first.min() < 100
    assert (first == second).all()


def test_characters_without_a_glyph_are_listed_once_in_order() -> None:
    assert missing_characters("Title: 日本\nの 日 👩\u200d👩\u200d👧 e\u0301\u200d\t", WITHOUT) == ("日", "本", "の")
    assert missing_characters("Grüße, שלום, 日本, 🚀\n\u200b") == ()
    assert missing_characters("") == ()
    assert missing_characters("A \U00013000 and \U00013001") == ("\U00013000", "\U00013001")


def test_doctor_reports_no_problem_with_the_extra() -> None:
    result = check_fonts([])
    assert (result.status, result.hint) == ("ok", "")


def test_doctor_warns_where_the_extra_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    without_packages("noto_cjk", monkeypatch)
    result = check_fonts([])
    assert result.status == "warning"
    assert result.message.endswith("; none for Chinese or Japanese or Korean: their text is drawn as boxes")
    assert "install pressroom[graphics,cjk]" in result.hint


@pytest.mark.parametrize(
    ("package", "language"),
    [
        ("fontpkg_noto_sans_arabic", "Arabic"),
        ("fontpkg_heebo", "Hebrew"),
        ("fontpkg_noto_sans_devanagari", "Hindi"),
        ("fontpkg_noto_sans_thai", "Thai"),
    ],
)
def test_doctor_warns_of_any_script_without_a_font(
    package: str, language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_packages(package, monkeypatch)
    result = check_fonts([])
    assert result.status == "warning"
    assert f"; none for {language}: " in result.message


@pytest.mark.parametrize(("language", "text"), SENTENCES.items(), ids=SENTENCES)
@pytest.mark.parametrize("family", ["Inter", "serif", "mono"])
def test_every_character_is_drawn_with_any_font_family(language: str, text: str, family: str) -> None:
    shaped = shape(text, TextStyle(30, (family,), language=language), LIBRARY)
    assert shaped.missing == ()
    assert (drawn(text, shaped.style) != drawn(text, shaped.style, WITHOUT)).any()


@pytest.mark.parametrize(("encoding", "rows"), [("gb2312", 0xF8), ("euc_kr", 0xFE), ("euc_jp", 0xF5)])
def test_the_national_character_sets_have_glyphs(encoding: str, rows: int) -> None:
    """The ideographs and syllables of GB 2312, KS X 1001 and JIS X 0208 start at row 16 (0xB0)."""
    text = "".join(
        bytes((row, cell)).decode(encoding, "ignore") for row in range(0xB0, rows) for cell in range(0xA1, 0xFF)
    )
    covered = [face.coverage for face in LIBRARY.all_faces()]
    assert len(text) > 4000
    assert [character for character in text if not any(ord(character) in coverage for coverage in covered)] == []


@pytest.mark.parametrize(
    ("tool", "body"),
    [
        ("favicon-generator", {"source": "text", "content": "日本"}),
        ("code-to-image", {"code": "print('日本')", "language": "python", "title": "日本.py"}),
        ("image-generator", {"template": "og", "props": {"title": "日本"}}),
        ("image-generator", {"html": "<div style='display:flex'>日本</div>"}),
    ],
)
def test_the_generators_draw_east_asian_text_without_a_warning(
    host: RunningHost, tool: str, body: dict[str, Any]
) -> None:
    response = httpx.post(f"{host.url}/tools/{tool}/api/generate", json=body, timeout=60)
    assert response.status_code == 200, response.text
    assert response.json()["data"].get("warnings", []) == []


def test_regular_and_bold_weights_differ() -> None:
    light, bold = (drawn("国語", TextStyle(30, weight=weight)) for weight in (400, 700))
    assert bold.mean() < light.mean() - 1


def test_the_language_chooses_the_forms_of_ideographs() -> None:
    japanese, chinese, unknown = (
        drawn("门骨直", TextStyle(30, language=language)) for language in ("ja", "zh-Hans", "")
    )
    assert (japanese != chinese).any()
    assert (japanese == unknown).all()


def test_an_operator_font_covers_east_asian_text_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    font = next(face.path for face in LIBRARY.all_faces() if "CJK" in face.family)
    shutil.copy(font, tmp_path / "east.otf")
    without_packages("noto_cjk", monkeypatch)
    result = check_fonts([tmp_path])
    assert (result.status, result.hint) == ("ok", "")
    assert load_faces(tmp_path / "east.otf")[0].family in result.message
