"""Activation of the plugins' languages when the server starts, except those whose stemmer does not work."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import structlog
from pressroom.sdk import PluginContext, PressroomError, calling_in_worker

from pressroom_content.contract import languages
from pressroom_content.language.contributed import ContributedLanguage, checked_stem, in_use, use
from pressroom_content.language.rules import read_rules

log = structlog.get_logger()

_SAMPLE: Final = 200
_SECONDS: Final = 10.0
"""The number of words that a stemmer is tried with, and the time limit for it."""


def contributed_languages(plugin: PluginContext) -> tuple[ContributedLanguage, ...]:
    """Return the languages that other plugins offer, in the order of plugin ids."""
    return tuple(
        ContributedLanguage(owner, language.code, language.rules, language.stemmer)
        for owner, language in languages(plugin)
        if owner != plugin.id
    )


@asynccontextmanager
async def languages_in_use(plugin: PluginContext) -> AsyncIterator[None]:
    """Activate the languages of plugins for as long as the server runs."""
    previous = in_use()
    use([language for language in contributed_languages(plugin) if await _works(plugin, language)])
    try:
        yield
    finally:
        use(previous)


async def _works(plugin: PluginContext, language: ContributedLanguage) -> bool:
    """Return whether a stemmer returns stems in time. It is tried in a worker process, which can be killed."""
    if language.stemmer is None:
        return True
    try:
        await plugin.services.workers.run(
            try_stemmer, language, what=f"the stemmer of {language.code}", seconds=_SECONDS
        )
    except PressroomError:
        log.exception(
            "a language is left out, since its stemmer does not work",
            plugin=language.plugin,
            language=language.code,
        )
        return False
    return True


def try_stemmer(language: ContributedLanguage) -> None:
    """Stem the first function words of a language, and some words of no language. Raises an error if that fails."""
    if language.stemmer is None:
        return
    words = read_rules(language.rules)["function_words"].split()[:_SAMPLE]
    for word in (*words, "xyzzy", "ĉŝß", "123", "a-b", "l'eau"):
        with calling_in_worker(language.plugin, f"stemmer {language.code}", seconds=_SECONDS):
            checked_stem(language.stemmer, word)
