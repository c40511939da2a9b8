"""Models derived from the annotations of a tool's function, if it does not declare any.

`async def add(a: int, b: int) -> int` becomes a tool with the parameters `a` and `b` and the result `{"result": …}`.
"""

from __future__ import annotations

import functools
import inspect
import typing
from collections.abc import Callable, Iterator
from typing import Annotated, Any, Final

from pydantic import BaseModel, Field, TypeAdapter, ValidationError, create_model
from pydantic.fields import FieldInfo

from pressroom.sdk.call import Call, ToolResult
from pressroom.sdk.declaration import Integer, Params, is_model

RESULT: Final = "result"
"""The field for the return value of a function that does not return a model."""

_NAMED: Final = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def in_words(name: str) -> str:
    """Return a display name for a function, parameter or module: `word_count` becomes `Word count`."""
    return name.replace("_", " ").strip().capitalize()


def with_params(function: Callable[..., Any]) -> tuple[Any, Callable[..., Any]]:
    """Return the parameter model of a tool's function, and the function `(params, call)` that the host calls.

    A function `(params, call)` whose first argument is a model, or is called `params`, is returned unchanged. If a
    model is the only argument, it is the parameter model. In all other functions, each argument is a parameter, except
    those annotated with `Call`.

    Raises:
        TypeError: an argument cannot be a parameter; the message lists all such arguments.
    """
    arguments = inspect.signature(function).parameters
    hints = _hints(function)
    names = list(arguments)
    first = hints.get(names[0]) if names else None
    with_call = len(names) == 2 and (names[1] == "call" or hints.get(names[1], Call) is Call)
    if with_call and first is not None and (is_model(first, BaseModel) or names[0] == "params"):
        return first, function
    if len(names) == 1 and is_model(first, BaseModel):
        return first, _adapted(function, lambda params, _call: {names[0]: params})
    parameters = {name: parameter for name, parameter in arguments.items() if hints.get(name) is not Call}
    problems = [
        problem
        for parameter in parameters.values()
        for problem in _argument_problems(parameter, hints.get(parameter.name))
    ]
    if problems:
        raise TypeError(f"{function.__qualname__}: {'; '.join(problems)}")
    fields: dict[str, Any] = {
        name: _field(name, hints[name], parameter.default) for name, parameter in parameters.items()
    }
    # Worker processes look up the model as an attribute of the tool, by this name.
    model = create_model(f"{_camel(function)}Params", __base__=Params, __module__=function.__module__, **fields)
    model.__qualname__ = f"{function.__qualname__}.params"
    calls = [name for name in names if name not in parameters]

    def passed(params: Any, call: Call) -> dict[str, Any]:
        return {**{name: getattr(params, name) for name in parameters}, **dict.fromkeys(calls, call)}

    return model, _adapted(function, passed)


def with_result(
    function: Callable[..., Any], run: Callable[..., Any], declared: type[BaseModel] | None
) -> tuple[Any, Callable[..., Any]]:
    """Return the result model of a tool, and a function that returns an instance of it.

    `run` is the function that the host calls; see `with_params`. It is returned unchanged if `function` returns a
    model.

    Raises:
        TypeError: the annotation does not say what the result is.
    """
    returned: Any = declared or _hints(function).get("return")
    if is_model(returned, BaseModel):
        return returned, run
    if problem := _return_problem(returned):
        raise TypeError(f"{function.__qualname__}: {problem}")
    field = _field(RESULT, returned, inspect.Parameter.empty, described="What the tool returns.")
    try:
        model = create_model(f"{_camel(function)}Result", __module__=function.__module__, **{RESULT: field})
    except Exception as error:
        raise TypeError(f"{function.__qualname__}: its result has no schema: {_first_line(error)}") from error
    model.__qualname__ = f"{function.__qualname__}.result"

    def wrapped(value: Any) -> Any:
        try:
            return model(**{RESULT: value})
        except ValidationError as error:
            reason = error.errors(include_url=False, include_input=False)[0]["msg"]
            raise TypeError(
                f"{function.__qualname__} returned something other than its annotation says: {reason}"
            ) from None

    if inspect.iscoroutinefunction(run):

        async def awaited(params: Any, call: Call) -> Any:
            return wrapped(await run(params, call))

        return model, functools.wraps(function)(awaited)
    return model, functools.wraps(function)(lambda params, call: wrapped(run(params, call)))


def _adapted(function: Callable[..., Any], passed: Callable[[Any, Call], dict[str, Any]]) -> Callable[..., Any]:
    """Return a function `(params, call)` that calls the tool's function, and is async if that one is."""
    if inspect.iscoroutinefunction(function):

        async def run(params: Any, call: Call) -> Any:
            return await function(**passed(params, call))

        return functools.wraps(function)(run)
    return functools.wraps(function)(lambda params, call: function(**passed(params, call)))


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    try:
        return typing.get_type_hints(function, include_extras=True)
    except NameError as error:
        raise TypeError(
            f"{function.__qualname__}: {error}; import it at the top level of its module, not only if TYPE_CHECKING"
        ) from error


def _return_problem(returned: Any) -> str:
    if returned is None:
        return "annotate what it returns, such as `-> int` or a pydantic model"
    if returned is type(None):
        return "it returns None; return a value for the client, such as a text, and annotate its type"
    if ToolResult in (returned, *typing.get_args(returned)):
        return "name the model of the data in its ToolResult: @mcp_tool(result=…)"
    return ""


def _argument_problems(argument: inspect.Parameter, hint: Any) -> Iterator[str]:
    name = str(argument).partition(":")[0].partition("=")[0]
    if argument.kind not in _NAMED:
        kind = "is positional only" if argument.kind is inspect.Parameter.POSITIONAL_ONLY else "takes any number"
        yield f"{name} {kind}; a parameter of a tool is passed by its name"
    elif hint is None:
        yield f"annotate {name} with its type" + (", or as Call" if name == "call" else "")
    elif name.startswith("_") or hasattr(Params, name):
        yield f"no parameter can have the name {name}; choose another, or declare a subclass of Params with an alias"
    else:
        yield from _type_problems(name, hint, argument.default)


def _type_problems(name: str, hint: Any, default: Any) -> Iterator[str]:
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(hint)
    except Exception as error:  # noqa: BLE001 - pydantic, or a type of the plugin's own
        yield f"{name} cannot be taken: {_first_line(error)}"
        return
    if default is inspect.Parameter.empty:
        return
    try:
        adapter.validate_python(default, strict=True)
    except ValidationError as error:
        hint = "; write `| None` behind its type" if default is None else ""
        yield f"the default of {name} does not fit its annotation: {error.errors()[0]['msg']}{hint}"


def _first_line(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]


def _field(name: str, hint: Any, default: Any, described: str = "") -> Any:
    """Return a field definition for `create_model`.

    `Annotated[int, "The length."]` is short for a `Field` with a description.
    """
    extras = getattr(hint, "__metadata__", ())
    if getattr(hint, "__origin__", hint) is int:
        hint = Annotated[(Integer, *extras)] if extras else Integer
    if not any(isinstance(extra, FieldInfo) and extra.description for extra in extras):
        text = next((extra for extra in extras if isinstance(extra, str)), "") or described or f"{in_words(name)}."
        hint = Annotated[hint, Field(description=text)]
    return hint, ... if default is inspect.Parameter.empty else default


def _camel(function: Callable[..., Any]) -> str:
    return "".join(word.capitalize() for word in function.__name__.split("_"))
