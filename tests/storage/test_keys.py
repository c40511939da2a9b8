from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pressroom.sdk import EXTENSIONS
from pressroom.storage.files import MediaTypes, content_disposition, is_key


@pytest.mark.parametrize("key", ["qr-code-generator/0123456789abcdef.png", "a/b.c", f"tool/{'a' * 191}.png"])
def test_keys_of_tools_are_valid(key: str) -> None:
    assert is_key(key)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "tool",
        "tool/id",
        "/tool/id.png",
        "tool//id.png",
        "../id.png",
        "tool/../id.png",
        "tool/..",
        "tool/.png",
        ".tmp/id.png",
        "tool/id.png/",
        "tool/id.png\n",
        "tool/id.png\0",
        "tool/ID.png",
        "tool\\id.png",
        "tool/%2e%2e.png",
        "tool/\uff49\uff44.png",
        f"tool/{'a' * 192}.png",
    ],
)
def test_everything_else_is_not_a_key(text: str) -> None:
    assert not is_key(text)


@given(st.text(st.sampled_from("ab0/.-_\\%\0~ é"), max_size=30))
def test_no_key_leads_out_of_its_folder(text: str) -> None:
    if is_key(text):
        folder = Path("/store")
        assert (folder / text).parent.parent == folder
        assert ".." not in Path(text).parts


@pytest.mark.parametrize(("media_type", "extension"), EXTENSIONS.items())
def test_an_extension_determines_the_media_type(media_type: str, extension: str) -> None:
    assert MediaTypes().of(f"tool/id.{extension}") == media_type


def test_an_unknown_extension_is_plain_bytes() -> None:
    assert MediaTypes().of("tool/id.exe") == "application/octet-stream"


def test_declarations_of_a_tool_apply_to_its_own_files() -> None:
    media_types = MediaTypes()
    media_types.declare("tool", {"text/csv": "csv", "image/fake": "png"})
    assert media_types.of("tool/id.csv") == "text/csv"
    assert media_types.of("other/id.csv") == "application/octet-stream"
    assert media_types.of("tool/id.png") == "image/png"
    with pytest.raises(ValueError, match="would be served as text/csv"):
        media_types.check("tool/id.csv", "text/html")


def test_a_file_is_shown_inline_and_saved_under_its_own_name() -> None:
    assert content_disposition("tool/0123.svg", "image/svg+xml") == 'inline; filename="0123.svg"'


@pytest.mark.parametrize("media_type", ["text/csv", "audio/mpeg", "application/xml", "application/octet-stream"])
def test_a_file_of_any_other_type_is_saved(media_type: str) -> None:
    assert content_disposition("tool/0123.x", media_type) == 'attachment; filename="0123.x"'
