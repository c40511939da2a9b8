"""The plugin's declaration: valid and quick to load, with working examples."""

import pickle
import subprocess
import sys
from importlib.metadata import entry_points

import pytest
from pressroom.sdk import Artifact, Call, Caller, Example, InvalidInput, per_hour
from pressroom_qr_code_generator.params import QrCodeDetails, QrCodeParams
from pressroom_qr_code_generator.plugin import PLUGIN, generate, pressroom_generators

CALL = Call(
    tool="qr-code-generator",
    request_id="r",
    caller=Caller("127.0.0.1"),
    base_url="http://127.0.0.1:8000",
    timeout=5,
)


def _generate(**params: object) -> Artifact:
    artifact = generate(QrCodeParams.model_validate(params), CALL)
    assert isinstance(artifact, Artifact)
    return artifact


def test_the_declaration_is_valid() -> None:
    assert list(pressroom_generators()) == [generate]
    assert generate.problems() == []
    assert (generate.slug, generate.rate_limit, generate.executor) == ("qr-code-generator", per_hour(300), "process")
    assert generate.mcp is not None
    assert generate.mcp.name == "generate_qr_code"


def test_the_plugin_is_found_under_its_id() -> None:
    (entry,) = entry_points(group="pressroom.plugins", name=PLUGIN.id)
    assert entry.load().PLUGIN is PLUGIN


def test_loading_the_plugin_does_not_load_the_encoder() -> None:
    heavy = "{'segno', 'isal', 'PIL', 'numpy'}"
    code = f"import sys, pressroom_qr_code_generator.plugin; print(sorted({heavy} & set(sys.modules)))"
    completed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert completed.stdout.strip() == "[]"


@pytest.mark.parametrize("example", generate.examples, ids=lambda example: example.title)
def test_every_example_generates_a_file_without_a_warning(example: Example) -> None:
    artifact = _generate(**example.params)
    assert artifact.media_type in generate.produces
    assert artifact.warnings == ()


def test_the_response_has_the_size_and_the_format() -> None:
    assert _generate(text="a", size=300.0).details == QrCodeDetails(size=300, format="png")


def test_equivalent_parameters_return_identical_bytes() -> None:
    assert _generate(text="a", fgColor="000").content == _generate(text="a", fgColor="#000000ff").content


def test_low_contrast_colours_are_drawn_with_warnings() -> None:
    artifact = _generate(text="a", fgColor="#ffffff", bgColor="#eeeeee")
    assert len(artifact.warnings) == 2
    assert artifact.content.startswith(b"\x89PNG")


def test_a_refusal_can_be_pickled() -> None:
    with pytest.raises(InvalidInput) as exc_info:
        _generate(text="é" * 2048)
    copy = pickle.loads(pickle.dumps(exc_info.value))
    assert (copy.field, copy.message) == ("text", exc_info.value.message)
