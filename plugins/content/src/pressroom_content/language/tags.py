"""Language tags (BCP 47, RFC 5646)."""

from __future__ import annotations

import re
from typing import Final

TAG: Final = re.compile(
    r"(?:[a-z]{2,3}(?:-[a-z]{3}){0,3}|[a-z]{4,8})"  # language, extended language
    r"(?:-[a-z]{4})?(?:-(?:[a-z]{2}|[0-9]{3}))?"  # script, region
    r"(?:-(?:[a-z0-9]{5,8}|[0-9][a-z0-9]{3}))*"  # variants
    r"(?:-[a-wyz0-9](?:-[a-z0-9]{2,8})+)*(?:-x(?:-[a-z0-9]{1,8})+)?",
    re.IGNORECASE,
)
"""The form of a language tag (RFC 5646, section 2.1), grandfathered tags left out."""

_KIN: Final = (
    frozenset({"no", "nb", "nn", "da"}),
    frozenset({"sr", "hr", "bs", "sh", "cnr", "sl"}),
    frozenset({"id", "ms", "jv"}),
    frozenset({"zh", "yue", "wuu", "cmn", "hak", "nan"}),
    frozenset({"fa", "prs", "tg"}),
    frozenset({"gl", "pt"}),
    frozenset({"cs", "sk"}),
    frozenset({"he", "iw", "hbo", "yi"}),
    frozenset({"fil", "tl"}),
    frozenset({"hi", "mr", "ne", "sa"}),
    frozenset({"ar", "arz", "ary"}),
    frozenset({"el", "grc"}),
    frozenset({"mk", "bg"}),
    frozenset({"af", "nl", "fy"}),
    frozenset({"gsw", "lb", "de"}),
)
"""Languages that statistics tell apart badly: written much alike, or names of one another."""


def primary_subtag(tag: str) -> str:
    """Return the language of a tag in lower case, such as `pt` of `pt_BR`; empty for an empty tag."""
    return tag.strip().replace("_", "-").partition("-")[0].lower()


def same_language(one: str, other: str) -> bool:
    """Tell whether two primary subtags are the same language, or kin that cannot be told apart by statistics."""
    return one == other or any(one in kin and other in kin for kin in _KIN)
