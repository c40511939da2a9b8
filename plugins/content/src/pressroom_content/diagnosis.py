"""What `pressroom doctor` says of what plugins offer to articles."""

from __future__ import annotations

from collections.abc import Iterable

from pressroom.sdk import Check, CheckResult, PluginContext

from pressroom_content.articles.analysis import scorer_of
from pressroom_content.config import config_of
from pressroom_content.contract import article_scorers
from pressroom_content.language import SUPPORTED
from pressroom_content.language.starting import contributed_languages

_SETTING = "scorer in [plugins.content.config]"


def checks(plugin: PluginContext) -> Iterable[Check]:
    """Return the checks of this plugin."""

    async def scorer() -> CheckResult:
        return scorer_result(plugin)

    async def languages() -> CheckResult:
        return languages_result(plugin)

    return [Check("scorer", scorer), Check("languages", languages)]


def languages_result(plugin: PluginContext) -> CheckResult:
    """Name the languages with rules, and the plugins of those that do not come with Pressroom."""
    added = {one.code: one for one in contributed_languages(plugin)}
    names = [*SUPPORTED, *(f"{code} (plugin {one.plugin})" for code, one in sorted(added.items()))]
    return CheckResult("ok", f"rules for {', '.join(names)}")


def scorer_result(plugin: PluginContext) -> CheckResult:
    """Say what scores articles, and warn where that is not what the operator chose."""
    chosen, used = config_of(plugin).scorer, scorer_of(plugin)
    offered = [f"{scorer.name} (plugin {owner})" for owner, scorer in article_scorers(plugin)]
    if chosen and used is None:
        return CheckResult(
            "error",
            f"{_SETTING} is {chosen!r}, which no plugin offers; there is {', '.join(offered) or 'none'}",
            "correct the name, or install the plugin that offers it",
        )
    if used is None:
        return CheckResult("ok", "nothing scores articles")
    if not chosen and len(offered) > 1:
        return CheckResult(
            "warning",
            f"{used.name} scores articles, and of {', '.join(offered)} the others do not",
            f"choose one with {_SETTING}",
        )
    return CheckResult("ok", f"{used.name} scores articles")
