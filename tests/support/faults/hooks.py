"""Plugins whose hooks have the wrong shape, or fail when called."""

from __future__ import annotations

from typing import Final

from pressroom.plugins.discovery import Phase

from support.plugin_source import REPORT, SOUND, Factory, Fault, Words, fault


def _hook(id_: str, error: Words, hint: Words, hook: str, phase: Phase) -> Fault:
    """Return a plugin with a working generator and one more hook."""
    return fault(id_, phase, error, hint, SOUND + hook)


_WRAPPER: Final = "\n@hookimpl(wrapper=True, specname='pressroom_generators')\ndef wrap_generators({}):\n    {}\n"

_FAULTS: Final = (
    _hook(
        "wrong_signature",
        "pressroom_checks takes context, request, which it is not given",
        "the hook takes `plugin`, or nothing",
        "\n@hookimpl\ndef pressroom_checks(context, plugin, request):\n    return []\n",
        "register",
    ),
    _hook(
        "misspelt_hook",
        "there is no hook pressroom_mcp_tool",
        "did you mean pressroom_mcp_tools?",
        "\n@hookimpl\ndef pressroom_mcp_tool():\n    return []\n",
        "register",
    ),
    _hook(
        "hook_without_prefix",
        "there is no hook checks",
        "did you mean pressroom_checks?",
        "\n@hookimpl\ndef checks():\n    return []\n",
        "register",
    ),
    _hook(
        "hook_of_nobody",
        "there is no hook pressroom_weather_reports",
        ("the hooks are pressroom_authenticators, ", "pressroom_routes"),
        "\n@hookimpl\ndef pressroom_weather_reports():\n    return []\n",
        "register",
    ),
    _hook(
        "unmarked_hook",
        "pressroom_checks is not marked as a hook",
        "put @hookimpl above it",
        "\ndef pressroom_checks():\n    return []\n",
        "register",
    ),
    _hook(
        "async_hook",
        "pressroom_checks is async",
        "write `def`, not `async def`",
        "\n@hookimpl\nasync def pressroom_checks():\n    return []\n",
        "register",
    ),
    _hook(
        "async_generator_hook",
        "pressroom_checks is async",
        "write `def`, not `async def`",
        "\n@hookimpl\nasync def pressroom_checks():\n    yield 1\n",
        "register",
    ),
    _hook(
        "default_argument",
        "pressroom_checks gives plugin a default",
        "hook arguments take no default",
        "\n@hookimpl\ndef pressroom_checks(plugin=None):\n    return []\n",
        "register",
    ),
    _hook(
        "keyword_argument",
        "pressroom_checks takes plugin, which it is not given",
        "the hook takes `plugin`, or nothing",
        "\n@hookimpl\ndef pressroom_checks(*, plugin):\n    return []\n",
        "register",
    ),
    _hook(
        "star_arguments",
        "pressroom_checks takes *args, **kwargs, which it is not given",
        "the hook takes `plugin`, or nothing",
        "\n@hookimpl\ndef pressroom_checks(*args, **kwargs):\n    return []\n",
        "register",
    ),
    _hook(
        "hookwrapper",
        "its wrapper of pressroom_checks is marked with hookwrapper",
        "mark it with wrapper=True",
        "\n@hookimpl(hookwrapper=True)\ndef pressroom_checks():\n    yield\n",
        "register",
    ),
    _hook(
        "wrapper_that_yields_nothing",
        "its wrapper of pressroom_generators yields nothing",
        "write `records = yield`, then return the records",
        _WRAPPER.format("", "return []"),
        "register",
    ),
    _hook(
        "wrapper_with_unknown_argument",
        "pressroom_generators takes records, which it is not given",
        "the hook takes `plugin` and `owner`, or nothing",
        _WRAPPER.format("records", "return (yield)"),
        "register",
    ),
    _hook(
        "wrapper_of_tables",
        "pressroom_models cannot be wrapped",
        "the tables of a plugin belong to its migrations",
        "\n@hookimpl(wrapper=True)\ndef pressroom_models():\n    return (yield)\n",
        "register",
    ),
    _hook(
        "wrapper_that_ends_at_once",
        "its wrapper of pressroom_generators ends before it yields",
        "write `records = yield`",
        _WRAPPER.format("owner", "if not owner:\n        yield"),
        "wrap",
    ),
    _hook(
        "wrapper_that_yields_twice",
        "its wrapper of pressroom_generators yields twice",
        "write `records = yield`",
        _WRAPPER.format("", "yield\n    yield"),
        "wrap",
    ),
    _hook(
        "wrapper_that_returns_nothing",
        "its wrapper of pressroom_generators returns nothing",
        "then return the records",
        _WRAPPER.format("", "yield"),
        "wrap",
    ),
    _hook(
        "wrapper_that_returns_text",
        ("its wrapper of pressroom_generators, with what ", "must return an iterable of Generator, it returned"),
        "return a list",
        _WRAPPER.format("", "yield\n    return 'shout'"),
        "wrap",
    ),
    _hook(
        "wrapper_that_returns_names",
        ("its wrapper of pressroom_generators, with what ", "must return an iterable of Generator, it returned"),
        "report it to the authors",
        _WRAPPER.format("", "return [one.slug for one in (yield)]"),
        "wrap",
    ),
    _hook(
        "wrapper_that_never_ends",
        ("its wrapper of pressroom_generators, with what ", "returns more than 1000 records"),
        "a hook must end",
        _WRAPPER.format("", "(first, *_) = yield\n    return iter(lambda: first, None)"),
        "wrap",
    ),
    _hook(
        "wrapper_that_raises",
        "ValueError: nothing fits (plugin.py, line ",
        "report it to the authors",
        _WRAPPER.format("", "yield\n    raise ValueError('nothing fits')"),
        "wrap",
    ),
    _hook(
        "wrapper_that_breaks_a_record",
        ("its wrapper of pressroom_generators breaks ", "timeout must be "),
        "",
        "\nfrom dataclasses import replace\n"
        + _WRAPPER.format("", "return [replace(one, timeout='soon') for one in (yield)]"),
        "wrap",
    ),
    _hook(
        "wrapper_that_takes_a_name",
        "its wrappers offer the tool name qr-code-generator twice",
        "give each its own name",
        "\nfrom dataclasses import replace\n"
        + _WRAPPER.format("owner", "return [replace(one, slug='qr-code-generator') for one in (yield)]"),
        "wrap",
    ),
    _hook(
        "hook_is_no_function",
        "pressroom_checks is not a function",
        "write `def pressroom_checks(plugin)`",
        "\nimport functools\npressroom_checks = hookimpl(functools.partial(list))\n",
        "register",
    ),
    _hook(
        "no_hookspecs",
        "its hookspecs contain no hook specification",
        'pluggy.HookspecMarker("pressroom")',
        "\nPLUGIN = Plugin(id='$id', title='', summary='', hookspecs=42)\n",
        "register",
    ),
    _hook(
        "offers_a_hook_of_the_host",
        "it offers a hook pressroom_routes",
        "the host has a hook of that name",
        """
import pluggy

class Specs:
    @pluggy.HookspecMarker("pressroom")
    def pressroom_routes(self): ...

PLUGIN = Plugin(id='$id', title='', summary='', hookspecs=Specs)
""",
        "register",
    ),
    _hook(
        "hook_raises",
        "RuntimeError: the oven is cold (plugin.py, line",
        REPORT,
        "\n@hookimpl\ndef pressroom_checks():\n    raise RuntimeError('the oven is cold')\n",
        "collect",
    ),
    _hook(
        "hook_exits",
        "SystemExit: the oven is cold (plugin.py, line",
        REPORT,
        "\n@hookimpl\ndef pressroom_checks():\n    raise SystemExit('the oven is cold')\n",
        "collect",
    ),
    _hook(
        "hook_raises_midway",
        "ZeroDivisionError: division by zero (plugin.py, line",
        REPORT,
        "\n@hookimpl\ndef pressroom_mcp_tools():\n    yield from ()\n    yield 1 / 0\n",
        "collect",
    ),
    _hook(
        "hook_yields_rubbish",
        "pressroom_checks must yield an iterable of Check, it yielded int 42",
        REPORT,
        "\n@hookimpl\ndef pressroom_checks():\n    yield 42\n",
        "collect",
    ),
    _hook(
        "hook_yields_unreadable",
        "it yielded Unreadable its text cannot be read, ZeroDivisionError",
        REPORT,
        """
class Unreadable:
    def __repr__(self):
        return str(1 / 0)

@hookimpl
def pressroom_checks():
    return [Unreadable()]
""",
        "collect",
    ),
    _hook(
        "hook_returns_nothing",
        "pressroom_checks must return an iterable of Check, it returned None",
        "return a list",
        "\n@hookimpl\ndef pressroom_checks():\n    [1]\n",
        "collect",
    ),
    _hook(
        "hook_returns_text",
        "pressroom_checks must return an iterable of Check, it returned str 'fonts'",
        "return a list",
        "\n@hookimpl\ndef pressroom_checks():\n    return 'fonts'\n",
        "collect",
    ),
    _hook(
        "hook_returns_record",
        "pressroom_branding must return an iterable of Brander, it returned Brander",
        "return a list",
        "\n@hookimpl\ndef pressroom_branding():\n    return Brander('short', dict)\n",
        "collect",
    ),
    _hook(
        "hook_returns_coroutine",
        "pressroom_checks must return an iterable of Check, it returned coroutine",
        "return a list",
        """
async def later():
    return []

@hookimpl
def pressroom_checks():
    return later()
""",
        "collect",
    ),
    _hook(
        "endless_hook",
        "pressroom_checks yields more than 1000 records",
        "must end",
        """
@hookimpl
def pressroom_checks():
    while True:
        yield Check("again", dict)
""",
        "collect",
    ),
    _hook(
        "undecorated_generator",
        "pressroom_generators must yield an iterable of Generator, it yielded function whisper",
        "put @generator(…) above the function",
        """
def whisper(params: TextParams, call: Call) -> Artifact: ...

@hookimpl
def pressroom_generators():
    return [shout, whisper]
""",
        "collect",
    ),
    _hook(
        "record_of_another_hook",
        "pressroom_checks must yield an iterable of Check, it yielded Generator",
        "yield it from pressroom_generators",
        "\n@hookimpl\ndef pressroom_checks():\n    return [shout]\n",
        "collect",
    ),
)

FAULTS: Final[dict[str, Factory]] = dict(_FAULTS)
