"""What a job may return."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from datetime import datetime
from typing import Any, TypeAlias

from pressroom.gate.failures import describe_value, one_line
from pressroom.sdk import Pause, Reschedule

JobOutcome: TypeAlias = dict[str, Any] | Pause | Reschedule


def checked_outcome(returned: Any) -> JobOutcome:
    """Return a job's return value in the form in which it is stored.

    Raises:
        TypeError, ValueError: it cannot be stored; the message says why.
    """
    if isinstance(returned, Pause):
        if not isinstance(returned.seconds, int | float):
            raise TypeError(f"Pause.seconds must be a number, not {describe_value(returned.seconds)}")
        if not 0 <= returned.seconds < math.inf:
            raise ValueError(f"Pause.seconds must be 0 or more, not {describe_value(returned.seconds)}")
        return returned
    if isinstance(returned, Reschedule):
        at: Any = returned.at  # Python does not check the types that a plugin passes
        if not isinstance(at, datetime) or at.tzinfo is None:
            raise ValueError(f"Reschedule.at must be a datetime with a time zone, not {describe_value(at)}")
        from pressroom.columns import in_utc  # noqa: PLC0415 - SQLAlchemy, which a host with jobs has loaded

        in_utc(at)
        return returned if returned.payload is None else Reschedule(returned.at, _json_object(returned.payload))
    return {} if returned is None else _json_object(returned)


def _json_object(value: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise TypeError(f"a job returns a JSON object, Pause, Reschedule or None, not {describe_value(value)}")
    try:
        json.dumps(dict(value), allow_nan=False, ensure_ascii=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"{describe_value(value)} cannot be stored as JSON: {one_line(error)}") from error
    return dict(value)
