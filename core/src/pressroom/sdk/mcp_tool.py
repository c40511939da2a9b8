"""The declaration of an MCP tool."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel

from pressroom.sdk.call import Call, ToolResult
from pressroom.sdk.declaration import (
    ExecutorName,
    first_argument_type,
    is_model,
    mcp_name_problems,
    params_problems,
    run_problems,
)
from pressroom.sdk.params import Params
from pressroom.sdk.plugin import PluginContext
from pressroom.sdk.rates import Rate

McpFunction = Callable[[Any, Call], BaseModel | ToolResult | Awaitable[BaseModel | ToolResult]]


@dataclass(frozen=True, slots=True)
class Annotations:
    """Hints for MCP clients (MCP 2025-06-18, `ToolAnnotations`). Never a security boundary."""

    read_only: bool = False
    destructive: bool = False
    idempotent: bool = False
    open_world: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class McpTool:
    """A tool that AI clients call. Make one with the `mcp_tool` decorator.

    `result` is the model of what the tool returns; it becomes the tool's `outputSchema`.
    `quota` names the quota class that a call counts against, or is empty. `counts` tells from the parameters whether a
    call counts against it; left out, every one does. `repeats` is asked where the quota is used up: whether this very
    call was made before, so that to run it again does nothing but tell how it went; then it runs, and counts against
    nothing. It raises nothing but `CallError` and `BackendError`. `free` says in words which calls do not count, such
    as `a dry run`. Say nothing of costs in `description`: they depend on the plan, and `tools/list` adds them.
    `timeout` is in seconds.
    `aliases` are other names that the tool can be called by; no list shows them, and no other tool may have them.
    `unavailable` tells from the plugin's context why the tool cannot work on this server, such as for want of a key, in
    words that can follow "not available: "; it returns an empty text where the tool can. It is asked once, when all
    plugins are loaded. A tool that cannot work is in no list and cannot be called, and `get_account_usage` says why.
    `choices` is for parameters whose values depend on the server, such as on what other plugins contributed to a hook.
    It maps the parameter, which the model declares as a plain `str`, to a function that returns its values from the
    plugin's context. The function is called once all plugins are loaded; clients see the values as the parameter's
    `enum`, and no other is accepted.
    """

    name: str
    title: str
    description: str
    params: type[Params]
    result: type[BaseModel]
    function: McpFunction
    annotations: Annotations = Annotations()
    tags: tuple[str, ...] = ()
    quota: str = ""
    counts: Callable[[Params], bool] | None = None
    repeats: Callable[[Params, Call], Awaitable[bool]] | None = None
    free: str = ""
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
        return self.function(params, call)

    def problems(self) -> list[str]:
        """Return what is wrong with the declaration, a sentence each; empty if it is sound."""
        found = mcp_name_problems(self.name) + params_problems(self.params)
        found += [f"aliases: {problem}" for alias in self.aliases for problem in mcp_name_problems(alias)]
        found += run_problems(self.function, self.executor, self.timeout)
        found += self._choices_problems()
        if not self.description:
            found.append("description is empty; write it for a model: what it does, when to use it, what it returns")
        if not is_model(self.result, BaseModel):
            found.append("the return type must be a pydantic model, or result= must name one")
        return found

    def _choices_problems(self) -> list[str]:
        known = self.params.model_fields if is_model(self.params, Params) else {}
        found = []
        for name in self.choices:
            if name not in known:
                found.append(f"choices: {self.params.__name__} has no parameter {name}")
            elif known[name].annotation is not str or known[name].metadata:
                found.append(f"choices: the parameter {name} must be a plain str, without bounds or validators")
        if self.choices and self.executor == "process":
            found.append("choices are for the async and thread executors; give the process executor a Literal")
        return found


def mcp_tool(
    *,
    name: str,
    title: str,
    description: str = "",
    result: type[BaseModel] | None = None,
    **options: Any,
) -> Callable[[McpFunction], McpTool]:
    """Return a decorator that turns a function `(params, call)` into an `McpTool`.

    The function returns a pydantic model, or a `ToolResult` where the text for the model differs
    from the data; then `result` names the data's model.

    Raises:
        TypeError: the function does not take an annotated `params` and a `call`.
    """

    def decorate(function: McpFunction) -> McpTool:
        returned: Any = result or typing.get_type_hints(function).get("return")
        return McpTool(
            name=name,
            title=title,
            description=description or inspect.getdoc(function) or "",
            params=first_argument_type(function),
            result=returned,
            function=function,
            reference=f"{function.__module__}:{function.__qualname__}",
            **options,
        )

    return decorate
