"""Plugins that are valid on their own, but conflict with others, need others, or fail when everything is combined."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from support.plugin_source import (
    HEAD,
    REPORT,
    SHOUT,
    SOUND,
    Distribution,
    Expected,
    Factory,
    Fault,
    Words,
    fault,
    filled,
    install_plugin,
)

_GENERATORS: Final = "\n@hookimpl\ndef pressroom_generators():\n    return [shout, whisper]\n"

_WHISPER: Final = """
@generator(
    slug="whisper", name="Whisper", summary="Text in small letters.", rate_limit=per_hour(60),
    produces=("text/plain",), executor="async", mcp=Mcp("whisper"),
)
async def whisper(params: TextParams, call: Call) -> Artifact: ...
"""


def _conflict(id_: str, error: Words, hint: Words, more: str) -> Fault:
    return fault(id_, "validate", error, hint, SOUND + more, status="conflict")


def _duplicate_slug(folder: Path) -> Distribution:
    ids = ("duplicate_slug", "duplicate_slug_too")
    slug = filled(SHOUT, "duplicate_slug")
    packages = [package for id_ in ids for package in install_plugin(folder, id_, HEAD + slug).packages]
    expected = tuple(
        Expected(
            id_,
            "conflict",
            "validate",
            (f"the tool name duplicate-slug is offered by {other} too",),
            (f"set enabled = false in [plugins.{id_}] or in [plugins.{other}]",),
        )
        for id_, other in (ids, ids[::-1])
    )
    return Distribution(folder, {id_: {} for id_ in ids}, tuple(packages), expected)


_CONFLICTS: Final = (
    _conflict(
        "slug_of_builtin",
        "the tool name qr-code-generator is offered by qr_code_generator too",
        "enabled = false in [plugins.slug_of_builtin]",
        _WHISPER.replace('slug="whisper"', 'slug="qr-code-generator"') + _GENERATORS,
    ),
    _conflict(
        "mcp_name_of_builtin",
        "the tool name generate_qr_code is offered by qr_code_generator too",
        "enabled = false in [plugins.mcp_name_of_builtin]",
        _WHISPER.replace('Mcp("whisper")', 'Mcp("generate_qr_code")') + _GENERATORS,
    ),
    _conflict(
        "same_slug_twice",
        "it offers the tool name same-slug-twice twice",
        "its own name",
        "\n@hookimpl\ndef pressroom_generators():\n    return [shout, shout]\n",
    ),
    _conflict(
        "same_route_twice",
        "it offers the route GET /pages/<…> twice",
        "its own name",
        """
@hookimpl
def pressroom_routes():
    return [Route("/pages/<one>", print, ("get", "POST")), Route("/pages/<other>/", print)]
""",
    ),
    _conflict(
        "backend_of_host",
        "the cache backend memory belongs to the host itself",
        ("enabled = false in [plugins.backend_of_host]", "authors for another name"),
        "\n@hookimpl\ndef pressroom_backends():\n    return [Backend('cache', 'memory', print)]\n",
    ),
    _conflict(
        "brander_of_host",
        "the brander default belongs to the host itself",
        "authors for another name",
        "\n@hookimpl\ndef pressroom_branding():\n    return [Brander('default', print)]\n",
    ),
    fault(
        "missing_required_plugin",
        "validate",
        "it needs sitemap, which is not active",
        "install the package that offers sitemap, and add [plugins.sitemap] to the configuration",
        HEAD.replace('summary="For tests."', 'summary="For tests.", requires=("sitemap",)') + SHOUT,
    ),
)


def _rule(id_: str, error: str, body: str, *, cache: bool = False) -> Fault:
    hook, kind = ("pressroom_cache_rules", "CacheRule") if cache else ("pressroom_rate_limits", "RateLimit")
    rule = f"\ndef rule(tool, plan):\n    {body}\n\n@hookimpl\ndef {hook}():\n    return [{kind}('own', rule)]\n"
    return fault(id_, "validate", error, REPORT, SOUND + rule)


_COMPILED: Final = (
    _rule(
        "rate_limit_raises", "LookupError: no rates today (plugin.py, line 26)", "raise LookupError('no rates today')"
    ),
    _rule("rate_limit_exits", "SystemExit: 1 (plugin.py, line 26)", "raise SystemExit(1)"),
    _rule(
        "rate_limit_returns_text",
        "rate limit own must return a Rate or None, it returned str '1/hour'",
        "return '1/hour'",
    ),
    _rule("cache_rule_raises", "LookupError: nothing", "raise LookupError('nothing')", cache=True),
    _rule(
        "cache_rule_returns_number",
        "cache rule own must return a CachePolicy or None, it returned int 3",
        "return 3",
        cache=True,
    ),
    _rule("cache_rule_of_rubbish", "seconds must be int, not str '1h'", "return CachePolicy('1h')", cache=True),
    _rule("cache_rule_below_zero", "cache rule own: seconds is -1, below 0", "return CachePolicy(-1)", cache=True),
    fault(
        "config_is_no_json",
        "validate",
        "PydanticSerializationError",
        REPORT,
        HEAD
        + """
class Config(PluginConfig):
    handle: Any = Field(default_factory=object)

PLUGIN = Plugin(id="$id", title="$id", summary="For tests.", config=Config)
"""
        + SHOUT,
    ),
)

FAULTS: Final[dict[str, Factory]] = {
    **dict(_CONFLICTS),
    **dict(_COMPILED),
    "duplicate_slug": _duplicate_slug,
}
