"""Reading `Accept-Encoding` (RFC 9110, section 12.5.3)."""

from __future__ import annotations

import re
from collections.abc import Iterator

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_WEIGHT = re.compile(r"[qQ]=(0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?)")
_SPACE = " \t"


def prefers_gzip(header: str) -> bool:
    """Tell whether a client takes gzip, and would not rather have the content as it is.

    Nothing that names neither gzip nor `*` takes it: without the header a client would have to take any coding, and
    some of those that send none can read none. Elements that break the grammar count for nothing.
    """
    weights = dict(_weights(header))
    gzip = max((weights[name] for name in ("gzip", "x-gzip") if name in weights), default=weights.get("*", 0.0))
    return gzip > 0 and gzip >= weights.get("identity", 0.0)


def _weights(header: str) -> Iterator[tuple[str, float]]:
    for element in header.split(","):
        coding, separator, parameter = element.partition(";")
        coding = coding.strip(_SPACE)
        weight = _WEIGHT.fullmatch(parameter.strip(_SPACE)) if separator else None
        if _TOKEN.fullmatch(coding) and (weight or not separator):
            yield coding.lower(), float(weight[1]) if weight else 1.0
