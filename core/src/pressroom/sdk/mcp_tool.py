"""The declaration of an MCP tool."""

from __future__ import annotations

import inspect
import textwrap
import typing
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypedDict, Unpack

from pydantic import BaseModel

from pressroom.sdk.backends import Rate
from pressroom.sdk.call import Call, ToolResult
from pressroom.sdk.declaration import (
    REQUEST_ID,
    ExecutorName,
    Params,
    check_options,
    is_model,
    is_repeatable,
    mcp_name_problems,
    params_problems,
    run_problems,
    toolset_problems,
)
from pressroom.sdk.plain_functions import in_words, with_params, with_result
from pressroom.sdk.plugin import PluginContext

MAX_INSTRUCTIONS_LENGTH: Final = 1500

McpFunction = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Annotations:
    """Hints for MCP clients (MCP 2025-06-18, `ToolAnnotations`), which they must not rely on.

    The server itself does rely on them: connections with access `read` can only use tools that are `read_only`, and
    only connections with access `full` can use tools that are `destructive`.
    """

    read_only: bool = False
    destructive: bool = False
    idempotent: bool = False
    open_world: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class McpTool:
    """A tool that AI clients can call. Create one with the `mcp_tool` decorator.

    `name` identifies the tool to clients: up to 64 letters, digits, `_` and `-`. `title` is its display name.
    `description` is written for a model: what the tool does, when to use it, and what it returns. `params` is the
    parameter model. `function` takes an instance of it and a `Call`, and returns the result, or a `ToolResult`.
    `annotations` state whether the tool only reads or can be destructive; they restrict which connections can use it.
    `reference` is set by the decorator.

    `result` is the model of the result; it becomes the tool's `outputSchema`. `toolsets` lists the toolsets of the
    tool, from which clients choose. By default, a tool belongs to the toolset with the name of its plugin. `publishes`
    means that a call can change what visitors of a website see; connections that may only write drafts are then
    refused.

    `quota` is the quota class that a call counts against, if any. `counts` takes the parameters and returns whether the
    call counts; by default, every call does. `counted_before` is called when the quota is used up, and returns whether
    the call only continues something that an earlier call was counted for, such as an update of a post; if so, the call
    runs and does not count. It may only raise `CallError` and `BackendError`. `free` describes which calls do not
    count, such as `a dry run`. Do not mention costs in `description`: they depend on the plan, and `tools/list` adds
    them.

    `resumes` is for a tool with a `client_request_id` that can find what an earlier attempt created, for example
    because it stores the id: a repeat of a call that was interrupted, such as by a crash, then runs. Without it, such a
    repeat is refused, since it is unknown whether the first attempt succeeded. `changed_with` is the name of the tool
    that changes what this one creates; clients that reuse a `client_request_id` with other arguments are referred to
    it.

    `rate_limit` limits the calls of each caller; by default, they are not limited. `executor` is where the function
    runs. `timeout` is in seconds; `memory_mib` limits what a worker process may allocate for a call. `aliases` are
    other names under which the tool can be called, such as those of earlier versions; they are not listed, and no two
    tools may share a name. `[tools.<alias>]` and plans that name an alias apply to the tool, so that it stays off if an
    operator has switched it off.
    `unavailable` takes the plugin's context and returns why the tool cannot work on this server, for example because a
    key is missing, as a phrase that can follow "not available: ", or an empty text if it can. It is called once, when
    all plugins are loaded. A tool that cannot work is not listed and cannot be called, and `get_account_usage` returns
    the reason.

    `choices` is for parameters whose values depend on the server, for example on the contributions of other plugins to
    a hook. It maps a parameter, which the model declares as a plain `str` or `list[str]`, to a function that takes the
    plugin's context and returns the values. The function is called once all plugins are loaded. Clients see the values
    as the `enum` of the parameter or of its items; others are refused.
    """

    name: str
    title: str
    description: str
    params: type[Params]
    result: type[BaseModel]
    function: McpFunction
    annotations: Annotations = Annotations()
    toolsets: tuple[str, ...] = ()
    publishes: bool = False
    quota: str = ""
    counts: Callable[[Params], bool] | None = None
    counted_before: Callable[[Params, Call], Awaitable[bool]] | None = None
    free: str = ""
    resumes: bool = False
    changed_with: str = ""
    rate_limit: Rate | None = None
    executor: ExecutorName = "async"
    timeout: float = 30.0
    memory_mib: int = 1024
    aliases: tuple[str, ...] = ()
    unavailable: Callable[[PluginContext], str] | None = None
    choices: Mapping[str, Callable[[PluginContext], Iterable[str]]] = field(default_factory=dict, hash=False)
    reference: str = field(default="", compare=False)

    def __call__(self, params: Params, call: Call) -> BaseModel | ToolResult | Awaitable[BaseModel | ToolResult]:
        """Run the tool's function, without the host around it."""
        returned: BaseModel | ToolResult | Awaitable[BaseModel | ToolResult] = self.function(params, call)
        return returned

    @property
    def repeatable(self) -> bool:
        """Whether its parameters include a `ClientRequestId`, so that clients can safely repeat a call."""
        return is_model(self.params, Params) and is_repeatable(self.params)

    def problems(self) -> list[str]:
        """Return the problems with the declaration, one sentence each; empty if it is valid."""
        problems = mcp_name_problems(self.name) + params_problems(self.params)
        problems += [f"aliases: {problem}" for alias in self.aliases for problem in mcp_name_problems(alias)]
        problems += run_problems(self.function, self.executor, self.timeout)
        problems += self._choices_problems()
        problems += toolset_problems(self.toolsets)
        problems += self._repeat_problems()
        if not self.description:
            problems.append("description is empty; write it for a model: what it does, when to use it, what it returns")
        if self.publishes and self.annotations.read_only:
            problems.append("publishes: a tool that is read_only publishes nothing")
        if not is_model(self.result, BaseModel):
            problems.append("the return type must be a pydantic model, or result= must name one")
        return problems

    def _repeat_problems(self) -> list[str]:
        if self.repeatable:
            needless = self.annotations.read_only
            return [f"params: a tool that is read_only needs no {REQUEST_ID}"] if needless else []
        problems = [
            f"{name}: params needs a {REQUEST_ID}" for name in ("resumes", "changed_with") if getattr(self, name)
        ]
        if is_model(self.params, Params) and REQUEST_ID in self.params.model_fields:
            problems.append(f"params: declare {REQUEST_ID} as pressroom.sdk.ClientRequestId")
        return problems

    def _choices_problems(self) -> list[str]:
        fields = self.params.model_fields if is_model(self.params, Params) else {}
        problems = []
        for name in self.choices:
            if name not in fields:
                problems.append(f"choices: {self.params.__name__} has no parameter {name}")
            elif fields[name].annotation not in (str, list[str]) or fields[name].metadata:
                problems.append(f"choices: the parameter {name} must be a plain str or list[str], without bounds")
        if self.choices and self.executor == "process":
            problems.append("choices are for the async and thread executors; give the process executor a Literal")
        return problems


@dataclass(frozen=True, slots=True)
class Instructions:
    """Instructions for models on how a plugin's tools work together: one or more lines of the server's `instructions`.

    Clients get them first. They are part of every conversation, so they can have at most 1,500 characters. Mention
    tools by name, and what the user has to do.
    """

    text: str

    @property
    def beginning(self) -> str:
        """The beginning of the text, which serves as the name of this record in lists of contributions."""
        return textwrap.shorten(self.text, 40, placeholder="…")

    def problems(self) -> list[str]:
        """Return the problems with the text, one sentence each."""
        if not self.text.strip():
            return ["text is empty"]
        if len(self.text) > MAX_INSTRUCTIONS_LENGTH:
            return [f"text has {len(self.text)} characters; {MAX_INSTRUCTIONS_LENGTH} is the most"]
        return []


class McpToolOptions(TypedDict, total=False):
    """Further options of the decorator `mcp_tool`: fields of `McpTool`, with the same defaults."""

    annotations: Annotations
    toolsets: tuple[str, ...]
    publishes: bool
    quota: str
    counts: Callable[[Any], bool] | None
    counted_before: Callable[[Any, Call], Awaitable[bool]] | None
    free: str
    resumes: bool
    changed_with: str
    rate_limit: Rate | None
    executor: ExecutorName
    timeout: float
    memory_mib: int
    aliases: tuple[str, ...]
    unavailable: Callable[[PluginContext], str] | None
    choices: Mapping[str, Callable[[PluginContext], Iterable[str]]]


@typing.overload
def mcp_tool(function: McpFunction, /) -> McpTool: ...


@typing.overload
def mcp_tool(
    *,
    name: str = "",
    title: str = "",
    description: str = "",
    result: type[BaseModel] | None = None,
    **options: Unpack[McpToolOptions],
) -> Callable[[McpFunction], McpTool]: ...


def mcp_tool(
    function: McpFunction | None = None,
    /,
    *,
    name: str = "",
    title: str = "",
    description: str = "",
    result: type[BaseModel] | None = None,
    **options: Unpack[McpToolOptions],
) -> McpTool | Callable[[McpFunction], McpTool]:
    """Turn a function into an `McpTool`, as `@mcp_tool` or `@mcp_tool(…)`.

    By default, the name is that of the function, the title is derived from the name, and the description is the
    docstring. A function `(params, call)` declares its parameters as a subclass of `Params`. In any other function,
    such as `async def add(a: int, b: int) -> int`, each argument is a parameter, except one that is annotated with
    `Call`. `Annotated[int, "The first number."]` describes a parameter, and
    `Annotated[int, Field(ge=0, description=…)]` also limits it.

    The function returns a pydantic model, or a `ToolResult` if the text for the model should differ from the data; in
    that case, `result` is the model of the data. A value of any other annotated type becomes the field `result` of an
    object.

    Raises:
        TypeError: an argument of the function cannot be a parameter, its return type is not annotated, or an option is
            unknown.
    """
    check_options("mcp_tool", options, McpToolOptions.__annotations__)
    if function is not None and not inspect.isroutine(function):
        raise TypeError(f"write @mcp_tool above a function, or @mcp_tool(name={function!r}, …)")

    def decorate(function: McpFunction) -> McpTool:
        params, run = with_params(function)
        returned, run = with_result(function, run, result)
        tool_name = name or function.__name__
        return McpTool(
            name=tool_name,
            title=title or in_words(tool_name),
            description=description or inspect.getdoc(function) or "",
            params=params,
            result=returned,
            function=run,
            reference=f"{function.__module__}:{function.__qualname__}",
            **options,
        )

    return decorate if function is None else decorate(function)
