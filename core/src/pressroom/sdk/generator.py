"""The declaration of a generator: a tool that makes a file."""

from __future__ import annotations

import inspect
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel

from pressroom.sdk.call import EXTENSIONS, Artifact, Call
from pressroom.sdk.declaration import (
    Lane,
    first_argument_type,
    is_model,
    mcp_name_problems,
    params_problems,
    run_problems,
)
from pressroom.sdk.params import Params
from pressroom.sdk.rates import Rate

GenerateFunction = Callable[[Any, Call], Artifact | Awaitable[Artifact]]

SLUG = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Mcp:
    """How a generator appears among the MCP tools.

    `description` is written for a model: what the tool does, when to use it, what it returns.
    Left empty, it is the generator's own description.
    """

    name: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class Promo:
    """The promotional block of a tool's descriptor."""

    tagline: str
    description: str = ""
    use_cases: tuple[str, ...] = ()
    llm_instructions: str = ""
    cta_url: str = ""
    related_features: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Example:
    """One worked example: a title and the parameters as a client would send them."""

    title: str
    params: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Generator:
    """A tool that turns parameters into a file.

    From this one record come the HTTP route, the descriptor, JSON Schema, OpenAPI, the MCP tool,
    the page and the line in the text index. Make one with the `generator` decorator.

    `timeout` is in seconds and counts from the moment a worker takes the call; `memory_mib` bounds
    what the worker process may allocate for it. `cache_discount` is what a request that is served
    from the cache costs, as a part of one request (0, or 0.01 to 1). `cache_revision` joins the cache key:
    change it when something outside the plugin's version changes the output, such as a font.
    `notes` are warnings that people and models should read before they use the tool.
    """

    slug: str
    name: str
    summary: str
    description: str
    params: type[Params]
    function: GenerateFunction
    produces: tuple[str, ...]
    rate_limit: Rate
    tags: tuple[str, ...] = ()
    details: type[BaseModel] | None = None
    lane: Lane = "process"
    timeout: float = 10.0
    memory_mib: int = 1024
    cache_discount: float = 0.1
    cache_revision: str = ""
    mcp: Mcp | None = None
    promo: Promo | None = None
    examples: tuple[Example, ...] = ()
    notes: tuple[str, ...] = ()
    reference: str = field(default="", compare=False)

    def __call__(self, params: Params, call: Call) -> Artifact | Awaitable[Artifact]:
        """Run the generator's function, without the host around it."""
        return self.function(params, call)

    def problems(self) -> list[str]:
        """Return what is wrong with the declaration, a sentence each; empty if it is sound."""
        found = params_problems(self.params) + run_problems(self.function, self.lane, self.timeout)
        if not SLUG.fullmatch(self.slug):
            found.append(f"slug {self.slug!r} must be lower-case words joined by hyphens")
        if self.mcp:
            found += [f"mcp: {problem}" for problem in mcp_name_problems(self.mcp.name)]
        if not self.produces:
            found.append("produces must name at least one media type")
        found += [
            f"produces: {media_type!r} has no known file extension; known are {', '.join(EXTENSIONS)}"
            for media_type in self.produces
            if media_type not in EXTENSIONS
        ]
        if is_model(self.params, Params) and "response" in self.params.model_fields:
            found.append("params: 'response' is the host's own parameter; choose another name")
        if self.cache_discount != 0 and not 0.01 <= self.cache_discount <= 1:
            found.append(f"cache_discount must be 0, or between 0.01 and 1 (got {self.cache_discount})")
        return found


def generator(
    *,
    slug: str,
    name: str,
    summary: str,
    rate_limit: Rate,
    produces: tuple[str, ...],
    description: str = "",
    **options: Any,
) -> Callable[[GenerateFunction], Generator]:
    """Return a decorator that turns a function `(params, call) -> Artifact` into a `Generator`.

    The parameter model is read from the annotation of the function's first argument. The remaining
    options are the fields of `Generator`. The function must stand at the top level of its module,
    under the name that it is decorated as, so that a worker process can import it.

    Raises:
        TypeError: the function does not take an annotated `params` and a `call`.
    """

    def decorate(function: GenerateFunction) -> Generator:
        return Generator(
            slug=slug,
            name=name,
            summary=summary,
            description=description or inspect.getdoc(function) or summary,
            params=first_argument_type(function),
            function=function,
            produces=tuple(produces),
            rate_limit=rate_limit,
            reference=f"{function.__module__}:{function.__qualname__}",
            **options,
        )

    return decorate
