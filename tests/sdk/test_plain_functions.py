"""Tools whose parameters and results are annotations of a function."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from textwrap import dedent
from typing import Annotated, Any, Literal

import httpx
import pytest
from pressroom.plugins.validating import validate
from pressroom.sdk import Artifact, Call, ClientRequestId, McpTool, Params, ToolResult, generator, mcp_tool, per_hour
from pressroom.testing import RunningHost, ToolFailed
from pressroom.testing.running import settings_for_test
from pydantic import BaseModel, Field

PLUGIN = '''"""Sums for AI clients."""

from typing import Annotated

from pressroom.sdk import Artifact, Call, generator, mcp_tool, per_hour
from pydantic import Field


@mcp_tool
async def add(a: int, b: Annotated[int, "What is added."] = 1) -> int:
    """Adds two whole numbers, and returns their sum."""
    return a + b


@mcp_tool(name="who_adds")
async def who(call: Call, *, loud: bool = False) -> str:
    """Says which tool is called, in capitals where that is asked for."""
    return call.tool.upper() if loud else call.tool


@mcp_tool(executor="process")
def squares(numbers: Annotated[list[int], Field(max_length=3, description="The numbers.")]) -> dict[str, int]:
    """Squares up to three numbers, in a process of its own."""
    return {str(one): one * one for one in numbers}


@mcp_tool
async def lies() -> int:
    """Returns something else than it says."""
    return "many"


@generator(slug="row", name="Row", summary="A row of a word.", rate_limit=per_hour(60), produces=("text/plain",))
def row(word: Annotated[str, Field(max_length=20)], times: Annotated[int, Field(ge=1, le=9)] = 2) -> Artifact:
    return Artifact(" ".join([word] * times).encode(), "text/plain")
'''


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHost]:
    folder: Path = tmp_path_factory.mktemp("plain") / "plugins"
    folder.mkdir()
    (folder / "plain_sums.py").write_text(PLUGIN)
    with RunningHost(settings_for_test({"plugins_dir": str(folder)}, tmp_path_factory.mktemp("data"))) as running:
        yield running


def test_arguments_are_parameters_and_the_result_is_a_member(host: RunningHost) -> None:
    assert host.call_tool("add", {"a": 2, "b": 3}) == {"result": 5}
    assert host.call_tool("add", {"a": 2}) == {"result": 3}
    assert host.call_tool("add", {"a": 2.0, "b": 1.0}) == {"result": 3}
    assert host.call_tool("who_adds", {"loud": True}) == {"result": "WHO_ADDS"}
    assert host.call_tool("squares", {"numbers": [2, 3]}) == {"result": {"2": 4, "3": 9}}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "a: is required"),
        ({"a": "2"}, r'a: must be a whole number \(got the string "2"\)'),
        ({"a": 1, "c": 2}, "c: unknown field; known are a, b"),
        ({"a": 1, "call": {}}, "call: unknown field; known are a, b"),
    ],
)
def test_wrong_arguments_are_refused_as_those_of_a_model(
    host: RunningHost, arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(ToolFailed, match=message):
        host.call_tool("add", arguments)


def test_bounds_of_an_annotation_hold(host: RunningHost) -> None:
    with pytest.raises(ToolFailed, match="numbers"):
        host.call_tool("squares", {"numbers": [1, 2, 3, 4]})


def test_a_result_of_another_type_is_a_failure_of_the_plugin(
    host: RunningHost,
) -> None:
    with pytest.raises(ToolFailed, match="internal_error"):
        host.call_tool("lies")
    failure = host.host.compiled.gate.latest["plain_sums"]
    assert "lies returned something other than its annotation says: Input should be a valid integer" in failure.error


def test_a_generator_takes_its_parameters_from_its_arguments_too(host: RunningHost) -> None:
    body = {"word": "ha", "times": 3, "response": "binary"}
    response = httpx.post(f"{host.url}/tools/row/api/generate", json=body, timeout=60)
    assert (response.status_code, response.text) == (200, "ha ha ha")
    refused = httpx.post(f"{host.url}/tools/row/api/generate", json={**body, "times": 10})
    assert (refused.status_code, "times: must be between 1 and 9" in refused.text) == (400, True)


def test_models_and_clients_get_the_descriptions_of_the_annotations() -> None:
    @mcp_tool
    async def find_posts(
        query: Annotated[str, Field(min_length=2, description="Words of the post.")],
        kind: Annotated[Literal["draft", "live"], "Which posts."] = "live",
        page_size: int = 10,
        client_request_id: ClientRequestId = None,
        *,
        call: Call,
    ) -> list[str]:
        """Finds posts by their words. Use it before you write another one."""
        return [query, kind, str(page_size), call.tool]

    assert (find_posts.name, find_posts.title) == ("find_posts", "Find posts")
    assert find_posts.description.startswith("Finds posts")
    validate([find_posts])
    schema = find_posts.params.model_json_schema()
    assert schema["required"] == ["query"]
    described = {name: field_schema["description"] for name, field_schema in schema["properties"].items()}
    assert described["query"] == "Words of the post."
    assert described["kind"] == "Which posts."
    assert described["page_size"] == "Page size."
    assert find_posts.repeatable
    assert find_posts.result.model_json_schema()["properties"]["result"]["items"] == {"type": "string"}


class WordParams(Params):
    word: str = Field(description="A word.")


class Length(BaseModel):
    length: int


def test_a_model_of_parameters_needs_no_call_and_a_plain_result_no_model() -> None:
    @mcp_tool
    async def measure(given: WordParams) -> int:
        """Measures a word."""
        return len(given.word)

    @mcp_tool(name="length", title="Length of a word")
    async def length(params: WordParams, call: Call) -> Length:
        """Measures a word."""
        return Length(length=len(params.word))

    assert measure.params is length.params is WordParams
    assert (length.title, length.result) == ("Length of a word", Length)
    call: Any = None
    assert asyncio.run(run(measure, call)).model_dump() == {"result": 4}
    assert asyncio.run(run(length, call)).length == 4


async def run(tool: McpTool, call: Call) -> Any:
    returned: Any = tool(WordParams(word="four"), call)
    return await returned


async def untyped(a, b: int) -> int: ...  # type: ignore[no-untyped-def,empty-body]
async def any_number(*numbers: int) -> int: ...  # type: ignore[empty-body]
async def any_names(**numbers: int) -> int: ...  # type: ignore[empty-body]
async def by_place(a: int, /) -> int: ...  # type: ignore[empty-body]
async def untyped_call(a: int, b: int, call) -> int: ...  # type: ignore[no-untyped-def,empty-body]
async def private(_a: int) -> int: ...  # type: ignore[empty-body]
async def shadowing(model_dump: int) -> int: ...  # type: ignore[empty-body]
async def opaque(a: Iterator[object] | Path | RunningHost) -> int: ...  # type: ignore[empty-body]
async def implicit(limit: int = None) -> int: ...  # type: ignore[assignment,empty-body]  # noqa: RUF013
async def misfit(limit: int = "ten") -> int: ...  # type: ignore[assignment,empty-body]
async def several(a, *b: int, _c: int = 1) -> int: ...  # type: ignore[no-untyped-def,empty-body]


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (untyped, "untyped: annotate a with its type"),
        (any_number, r"any_number: \*numbers takes any number; a parameter of a tool is passed by its name"),
        (any_names, r"any_names: \*\*numbers takes any number"),
        (by_place, "by_place: a is positional only"),
        (untyped_call, "untyped_call: annotate call with its type, or as Call"),
        (private, "private: no parameter can have the name _a; choose another"),
        (shadowing, "shadowing: no parameter can have the name model_dump; choose another"),
        (opaque, "opaque: a cannot be taken: Unable to generate pydantic-core schema for"),
        (implicit, "the default of limit does not fit its annotation: .*; write `| None` behind its type"),
        (misfit, "misfit: the default of limit does not fit its annotation: Input should be a valid integer$"),
        (several, r"several: annotate a with its type; \*b takes any number.*; no parameter can have the name _c"),
    ],
)
def test_an_unsupported_parameter_is_named(function: Callable[..., Any], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        mcp_tool(function)
    with pytest.raises(TypeError, match=message):
        generator(slug="a", name="A", summary="A.", rate_limit=per_hour(1), produces=("text/plain",))(function)


def test_a_name_instead_of_the_function_is_refused_with_the_correct_form() -> None:
    misused: Any = mcp_tool
    with pytest.raises(TypeError, match=r"write @mcp_tool above a function, or @mcp_tool\(name='add', …\)"):
        misused("add")


async def mute(a: int): ...  # type: ignore[no-untyped-def]
async def without_result(a: int) -> None: ...
async def without_model(a: int) -> ToolResult: ...  # type: ignore[empty-body]
async def half_without_model(a: int) -> ToolResult | Length: ...  # type: ignore[empty-body]
async def streaming(a: int) -> AsyncIterator[int]: ...  # type: ignore[empty-body]


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (mute, "mute: annotate what it returns, such as `-> int` or a pydantic model"),
        (without_result, "without_result: it returns None; return a value for the client"),
        (without_model, r"without_model: name the model of the data in its ToolResult: @mcp_tool\(result=…\)"),
        (half_without_model, "half_without_model: name the model of the data in its ToolResult"),
        (streaming, "streaming: its result has no schema: Unable to generate pydantic-core schema for"),
    ],
)
def test_a_function_that_does_not_say_what_it_returns_is_refused(function: Callable[..., Any], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        mcp_tool(function)


def test_the_model_of_a_result_can_be_named_instead_of_annotated() -> None:
    for function in (mute, without_model, half_without_model):
        assert mcp_tool(result=Length, description="Measures.")(function).result is Length


def test_a_type_that_is_only_imported_for_type_checkers_is_named() -> None:
    source = """
        from __future__ import annotations
        from typing import TYPE_CHECKING
        from pressroom.sdk import mcp_tool
        if TYPE_CHECKING:
            from decimal import Decimal

        @mcp_tool
        async def price(amount: Decimal) -> str: ...
    """
    with pytest.raises(TypeError, match="price: name 'Decimal' is not defined; import it at the top level"):
        exec(dedent(source), {"__name__": "prices"})


def test_an_artifact_can_still_come_from_a_plain_function() -> None:
    @generator(slug="dot", name="Dot", summary="A dot.", rate_limit=per_hour(1), produces=("text/plain",))
    def dot() -> Artifact:
        return Artifact(b".", "text/plain")

    call: Any = None
    assert dot(dot.params(), call) == Artifact(b".", "text/plain")
