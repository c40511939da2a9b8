"""Plugins whose hooks are not what the host asks for, or fail when they are asked."""

from __future__ import annotations

from typing import Final

from pressroom.plugins.discovery import Phase

from support.plugin_source import REPORT, SOUND, Factory, Fault, Words, fault


def _hook(id_: str, error: Words, hint: Words, hook: str, phase: Phase) -> Fault:
    """Return a plugin with a generator that works, and one more hook."""
    return fault(id_, phase, error, hint, SOUND + hook)


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
        "wrapper",
        "pressroom_checks is a wrapper",
        "cannot wrap a hook",
        "\n@hookimpl(wrapper=True)\ndef pressroom_checks():\n    return (yield)\n",
        "register",
    ),
    _hook(
        "hookwrapper",
        "pressroom_checks is a wrapper",
        "cannot wrap a hook",
        "\n@hookimpl(hookwrapper=True)\ndef pressroom_checks():\n    yield\n",
        "register",
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
        "its hookspecs hold no hook specification",
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
