"""Present the result of a call to people."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import urlsplit

from pressroom.http.page_frame import capitalised, safe_link, sentence
from pressroom.interfaces.tools_api.pages.fields import label_of
from pressroom.interfaces.tools_api.pages.forms import Param, form_params, text_of
from pressroom.interfaces.tools_api.pages.views import ToolView

IMAGES: Final = frozenset({"png", "jpeg", "jpg", "svg", "webp", "gif"})
_HOST_FACTS: Final = frozenset(
    {"id", "url", "expiresAt", "cached", "width", "height", "size", "format", "files", "warnings"}
)
_NAMED: Final = re.compile(r"[^:\s]++: ")
_RETRY_TIME: Final = re.compile(r"[;,.] try again .*", re.DOTALL | re.IGNORECASE)
"""The end of a message about when to try again, which pages state in their own words."""


@dataclass(frozen=True, slots=True)
class ResultView:
    """The result of a call. `facts` are (name, value) pairs; `url` is empty if nothing was created.

    `image_url` is the URL of the image to show: the file itself, or an image that represents it.
    """

    url: str = ""
    image_url: str = ""
    width: int = 0
    height: int = 0
    filename: str = ""
    facts: tuple[tuple[str, str], ...] = ()
    files: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    expires: str = ""
    expires_text: str = ""
    quota: str = ""
    problem: str = ""
    advice: str = ""


def waiting_time(seconds: float) -> str:
    """Return a waiting time, rounded up: in seconds below 90 seconds, otherwise in minutes."""
    if seconds < 90:
        count, unit = max(1, -int(-seconds // 1)), "second"
    else:
        count, unit = -int(-seconds // 60), "minute"
    return f"{count} {unit}{'' if count == 1 else 's'}"


def file_stem(title: str) -> str:
    """Return a file name without extension for a title: `My sum.ts` becomes `my-sum`; empty if nothing is left."""
    stem = re.sub(r"\.[A-Za-z0-9]{1,5}$", "", title.strip())
    words = re.findall(r"[^\W_]+", unicodedata.normalize("NFC", stem).lower())
    return "-".join(words)[:60].strip("-")


def titled_details(params: Sequence[Param], data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the details of a file, with values replaced by their titles in the form.

    This applies to members with the name of a parameter, such as `language`: `cpp` is shown as `C++`.
    """
    titles = {param["name"]: param.get("valueTitles", {}) for param in params}
    return {
        name: titles.get(name, {}).get(value, value) if isinstance(value, str) else value
        for name, value in data.items()
    }


def result_view(
    tool: ToolView,
    response: Mapping[str, Any] | None,
    preview_url: str = "",
    title: str = "",
    params: Sequence[Param] = (),
) -> ResultView | None:
    """Return the view of an API envelope, or `None` if nothing has run.

    `preview_url` is the URL of the image that represents a file that is not an image, `title` the title that the file
    is named after, and `params` the parameters of the endpoint.
    """
    if response is None:
        return None
    quota = _quota(response.get("meta") or {})
    if not response.get("ok"):
        error = response["error"]
        problem, advice = error["message"], ""
        if error.get("retryAfter"):
            problem, advice = _RETRY_TIME.sub("", problem), f"Try again in {waiting_time(error['retryAfter'])}."
        # A leading parameter name keeps its case.
        text = f"{problem.rstrip('.')}." if _NAMED.match(problem) else sentence(problem)
        return ResultView(problem=text, advice=advice, quota=quota)
    data = response["data"]
    suffix = urlsplit(data["url"]).path.rpartition(".")[2].lower()
    kind = str(data.get("format") or suffix).lower()
    width, height = (data.get("width"), data.get("height")) if "width" in data else (data.get("size"),) * 2
    sized = isinstance(width, int) and isinstance(height, int)
    facts = [("Format", kind.upper())]
    facts += [("Size", f"{width} × {height} px")] if sized else []
    facts += [
        (label_of(name), text_of(value))
        for name, value in titled_details(params, data).items()
        if _is_fact(name, value)
    ]
    url = safe_link(data["url"])
    return ResultView(
        url=url,
        image_url=safe_link(preview_url) or (url if kind in IMAGES else ""),
        width=width if sized else 0,
        height=height if sized else 0,
        filename=f"{file_stem(title) or tool.slug}.{suffix}",
        facts=tuple(facts),
        files=tuple(data.get("files") or ()),
        warnings=tuple(data.get("warnings") or ()),
        expires=data.get("expiresAt") or "",
        expires_text=_clock(data.get("expiresAt") or ""),
        quota=quota,
    )


def _is_fact(name: str, value: Any) -> bool:
    return name not in _HOST_FACTS and isinstance(value, str | int | float)


def _quota(meta: Mapping[str, Any]) -> str:
    rate = meta.get("rateLimit")
    return f"{rate['remaining']:,} of {rate['limit']:,} requests left" if rate and rate["limit"] else ""


def _clock(timestamp: str) -> str:
    try:
        moment = datetime.fromisoformat(timestamp).astimezone(UTC)
    except ValueError:
        return timestamp
    return f"{moment:%H:%M} UTC"


def split_problem(message: str, names: Iterable[str]) -> tuple[str, str]:
    """Split an error message into the field that it begins with, if any, and the problem.

    `width: must be …` and `props.title: must be …` name a parameter or a member with its own field, and
    `props.items.1: must be …` the second item of a list. Other messages concern the whole input.
    """
    head, colon, problem = message.partition(": ")
    name = max(
        (candidate for candidate in names if re.match(rf"{re.escape(candidate)}(?![^.\[])", head)), key=len, default=""
    )
    if not colon or not name:
        return "", message
    path = head[len(name) :].lstrip(".")
    if re.fullmatch(r"[0-9]{1,9}", path):
        path = f"Item {int(path) + 1}"
    text = f"{path}: {problem}" if path else capitalised(problem)
    return name, text


def split_problems(message: str, names: Sequence[str]) -> list[tuple[str, str]]:
    """Split an error message into pairs of field and problem, in order; see `split_problem`.

    `width: must be …. height: must be ….` contains two: the contract specifies one sentence per problem.
    """
    alternatives = "|".join(map(re.escape, names))
    parts = re.split(rf"(?<=[.?!]) (?=(?:{alternatives})(?:[.\[][^:\s]*)?: )", message) if names else [message]
    sentences = [part.removesuffix(".") for part in parts] if len(parts) > 1 else parts
    return [pair for part in sentences if (pair := split_problem(part, names))[0]]


def problems_of(params: Sequence[Param], response: Mapping[str, Any] | None) -> dict[str, str]:
    """Return the problems in an error envelope by the name of the parameter."""
    if response is None or response.get("ok"):
        return {}
    fields = [param["name"] for param in (*params, *form_params(params))]
    return dict(reversed(split_problems(response["error"]["message"], fields)))
