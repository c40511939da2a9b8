"""Convert HTML forms to API input and back.

Form fields contain only text, whose meaning follows from the parameter's descriptor (interface contract, section 2.10).
The page thus sends exactly what an API client would, with or without JavaScript.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Self
from urllib.parse import parse_qs

import orjson

from pressroom.errors import InvalidInput

Descriptor = Mapping[str, Any]
"""A tool's descriptor as plain data (interface contract, section 2.10).

For additional members of page descriptors, see `pressroom.interfaces.tools_api.pages.declared`.
"""

Param = Mapping[str, Any]
"""A parameter of a descriptor."""

Form = Mapping[str, Sequence[str]]
"""The values of a posted form or a query by field name."""

MAX_FIELDS: Final = 256

MODE: Final = "_mode"
"""The name of the field with the number of the chosen mode, which no parameter can have."""

_NUMBER = re.compile(r"[+-]?(?:\d++(?>(?:\.\d*+)?)|\.\d++)(?>(?:[eE][+-]?\d++)?)", re.ASCII)
_COLOUR_NAME = re.compile(r"colou?r$", re.IGNORECASE)
_TRUE = frozenset({"true", "on", "1"})
_FALSE = frozenset({"false", "off", "0", ""})
_MISSING: Final = object()


@dataclass(frozen=True, slots=True)
class FormState:
    """The content of a tool's page beyond the empty form.

    `form` holds the texts of the fields. `response` is the API's envelope for them, a success or an error (interface
    contract, sections 2.6 and 2.9), or `None` if nothing has run yet. `preview_url` is the URL of an image that
    represents the file, or empty. `example` is the number of the example in the fields. `permanent_url` is the URL
    of the image that does not expire, or empty.
    """

    form: Form = field(default_factory=dict)
    response: Mapping[str, Any] | None = None
    preview_url: str = ""
    example: int | None = None
    permanent_url: str = ""

    @classmethod
    def at_first(cls, descriptor: Descriptor) -> Self:
        """Return the initial state of a page, with the first example in its form."""
        endpoint = first_endpoint(descriptor)
        examples = endpoint.get("examples") or ()
        if not examples:
            return cls()
        return cls(form_from_input(endpoint.get("params", ()), examples[0]["params"]), example=0)

    @classmethod
    def from_query(cls, descriptor: Descriptor, query: Form) -> Self | None:
        """Return the state that a page's query selects: parameters by name, or an example by number.

        Returns:
            The state, or `None` if the query contains neither a parameter nor a valid example.
        """
        params = first_endpoint(descriptor).get("params", ())
        selected = {name: query[name] for name in (*map(_name, form_params(params)), MODE) if name in query}
        if selected.keys() - {MODE}:
            return cls(selected)
        number = query.get("example", [""])[-1]
        examples = first_endpoint(descriptor).get("examples", ())
        if re.fullmatch(r"[0-9]{1,3}", number) and int(number) < len(examples):
            return cls(form_from_input(params, examples[int(number)]["params"]), example=int(number))
        return None


def first_endpoint(descriptor: Descriptor) -> Mapping[str, Any]:
    """Return the endpoint that a tool's form posts to; empty for a tool without endpoints."""
    endpoints: Sequence[Mapping[str, Any]] = descriptor.get("endpoints") or ()
    return endpoints[0] if endpoints else {}


def form_params(params: Sequence[Param]) -> list[Param]:
    """Return the parameters shown in a form: all except `response`, which the page sets itself.

    An object with known members is replaced by its members, such as `props.title`.
    """
    flat: list[Param] = []
    for param in params:
        if param["name"] != "response":
            flat += members_of(param) or [param]
    return flat


def members_of(param: Param) -> list[Param]:
    """Return the members of an object parameter, with the names of their fields; empty for other parameters."""
    outer = {"mode": param["mode"]} if "mode" in param else {}
    return [
        {**member, **outer, "name": f"{param['name']}.{member['name']}", "path": (param["name"], member["name"])}
        for member in param.get("members", ())
    ]


def chosen_mode(params: Sequence[Param], form: Form) -> int:
    """Return the number of a form's mode: the submitted one, or else that of the first filled field with a mode."""
    submitted = form.get(MODE, [""])[-1]
    if re.fullmatch(r"[0-9]{1,2}", submitted):
        return int(submitted)
    return next(
        (param["mode"] for param in form_params(params) if "mode" in param and any(form.get(param["name"], ()))), 0
    )


def chosen_case(params: Sequence[Param], switch: str, form: Form) -> int | None:
    """Return the number of the value of the parameter `switch` in a form, or `None` if it has no known value."""
    param = next((candidate for candidate in form_params(params) if candidate["name"] == switch), None)
    if param is None:
        return None
    values = [text_of(value) for value in param.get("enumValues", ())]
    default = param.get("default")
    text = form.get(switch, ["" if default is None else text_of(default)])[-1]
    return values.index(text) if text in values else None


def _name(param: Param) -> str:
    name: str = param["name"]
    return name


def is_colour(param: Param) -> bool:
    """Return whether a parameter is a single colour, judging by its name."""
    return param["type"] == "string" and _COLOUR_NAME.search(param["name"]) is not None


def takes_empty(param: Param) -> bool:
    """Return whether an emptied field means an empty string rather than an omitted parameter.

    This is the case if the field starts with a default that the user can delete, unless the parameter declares a
    minimum length or is a colour.
    """
    default = param.get("default")
    return (
        param["type"] == "string"
        and not param.get("enumValues")
        and isinstance(default, str)
        and default != ""
        and not param.get("min")
        and not is_colour(param)
    )


def parse_form(body: bytes) -> dict[str, list[str]]:
    """Return the fields of an `application/x-www-form-urlencoded` body, including empty ones.

    Raises:
        InvalidInput: the body is not UTF-8, or has more than `MAX_FIELDS` fields.
    """
    try:
        return parse_qs(body.decode(), keep_blank_values=True, errors="strict", max_num_fields=MAX_FIELDS)
    except ValueError as error:
        raise InvalidInput("", f"the form must be UTF-8 text with at most {MAX_FIELDS} fields") from error


def input_from_form(params: Sequence[Param], form: Form, switch: str = "") -> dict[str, Any]:
    """Return the JSON object that an API client would send for a posted form.

    Optional fields that are empty or have the default are left out. A text that is not a number is passed on unchanged
    for a number parameter, since the tool's own validation reports the error best.

    Args:
        params: the parameters of the endpoint's descriptor.
        form: the posted texts; the last one under each name counts. Unknown names are ignored, as are fields of other
            modes if the form contains a mode.
        switch: the parameter whose value determines which others apply; if the form contains it, fields that belong
            only to other values are ignored.

    Raises:
        InvalidInput: the value of an object parameter is not a JSON object.
    """
    values: dict[str, Any] = {}
    mode = chosen_mode(params, form) if MODE in form else None
    case = chosen_case(params, switch, form) if switch in form else None
    for param in form_params(params):
        if mode is not None and param.get("mode", mode) != mode:
            continue
        if case is not None and case not in param.get("cases", (case,)):
            continue
        texts = form.get(param["name"])
        value = _value(param, texts[-1].replace("\r\n", "\n")) if texts else _MISSING
        if value is not _MISSING and (param.get("required") or not _is_default(param, value)):
            *outer, name = param.get("path", (param["name"],))
            (values.setdefault(outer[0], {}) if outer else values)[name] = value
    return values


def form_from_input(params: Sequence[Param], values: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the form that `input_from_form` converts to these values. Missing values get their defaults."""
    form: dict[str, list[str]] = {}
    for param in params:
        name = param["name"]
        if name not in values:
            continue
        if param.get("members") and isinstance(values[name], dict):
            members = {member["name"]: member for member in members_of(param)}
            for key, value in values[name].items():
                member = f"{name}.{key}"
                form[member] = [field_text(members.get(member, {}), value)]
        else:
            form[name] = [field_text(param, values[name])]
        if "mode" in param:
            form[MODE] = [str(param["mode"])]
    return form


def field_text(param: Param, value: Any) -> str:
    """Return the text of a parameter's field for a value; a list has one line per item."""
    if param.get("list") and isinstance(value, list | tuple):
        return "\n".join(map(text_of, value))
    return text_of(value)


def text_of(value: Any) -> str:
    """Return the text of a JSON value in a form field."""
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return json.dumps(value, ensure_ascii=False, indent=2 if isinstance(value, dict | list) else None)


def _is_default(param: Param, value: Any) -> bool:
    default = param.get("default")
    if default is None or param.get("assumed"):
        return value is False and default is None
    return isinstance(value, bool) == isinstance(default, bool) and bool(value == default)


def _value(param: Param, text: str) -> Any:
    if param.get("list"):
        return _lines(text) or ([] if param.get("default") else _MISSING)
    if param.get("enumValues"):
        return _choice(param["enumValues"], text)
    match param["type"]:
        case "number":
            return _number(text)
        case "boolean":
            return _boolean(text)
        case "object":
            return _object(param["name"], text)
        case _:
            return text if text or takes_empty(param) else _MISSING


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.split("\n") if line.strip()]


def _choice(choices: Sequence[Any], text: str) -> Any:
    if not text:
        return _MISSING
    return next((choice for choice in choices if text_of(choice) == text), text)


def _number(text: str) -> Any:
    digits = text.strip()
    if not digits:
        return _MISSING
    if len(digits) > 40 or not _NUMBER.fullmatch(digits):
        return text
    number = float(digits)
    if not math.isfinite(number):
        return text
    return int(number) if number.is_integer() and abs(number) < 2**53 else number


def _boolean(text: str) -> Any:
    word = text.strip().lower()
    if word in _TRUE:
        return True
    return False if word in _FALSE else text


def _object(name: str, text: str) -> Any:
    if not text.strip():
        return _MISSING
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise InvalidInput(name, f"must be JSON (line {error.lineno}, column {error.colno}: {error.msg})") from error
    if not isinstance(value, dict):
        raise InvalidInput(name, 'must be a JSON object, such as {"title": "Hello"}')
    return value
