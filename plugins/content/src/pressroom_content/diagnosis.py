"""The checks of `pressroom doctor` for scorers and languages of plugins."""

from __future__ import annotations

import asyncio
import pickle
import sys
from collections.abc import Iterable
from typing import Final

from pressroom.sdk import Check, CheckResult, PluginContext

from pressroom_content.articles.analysis import scorer_of
from pressroom_content.config import ContentConfig
from pressroom_content.contract import article_scorers
from pressroom_content.language import SUPPORTED
from pressroom_content.language.activation import contributed_languages, try_stemmer
from pressroom_content.language.contributed import ContributedLanguage

_STEMMER_SECONDS: Final = 8.0
_TRY: Final = """
import pickle, sys
given = sys.stdin.buffer
sys.path[:] = pickle.load(given)
(function,) = pickle.load(given)
function(pickle.load(given))
"""
"""The code of a process that calls a function, since a stemmer can hang or crash it."""

_SETTING = "scorer in [plugins.content.config]"


def checks(plugin: PluginContext[ContentConfig]) -> Iterable[Check]:
    """Return the checks of this plugin."""

    async def scorer() -> CheckResult:
        return scorer_result(plugin)

    async def languages() -> CheckResult:
        return await languages_result(plugin)

    return [Check("scorer", scorer), Check("languages", languages)]


async def languages_result(plugin: PluginContext[ContentConfig]) -> CheckResult:
    """List the languages with rules, and the plugins of those that do not come with Pressroom.

    Their stemmers are tried in the same way as when a server starts, which leaves out languages whose stemmer fails.
    """
    added = sorted(contributed_languages(plugin), key=lambda language: language.code)
    problems = await asyncio.gather(*(_problem_of_stemmer(language) for language in added))
    works = [language for language, problem in zip(added, problems, strict=True) if not problem]
    names = ", ".join([*SUPPORTED, *(f"{language.code} (plugin {language.plugin})" for language in works)])
    broken = [
        f"{language.code} is left out, since its stemmer does not work (plugin {language.plugin}: {problem})"
        for language, problem in zip(added, problems, strict=True)
        if problem
    ]
    if broken:
        hint = "upgrade the plugin, or report it to its authors; articles in the language are judged without its rules"
        return CheckResult("error", f"{'; '.join(broken)}; rules for {names}", hint)
    return CheckResult("ok", f"rules for {names}")


async def _problem_of_stemmer(language: ContributedLanguage) -> str:
    """Return why the stemmer of a language does not work, or an empty text if it does."""
    if language.stemmer is None:
        return ""
    payload = b"".join(map(pickle.dumps, (sys.path, (try_stemmer,), language)))
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-P",  # do not import from the current folder
        "-c",
        _TRY,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(_STEMMER_SECONDS):
            _, stderr = await process.communicate(payload)
    except TimeoutError:
        return f"no response within {_STEMMER_SECONDS:g} s"
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode == 0:
        return ""
    last = stderr.decode(errors="replace").strip().rpartition("\n")[2]
    return last[:200] or f"it ended its process with {process.returncode}"


def scorer_result(plugin: PluginContext[ContentConfig]) -> CheckResult:
    """Report the scorer in use: an error if the chosen one is missing, a warning if several compete for the choice."""
    configured, used = plugin.config.scorer, scorer_of(plugin)
    offered = [f"{scorer.name} (plugin {owner})" for owner, scorer in article_scorers(plugin)]
    if configured and used is None:
        return CheckResult(
            "error",
            f"{_SETTING} is {configured!r}, which no plugin offers; there is {', '.join(offered) or 'none'}",
            "correct the name, or install the plugin that offers it",
        )
    if used is None:
        return CheckResult("ok", "no plugin scores articles")
    if not configured and len(offered) > 1:
        return CheckResult(
            "warning",
            f"{used.name} scores articles, and of {', '.join(offered)} the others do not",
            f"choose one with {_SETTING}",
        )
    return CheckResult("ok", f"{used.name} scores articles")
