"""The declaration of a generator: a tool that produces a file."""

from __future__ import annotations

import inspect
import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypedDict, Unpack

from pydantic import BaseModel

from pressroom.sdk.backends import Rate
from pressroom.sdk.call import EXTENSIONS, Artifact, Call
from pressroom.sdk.declaration import (
    GENERATORS,
    ExecutorName,
    Params,
    check_options,
    is_model,
    mcp_name_problems,
    params_problems,
    run_problems,
    sent_fields,
    toolset_problems,
)
from pressroom.sdk.page import Page, Preview, form_problems
from pressroom.sdk.plain_functions import with_params

_MEDIA_TYPE: Final = re.compile(
    r"(application|audio|font|image|model|text|video)/[a-z0-9][a-z0-9!#$&^_.+-]{0,62}", re.ASCII
)
"""A media type as in RFC 6838, section 4.2, in lower case and without parameters."""

_EXTENSION: Final = re.compile(r"[a-z0-9]{1,16}", re.ASCII)

# A sandboxed attachment does not run as a page. A page can still load it as a script or a style sheet, whatever its
# other headers say, and it then runs with the rights of this server's own files.
_LOADED_BY_PAGES: Final = re.compile(
    r"(application|text)/((x-)?(java|ecma|live)script|jscript)[0-9.]*|application/wasm|text/css", re.ASCII
)
_PAGES: Final = frozenset({"application/xhtml+xml", "application/vnd.wap.xhtml+xml", "multipart/related"})
_RUN_BY_BROWSERS: Final = frozenset(
    {"css", "htm", "js", "cjs", "mjs", "mht", "mhtml", "shtml", "svgz", "wasm", "xht", "xhtml", "xsl", "xslt"}
)

GenerateFunction = Callable[..., Artifact | Awaitable[Artifact]]
PrepareFunction = Callable[[Any, Call], Awaitable[Any]]
SLUG = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", re.ASCII)


def media_type_problems(produces: Iterable[str], extensions: Mapping[Any, Any]) -> Iterator[str]:
    """Yield the problems with the media types and extensions that a generator declares."""
    produces = tuple(produces)
    for media_type in produces:
        if media_type not in EXTENSIONS and media_type not in extensions:
            yield (
                f"produces: {media_type!r} has no known file extension; name it in extensions, such as "
                f'{{"text/csv": "csv"}}. Known without that are {", ".join(EXTENSIONS)}'
            )
    by_extension: dict[Any, Any] = {extension: media_type for media_type, extension in EXTENSIONS.items()}
    for media_type, extension in extensions.items():
        if not isinstance(media_type, str) or not isinstance(extension, str):
            yield f"extensions must map media types to extensions as texts (got {media_type!r}: {extension!r})"
            continue
        yield from (f"extensions: {problem}" for problem in _problems(media_type, extension))
        if media_type not in produces:
            yield f"extensions: {media_type!r} is not in produces"
        if media_type in EXTENSIONS:
            yield f"extensions: {media_type!r} has the extension {EXTENSIONS[media_type]!r} already; leave it out"
        elif extension in by_extension:
            yield f"extensions: {extension!r} is the extension of {by_extension[extension]!r}"
        by_extension.setdefault(extension, media_type)


def _problems(media_type: str, extension: str) -> Iterator[str]:
    if not _MEDIA_TYPE.fullmatch(media_type):
        yield f"{media_type!r} is not a media type such as text/csv, in lower case and without parameters"
    elif media_type in _PAGES or _LOADED_BY_PAGES.fullmatch(media_type):
        yield f"{media_type!r} is refused, since browsers would run it as a part of this server's pages"
    if not _EXTENSION.fullmatch(extension):
        yield f"{extension!r} is not an extension: 1 to 16 lower-case letters and digits, without a dot"
    elif extension in _RUN_BY_BROWSERS:
        yield f"{extension!r} is refused, since browsers run files that are called so"


_FILE_FIELDS: Final = frozenset({"id", "url", "expiresAt", "cached", "warnings"})
"""The fields that `data` has in every response with a file."""


@dataclass(frozen=True, slots=True)
class Mcp:
    """The MCP tool of a generator.

    `description` is written for a model: what the tool does, when to use it, and what it returns. By default, it is the
    generator's own description. `quota` is the quota class that a run counts against. `toolsets` lists the toolsets
    that the tool belongs to. With `embed`, the file itself is part of the result, as an `EmbeddedResource` of at most 1
    MiB: use it for short texts that models should read. Images and sound are always included.

    Descriptions of parameters should be short for models. `descriptions` maps parameters to descriptions for models, if
    those in the parameter model are written for people. `hide` lists parameters that models do not see; calls that use
    them are still accepted. In both, write the field of an object as `props.title`.
    """

    name: str
    description: str = ""
    quota: str = ""
    toolsets: tuple[str, ...] = (GENERATORS,)
    descriptions: Mapping[str, str] = field(default_factory=dict, hash=False)
    hide: tuple[str, ...] = ()
    embed: bool = False


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
    """One example: a title, and the parameters as a client would send them."""

    title: str
    params: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Generator:
    """A tool that turns parameters into a file.

    The HTTP route, the descriptor, JSON Schema, OpenAPI, the MCP tool, the page and the entry in the text index are all
    derived from this record. Create one with the `generator` decorator.

    `slug` is its name in URLs: lower-case words joined by hyphens. `name` is its display name. `summary` is the text in
    lists, and `description` the text on its page. `params` is the parameter model. `function` takes an instance of it
    and a `Call`, and returns an `Artifact`. `rate_limit` limits the calls of each caller, unless the configuration
    overrides it. `tags` are keywords. `details` is the model of the fields that a response's `data` has besides those
    of every file: `id`, `url`, `expiresAt`, `cached` and `warnings`. `executor` is where the function runs. `mcp`
    offers it to AI clients too. `promo` is the promotional block of its descriptor. `examples` are shown on its page,
    and can be filled into the form. `preview` configures how the page shows the result; `page` describes the form.
    `reference` is set by the decorator.

    `timeout` is the limit in seconds, from when a worker takes the call; `memory_mib` limits what the worker process
    may allocate for it. `cache_discount` is the cost of a request that is served from the cache, as a fraction of one
    request (0, or 0.01 to 1). `cache_revision` is part of the cache key: change it when something other than the
    plugin's version changes the output, such as a font. `produces` lists the media types of its files. Those in
    `EXTENSIONS` are known; `extensions` maps any others to their file extensions: `{"text/csv": "csv"}`. Files of such
    types are sent as attachments, which browsers save. Types that browsers would run, such as scripts, are refused.
    `notes` are warnings that people and models should read before they use the tool.

    `prepare` does work that a worker process cannot do, such as fetching. It is a coroutine function that the server
    awaits in its own process before each run, but not if the result is in the cache. It takes the parameters and a call
    with the plugin's context. Its return value must be picklable, and is available to the function as `call.prepared`.
    It has its own `timeout`, and can raise the same errors as the function.
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
    executor: ExecutorName = "process"
    timeout: float = 10.0
    memory_mib: int = 1024
    cache_discount: float = 0.1
    cache_revision: str = ""
    mcp: Mcp | None = None
    promo: Promo | None = None
    examples: tuple[Example, ...] = ()
    notes: tuple[str, ...] = ()
    preview: Preview = Preview()  # noqa: RUF009 - it is frozen
    page: Page = Page()  # noqa: RUF009 - it is frozen
    prepare: PrepareFunction | None = None
    extensions: Mapping[str, str] = field(default_factory=dict, hash=False)
    reference: str = field(default="", compare=False)

    def __call__(self, params: Params, call: Call) -> Artifact | Awaitable[Artifact]:
        """Run the generator's function, without the host around it."""
        return self.function(params, call)

    def extension_of(self, media_type: str) -> str:
        """Return the file extension of a media type that the generator produces. Raises `KeyError` for any other."""
        return EXTENSIONS.get(media_type) or self.extensions[media_type]

    def problems(self) -> list[str]:
        """Return the problems with the declaration, one sentence each; empty if it is valid."""
        problems = params_problems(self.params) + run_problems(self.function, self.executor, self.timeout)
        if not SLUG.fullmatch(self.slug):
            problems.append(f"slug {self.slug!r} must be lower-case words joined by hyphens")
        if self.mcp:
            mcp_problems = (
                mcp_name_problems(self.mcp.name) + toolset_problems(self.mcp.toolsets) + self._mcp_param_problems()
            )
            problems += [f"mcp: {problem}" for problem in mcp_problems]
        if not self.produces:
            problems.append("produces must name at least one media type")
        problems += media_type_problems(self.produces, self.extensions)
        if is_model(self.params, Params) and "response" in sent_fields(self.params):
            problems.append("params: 'response' is the host's own parameter; choose another name")
        if self.cache_discount != 0 and not 0.01 <= self.cache_discount <= 1:
            problems.append(f"cache_discount must be 0, or between 0.01 and 1 (got {self.cache_discount})")
        if self.prepare is not None and not inspect.iscoroutinefunction(self.prepare):
            problems.append("prepare must be an async function")
        return problems + self._details_problems() + self._page_problems()

    def _details_problems(self) -> list[str]:
        fields = self.details.model_fields if self.details else {}
        names = [field.serialization_alias or name for name, field in fields.items()]
        return [
            f"details: {name!r} is a field of every response; choose another name"
            for name in names
            if name in _FILE_FIELDS
        ]

    def _mcp_param_problems(self) -> list[str]:
        """Return the problems with the parameters that `mcp` lists; members of objects are checked with the schema."""
        if self.mcp is None or not is_model(self.params, Params):
            return []
        fields = sent_fields(self.params)
        mentioned = dict.fromkeys([*self.mcp.descriptions, *self.mcp.hide])
        return [f"{path!r} is not a parameter" for path in mentioned if path.partition(".")[0] not in fields] + [
            f"hide: {path!r} is required" for path in self.mcp.hide if path in fields and fields[path].is_required()
        ]

    def _page_problems(self) -> list[str]:
        page = self.page
        problems = ["page: a gallery needs examples"] if page.gallery and not self.examples else []
        if page.sample is not None and (self.details is None or not isinstance(page.sample, self.details)):
            problems.append("page: sample must be an instance of details")
        problems += form_problems(page, self.params if is_model(self.params, Params) else None)
        fields = self.details.model_fields if self.details else {}
        members = {"id", "url", "expiresAt", *(field.serialization_alias or name for name, field in fields.items())}
        for snippet in page.snippets:
            unknown = ", ".join(name for name in snippet.names if name not in members)
            if unknown:
                problems.append(
                    f"page: the snippet {snippet.title!r} names {unknown}; known are {', '.join(sorted(members))}"
                )
        return problems


class GeneratorOptions(TypedDict, total=False):
    """Further options of the decorator `generator`: fields of `Generator`, with the same defaults."""

    tags: tuple[str, ...]
    details: type[BaseModel] | None
    executor: ExecutorName
    timeout: float
    memory_mib: int
    cache_discount: float
    cache_revision: str
    mcp: Mcp | None
    promo: Promo | None
    examples: tuple[Example, ...]
    notes: tuple[str, ...]
    preview: Preview
    page: Page
    prepare: PrepareFunction | None
    extensions: Mapping[str, str]


def generator(
    *,
    slug: str,
    name: str,
    summary: str,
    rate_limit: Rate,
    produces: tuple[str, ...],
    description: str = "",
    **options: Unpack[GeneratorOptions],
) -> Callable[[GenerateFunction], Generator]:
    """Return a decorator that turns a function `(params, call) -> Artifact` into a `Generator`.

    The parameter model is the annotation of the function's first argument. In any other function, each argument is a
    parameter, as with `mcp_tool`. The remaining options are the fields of `Generator`. The function must be defined at
    the top level of its module under its own name, so that a worker process can import it.

    Raises:
        TypeError: an argument of the function cannot be a parameter, an option is unknown, or `produces` is a string.
    """
    check_options("generator", options, GeneratorOptions.__annotations__)
    declared: object = produces
    if isinstance(declared, str):
        raise TypeError(f"the generator {slug}: produces must be a tuple of media types: ({produces!r},)")

    def decorate(function: GenerateFunction) -> Generator:
        params, run = with_params(function)
        return Generator(
            slug=slug,
            name=name,
            summary=summary,
            description=description or inspect.getdoc(function) or summary,
            params=params,
            function=run,
            produces=tuple(produces),
            rate_limit=rate_limit,
            reference=f"{function.__module__}:{function.__qualname__}",
            **options,
        )

    return decorate
