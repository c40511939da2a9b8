"""Options of the decorators: type checkers accept what the records accept."""

import dataclasses
import subprocess
import sys
import typing
from pathlib import Path

import pytest
from pressroom.sdk import Generator, GeneratorOptions, McpTool, McpToolOptions, generator, mcp_tool, per_hour
from pressroom.sdk import mcp_tool as mcp_tool_decorator
from support.downloads import STRICT

MADE = {"params", "function", "reference"}


@pytest.mark.parametrize(("record", "options"), [(Generator, GeneratorOptions), (McpTool, McpToolOptions)])
def test_the_options_are_the_fields_of_the_record(record: type, options: type) -> None:
    decorator = generator if record is Generator else mcp_tool_decorator
    parameters = set(typing.get_type_hints(decorator)) - {"return", "options"}
    fields = {field.name for field in dataclasses.fields(record)} - MADE
    assert set(options.__annotations__) == fields - parameters


@pytest.mark.parametrize(("option", "similar"), [("timout", "timeout"), ("exemples", "examples")])
def test_a_misspelt_option_of_a_generator_is_named(option: str, similar: str) -> None:
    with pytest.raises(TypeError, match=rf"generator\(\) takes no option '{option}'; did you mean {similar}\?"):
        generator(slug="x", name="X", summary="X.", rate_limit=None, produces=(), **{option: 1})  # type: ignore[arg-type]


def test_a_single_media_type_is_not_split_into_letters() -> None:
    with pytest.raises(TypeError, match=r"the generator x: produces must be a tuple .*: \('text/csv',\)"):
        generator(slug="x", name="X", summary="X.", rate_limit=per_hour(1), produces="text/csv")  # type: ignore[arg-type]


def test_a_misspelt_option_of_an_mcp_tool_is_named() -> None:
    with pytest.raises(TypeError, match=r"mcp_tool\(\) takes no option 'colour'; known are aliases, annotations"):
        mcp_tool(name="x", title="X", colour=1)  # type: ignore[call-overload]


PLUGIN = """
from pressroom.sdk import Annotations, Artifact, Call, Params, ToolResult, generator, mcp_tool, per_hour


class NoParams(Params):
    pass


@generator(slug="x", name="X", summary="X.", rate_limit=per_hour(1), produces=("text/plain",), OPTION)
def x(params: NoParams, call: Call) -> Artifact:
    return Artifact(b"", "text/plain")
"""


@pytest.mark.parametrize(
    ("option", "sound"), [("timeout=2, tags=('a',)", True), ("timout=2", False), ("timeout='2'", False)]
)
def test_a_type_checker_knows_the_options(tmp_path: Path, option: str, sound: bool) -> None:
    (tmp_path / "plugin.py").write_text(PLUGIN.replace("OPTION", option))
    command = [sys.executable, "-m", "mypy", *STRICT]
    result = subprocess.run(
        [*command, "plugin.py"], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300
    )
    assert (result.returncode == 0) is sound, result.stdout
