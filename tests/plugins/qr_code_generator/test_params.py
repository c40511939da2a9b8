"""Parameters have the contract's names, bounds and defaults."""

from typing import Any

import pytest
from pressroom_qr_code_generator.params import QrCodeParams
from pydantic import ValidationError


def test_only_the_text_is_needed() -> None:
    assert QrCodeParams(text="a").model_dump() == {
        "text": "a",
        "size": 512,
        "margin": 2,
        "fgColor": "#000000",
        "bgColor": "#ffffff",
        "errorCorrection": "M",
        "format": "png",
        "content": None,
        "moduleShape": "square",
        "eyeShape": "square",
        "eyeColor": None,
        "gradientColor": None,
        "gradientType": "linear",
        "gradientAngle": 135,
        "logo": None,
        "logoSize": 20,
    }


@pytest.mark.parametrize(
    "given",
    [
        {"text": "a" * 2048},
        {"text": "🙂" * 2048},
        {"size": 64},
        {"size": 2048},
        {"margin": 0},
        {"margin": 16},
        *({"errorCorrection": level} for level in "LMQH"),
        {"format": "svg"},
        {"fgColor": "abc"},
        {"bgColor": "#ABCD"},
    ],
)
def test_parameters_within_the_contract_are_accepted(given: dict[str, Any]) -> None:
    QrCodeParams.model_validate({"text": "a"} | given)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("text", ""),
        ("text", "a" * 2049),
        ("text", 7),
        ("text", "\ud800"),
        ("size", 63),
        ("size", 2049),
        ("size", 512.5),
        ("size", "512"),
        ("size", True),
        ("margin", -1),
        ("margin", 17),
        ("fgColor", "red"),
        ("fgColor", "#12345"),
        ("bgColor", "#fffffff"),
        ("bgColor", None),
        ("errorCorrection", "m"),
        ("format", "jpeg"),
        ("colour", "#000000"),
    ],
)
def test_all_other_parameters_are_refused(field: str, value: object) -> None:
    with pytest.raises(ValidationError) as exc_info:
        QrCodeParams.model_validate({"text": "a"} | {field: value})
    assert [error["loc"][0] for error in exc_info.value.errors()] == [field]


@pytest.mark.parametrize(
    "given",
    [
        {"size": 512.0, "margin": 2.0},
        {"fgColor": "000", "bgColor": "FFF"},
        {"fgColor": "#000F", "bgColor": "#FFFFFFFF"},
        {"errorCorrection": "M", "format": "png"},
    ],
)
def test_equivalent_parameters_are_equal(given: dict[str, Any]) -> None:
    assert QrCodeParams.model_validate({"text": "a"} | given) == QrCodeParams(text="a")
