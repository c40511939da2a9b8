"""Code samples to copy are equivalent to the form."""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st
from pressroom.interfaces.tools_api.pages.samples import code_samples, response_sample
from support.page_server import branding
from support.tool_descriptors import FAVICON, QR

URL = "https://pressroom.example/tools/qr-code-generator/api/generate"


def curl_command(values: Mapping[str, object]) -> str:
    (sample,) = (sample for sample in code_samples(URL, "", branding(), values) if sample.id == "curl")
    return sample.text


@given(st.dictionaries(st.text(), st.text() | st.integers() | st.booleans() | st.lists(st.text()), max_size=4))
def test_the_command_sends_exactly_the_values(values: dict[str, object]) -> None:
    one_line = curl_command(values).replace(" \\\n", " ")  # shlex does not support line continuations
    words = shlex.split(one_line)
    assert words[:5] == ["curl", URL, "-H", "Content-Type: application/json", "-d"]
    assert json.loads(words[5]) == values
    assert len(words) == 6


def test_a_shell_parses_the_command_as_one() -> None:
    values = {"text": 'it\'s `id` $(id) $HOME "x" \\ ! \n é 🗞️'}
    script = "curl() { printf '%s\\0' \"$@\"; }\n" + curl_command(values)
    printed = subprocess.run(["sh", "-c", script], capture_output=True, check=True, text=True).stdout
    assert json.loads(printed.split("\0")[4]) == values


def test_the_typical_response_has_the_shape_of_the_contract() -> None:
    response = json.loads(response_sample(QR, branding(key="acme"), "https://acme.example", None))
    assert response["ok"] is True
    assert response["data"].keys() == {"id", "url", "expiresAt", "cached", "size", "format"}
    assert response["data"]["url"].startswith("https://acme.example/files/qr-code-generator/")
    assert response["meta"]["rateLimit"]["limit"] == 300
    assert response["acme"]["name"] == "Pressroom"


def test_the_typical_file_has_the_extension_of_the_tool() -> None:
    for tool, extension in ((FAVICON, "zip"), (QR, "png")):
        described = {**tool, "extension": extension}
        response = json.loads(response_sample(described, branding(), "https://acme.example", None))
        assert f".{extension}?" in response["data"]["url"]


def test_a_real_response_replaces_the_typical_one() -> None:
    assert json.loads(response_sample(QR, branding(), "https://acme.example", {"ok": False})) == {"ok": False}
