"""Did you mean …?"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

_SEPARATOR = re.compile(r"[-_ .]")
_MAX_NAME_LENGTH = 64
_SIMILAR = 0.75
_MIN_PREFIX_LENGTH = 3


def nearest(name: str, candidates: Iterable[str]) -> str | None:
    """Return the candidate that `name` was probably meant to be, or `None` where none is close.

    Case and the separators `-`, `_`, `.` and space make no difference; swapped letters and the beginning of one single
    candidate count as close. The answer does not depend on the order of the candidates.
    """
    if not 0 < len(name) <= _MAX_NAME_LENGTH:
        return None
    meant = _folded(name)
    by_folded = {_folded(candidate): candidate for candidate in sorted(candidates, reverse=True)}
    if meant in by_folded:
        return by_folded[meant]
    letters = sorted(meant)
    for folded in sorted(by_folded):
        if len(folded) > 2 and sorted(folded) == letters:
            return by_folded[folded]
    similar = difflib.get_close_matches(meant, sorted(by_folded), n=1, cutoff=_SIMILAR)
    if not similar and len(meant) >= _MIN_PREFIX_LENGTH:
        begun = [folded for folded in by_folded if folded.startswith(meant)]
        similar = begun if len(begun) == 1 else []
    return by_folded[similar[0]] if similar else None


def _folded(name: str) -> str:
    return _SEPARATOR.sub("", name.casefold())
