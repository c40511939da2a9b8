"""Licences and their permissions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pressroom_images.sources.search import allows, creative_commons, credit_line


@pytest.mark.parametrize(
    ("name", "version", "code", "commercial", "modification"),
    [
        ("by", "4.0", "CC-BY-4.0", True, True),
        ("by-nc-nd", "2.0", "CC-BY-NC-ND-2.0", False, False),
        ("CC BY-SA 3.0", "", "CC-BY-SA-3.0", True, True),
        ("CC BY-SA 3.0 de", "", "CC-BY-SA-3.0", True, True),
        ("cc0", "1.0", "CC0-1.0", True, True),
        ("pdm", "1.0", "PDM-1.0", True, True),
        ("Public domain", "", "LicenseRef-public-domain", True, True),
    ],
)
def test_a_licence_is_recognised_by_the_providers_name(
    name: str, version: str, code: str, commercial: bool, modification: bool
) -> None:
    license_ = creative_commons(name, version)
    assert license_ is not None
    assert (license_.code, license_.commercial, license_.modification) == (code, commercial, modification)
    assert allows(license_, "commercial") is commercial
    assert allows(license_, "public_domain") is code.startswith(("CC0", "PDM", "LicenseRef"))


@pytest.mark.parametrize("name", ["", "sampling+", "all rights reserved", "GFDL", "by-by-evil!"])
def test_an_unknown_licence_is_not_recognised(name: str) -> None:
    assert creative_commons(name) is None


@given(st.text(), st.text(), st.text())
def test_a_credit_holds_no_markup_of_strangers(title: str, creator: str, url: str) -> None:
    line = credit_line(title=title, page_url=url, creator=creator, creator_url=f"https://x/{url}", provider="P")
    assert line.html.count("<") == line.html.count("<a ") + line.html.count("</a>")
    assert 'href="javascript' not in line.html
    assert "](javascript" not in line.markdown
