"""Where checks are found by their id."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Final

from pressroom_seo.scoring.context import Context
from pressroom_seo.scoring.report import Verdict, skipped
from pressroom_seo.scoring.rules import Rule

Check = Callable[[Context, Rule], Verdict]

CHECKS: Final[dict[str, Check]] = {}
"""Every check by its id."""

NO_KEYPHRASE: Final = "No keyphrase was given, so nothing of the keyphrase group counts."


def check(function: Check) -> Check:
    """Register a function as the check of its name."""
    CHECKS[function.__name__] = function
    return function


def keyphrase_check(function: Check) -> Check:
    """Register a check that is skipped where no keyphrase was given."""

    @wraps(function)
    def guarded(context: Context, rule: Rule) -> Verdict:
        return function(context, rule) if context.keyphrase else skipped(NO_KEYPHRASE)

    return check(guarded)


def unsupported(context: Context, what: str) -> Verdict:
    """Return the verdict of a check for which the language lacks something."""
    if not context.language:
        return skipped(f"The language of the text is not known; {what} need one. Set the article's language.")
    return skipped(f"There are no rules for {what} in the language “{context.language}”.")
