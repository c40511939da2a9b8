"""Plugins that yield records of the right type that cannot work."""

from __future__ import annotations

from typing import Final

from support.plugin_source import REPORT, SOUND, Factory, Fault, Words, fault

_GENERATORS: Final = "\n@hookimpl\ndef pressroom_generators():\n    return [shout, whisper]\n"

_WHISPER: Final = """
@generator(
    slug="whisper", name="Whisper", summary="Text in small letters.", rate_limit=per_hour(60),
    produces=("text/plain",), executor="async", OPTIONS
)
async def whisper(params: TextParams, call: Call) -> Artifact: ...
"""


def _hook(id_: str, error: Words, hook: str, hint: Words = REPORT) -> Fault:
    """Return a plugin with a working generator and one more hook."""
    return fault(id_, "validate", error, hint, SOUND + hook)


def _generator(id_: str, error: Words, whisper: str) -> Fault:
    """Return a plugin with a working generator, and the broken `whisper`."""
    return _hook(id_, error, whisper + _GENERATORS)


def _option(id_: str, error: Words, option: str) -> Fault:
    return _generator(id_, error, _WHISPER.replace("OPTIONS", option))


_JOB: Final = """
async def work(run: JobRun) -> None: ...


def blocking(run: JobRun) -> None: ...


@hookimpl
def pressroom_jobs():
    return [JOBS]
"""

_MODELS: Final = """
from sqlalchemy import Column, Integer, MetaData, Table

METADATA = MetaData()


@hookimpl
def pressroom_models():
    return [MODELS]
"""


def _job(id_: str, error: Words, job: str) -> Fault:
    return _hook(id_, error, _JOB.replace("JOBS", job))


def _models(id_: str, error: Words, models: str) -> Fault:
    return _hook(id_, error, _MODELS.replace("MODELS", models))


_FAULTS: Final = (
    _hook(
        "plain_authorizer",
        "authorize must be an async function",
        "\ndef office(caller, tool): ...\n\n"
        "@hookimpl\ndef pressroom_authorizers():\n    return [Authorizer('office', office)]\n",
    ),
    _hook(
        "plain_route",
        "handler must be an async function",
        "\ndef page(request): ...\n\n@hookimpl\ndef pressroom_routes():\n    return [Route('/colophon', page)]\n",
    ),
    _hook(
        "plain_check",
        "run must be an async function",
        "\ndef fonts() -> CheckResult: ...\n\n@hookimpl\ndef pressroom_checks():\n    return [Check('fonts', fonts)]\n",
    ),
    _job("bad_kind", "job Tidy up: the kind 'Tidy up' must be", 'Job("Tidy up", work)'),
    _job("blocking_job", "job tidy: run must be an async function", 'Job("tidy", blocking)'),
    _job("no_attempts", "job tidy: attempts must be at least 1 (got 0)", 'Job("tidy", work, attempts=0)'),
    _job("no_lease", "job tidy: lease must be at least one second (got 0)", 'Job("tidy", work, lease=0)'),
    _job("endless_job", "timeout must be at least one second (got inf)", 'Job("tidy", work, timeout=float("inf"))'),
    _job("busy_job", "every must be at least one second (got 0.1)", 'Job("tidy", work, every=0.1)'),
    _hook(
        "job_twice",
        "job tidy is offered twice",
        _JOB.replace("JOBS", 'Job("tidy", work), Job("tidy", work)'),
        "give each its own name",
    ),
    _models("no_metadata", "metadata must be a sqlalchemy.MetaData, not ", 'Models({}, "pressroom")'),
    _models("no_migrations", "No module named 'no_such_package'", 'Models(METADATA, "no_such_package")'),
    _models("no_versions", "has no folder versions; put the Alembic revisions there", 'Models(METADATA, "json")'),
    _hook(
        "models_twice",
        "models are offered twice",
        _MODELS.replace("MODELS", 'Models(METADATA, "pressroom.storage.database.tables.migrations")').replace(
            "return [", "return 2 * ["
        ),
        "put all tables into one MetaData",
    ),
    _hook(
        "details_of_the_host",
        ("details: 'url' is a field of every response; choose another name", "details: 'expiresAt' is a field"),
        """
class Link(BaseModel):
    url: str = ""
    until: str = Field(default="", serialization_alias="expiresAt")
"""
        + _WHISPER.replace("OPTIONS", "details=Link,")
        + _GENERATORS,
    ),
    _generator(
        "bad_slug",
        "generator Whisper_2: slug 'Whisper_2' must be lower-case words joined by hyphens",
        _WHISPER.replace("OPTIONS", "").replace('slug="whisper"', 'slug="Whisper_2"'),
    ),
    _generator(
        "reserved_slug",
        "generator static: slug 'static' is part of the host's own URLs",
        _WHISPER.replace("OPTIONS", "").replace('slug="whisper"', 'slug="static"'),
    ),
    _generator(
        "executor_mismatch",
        "generator whisper: executor 'thread' needs a plain function; use executor=\"async\" for this one",
        _WHISPER.replace("OPTIONS", "").replace('"async"', '"thread"'),
    ),
    _generator(
        "unknown_executor",
        "generator whisper: executor must be one of async, thread, process, not str 'gpu'",
        _WHISPER.replace("OPTIONS", "").replace('"async"', '"gpu"'),
    ),
    _generator(
        "undescribed_parameter",
        ("generator whisper: params: text needs a description; params: size needs a description",),
        """
class Params2(Params):
    text: str
    size: int = 3
"""
        + _WHISPER.replace("OPTIONS", "").replace("TextParams", "Params2"),
    ),
    _generator(
        "wrong_params",
        "generator whisper: params must be a class derived from Params, not the class dict",
        _WHISPER.replace("OPTIONS", "").replace("TextParams", "dict"),
    ),
    _option(
        "wrong_example",
        (
            "generator whisper: the example 'Too long' is not valid: ",
            "text: must be between 1 and 200 characters (got 201)",
        ),
        'examples=(Example("Too long", {"text": "x" * 201}),)',
    ),
    _generator(
        "example_is_no_json",
        ("generator whisper: data takes no text, and JSON has no bytes", "the example 'Bytes' is not JSON"),
        """
class Params2(Params):
    data: bytes = Field(description="Some bytes.")
"""
        + _WHISPER.replace("OPTIONS", 'examples=(Example("Bytes", {"data": b"x"}),)').replace("TextParams", "Params2"),
    ),
    _generator(
        "rate_as_text",
        "generator whisper: rate_limit must be Rate, not str '60/hour'",
        _WHISPER.replace("OPTIONS", "").replace("per_hour(60)", '"60/hour"'),
    ),
    _option("promo_of_rubbish", "generator whisper: promo.tagline must be str, not NoneType", "promo=Promo(None)"),
    _option(
        "not_a_timeout", "generator whisper: timeout must be a number of seconds (got nan)", 'timeout=float("nan")'
    ),
    _option("no_memory", "generator whisper: memory_mib must be at least 1 (got 0)", "memory_mib=0"),
    _generator(
        "closure",
        ("worker processes cannot import ", "make.<locals>.whisper", "at the top level"),
        """
def make():
    @generator(
        slug="whisper", name="Whisper", summary="Small.", rate_limit=per_hour(60), produces=("text/plain",)
    )
    def whisper(params: TextParams, call: Call) -> Artifact: ...
    return whisper

whisper = make()
""",
    ),
    _generator(
        "local_params",
        ("worker processes cannot import 'make.<locals>.Params2'", "at the top level"),
        """
def make():
    class Params2(Params):
        text: str = Field(description="The text.")
    return Params2

Params2 = make()

@generator(slug="whisper", name="Whisper", summary="Small.", rate_limit=per_hour(60), produces=("text/plain",))
def whisper(params: Params2, call: Call) -> Artifact: ...
""",
    ),
    _generator(
        "without_reference",
        "worker processes cannot import ''",
        """
def function(params: TextParams, call: Call) -> Artifact: ...

whisper = Generator(
    slug="whisper", name="Whisper", summary="Small.", description="Small.", params=TextParams, function=function,
    produces=("text/plain",), rate_limit=per_hour(60),
)
""",
    ),
    _generator(
        "endless_params",
        "generator whisper: Params2 contains itself",
        """
class Node(BaseModel):
    children: list["Node"] = Field(description="More.")

class Params2(Params):
    node: Node = Field(description="The root.")
"""
        + _WHISPER.replace("OPTIONS", "").replace("TextParams", "Params2"),
    ),
    _generator(
        "no_schema",
        "generator whisper: Params2 has no JSON Schema",
        """
from collections.abc import Callable

class Params2(Params):
    text: Callable[[], str] = Field(description="What no schema can describe.")
"""
        + _WHISPER.replace("OPTIONS", "").replace("TextParams", "Params2"),
    ),
    _generator(
        "validator_fails",
        "generator whisper: it cannot be checked, KeyError: 'nothing'",
        """
from pydantic import field_validator

class Params2(Params):
    text: str = Field(description="The text.")

    @field_validator("text")
    @classmethod
    def check(cls, value): return {}["nothing"]
"""
        + _WHISPER.replace("OPTIONS", 'examples=(Example("One", {"text": "x"}),)').replace("TextParams", "Params2"),
    ),
    _generator(
        "hollow_record",
        ("Generator: it cannot be checked, AttributeError: ",),
        "\nwhisper = object.__new__(Generator)\n",
    ),
    _hook(
        "root_one_of",
        ("tool count: Choice must be one plain object in JSON Schema", "oneOf"),
        """
class Choice(Params):
    model_config = {"json_schema_extra": {"oneOf": [{"required": ["text"]}, {"required": ["url"]}]}}
    text: str = Field("", description="The text.")
    url: str = Field("", description="Its address.")

class Count(BaseModel):
    words: int

@mcp_tool(name="count", title="Count", description="Counts words.")
async def count(params: Choice, call: Call) -> Count: ...

@hookimpl
def pressroom_mcp_tools():
    return [count]
""",
    ),
    _hook(
        "tool_without_result",
        "tool count: result must be a class derived from BaseModel, not NoneType",
        """
from dataclasses import replace

@mcp_tool(name="count", title="Count", description="Counts words.")
async def count(params: TextParams, call: Call) -> int: ...

@hookimpl
def pressroom_mcp_tools():
    return [replace(count, result=None)]
""",
    ),
    _hook(
        "route_without_slash",
        "route colophon: the path 'colophon' must begin with a slash",
        "\n@hookimpl\ndef pressroom_routes():\n    return [Route('colophon', print)]\n",
    ),
    _hook(
        "route_with_type",
        "route /x/<id:int>: the pattern 'int' of the path matches only itself",
        "\n@hookimpl\ndef pressroom_routes():\n    return [Route('/x/<id:int>', print)]\n",
    ),
    _hook(
        "page_for_unknown_role",
        "route /x: page.posts must be one of owner, editor, reader, not str 'admin'",
        "\n@hookimpl\ndef pressroom_routes():\n"
        "    return [Route('/x', print, page=DashboardPage('X', posts='admin'))]\n",
    ),
    _hook(
        "route_with_broken_pattern",
        "route /x/<id:[a->: the pattern '[a-' of the path is not a regular expression",
        "\n@hookimpl\ndef pressroom_routes():\n    return [Route('/x/<id:[a->', print)]\n",
    ),
    _hook(
        "unknown_method",
        "route /colophon: 'FETCH' is not an HTTP method",
        "\n@hookimpl\ndef pressroom_routes():\n    return [Route('/colophon', print, ('FETCH',))]\n",
    ),
    _hook(
        "check_of_rubbish",
        ("name must be str, not int 3", "run must be Callable"),
        "\n@hookimpl\ndef pressroom_checks():\n    return [Check(3, 'fonts')]\n",
    ),
    _hook(
        "nameless_command",
        "command None: it needs a name",
        "\nimport click\n\n@hookimpl\ndef pressroom_commands():\n    return [click.Command(None)]\n",
    ),
    _hook(
        "rate_limit_twice",
        "rate limit daily is offered twice",
        """
@hookimpl
def pressroom_rate_limits():
    return [RateLimit("daily", lambda tool, plan: None) for _ in range(2)]
""",
        "give each its own name",
    ),
)

FAULTS: Final[dict[str, Factory]] = dict(_FAULTS)
