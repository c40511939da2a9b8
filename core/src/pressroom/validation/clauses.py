"""Readable messages for single pydantic errors.

Every pydantic error type has a sentence here; a test checks that the list is complete.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from pydantic_core import ErrorDetails

from pressroom.errors import InvalidInput
from pressroom.validation.echo import cut, format_name, format_value, nearest, printable

Schema = Mapping[str, Any]

_MAX_NAMES = 20
_MAX_TEXT_LENGTH = 300
_MAX_PATTERN_LENGTH = 80
_QUOTED = re.compile(r"'([^']*)'")


@dataclass(frozen=True, slots=True)
class Clause:
    """The problem with one value: what it must be, what was given, and a hint.

    `mismatch` is true if the value does not have the expected type.
    """

    must: str
    got: str = ""
    hint: str = ""
    mismatch: bool = False

    def __str__(self) -> str:
        return self.must + (f" (got {self.got})" if self.got else "") + (f"; {self.hint}" if self.hint else "")


_DATE: Final = "a date such as 2026-05-31"
_DATETIME: Final = "a date and time such as 2026-05-31T12:00:00Z"
_TIME: Final = "a time such as 12:30:00"
_DURATION: Final = "a duration such as PT90S"
_URL: Final = "a URL such as https://example.com/page"
_UUID: Final = "a UUID such as 123e4567-e89b-42d3-a456-426614174000"

_TYPES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("int_type", "int_parsing", "int_parsing_size", "int_from_float"), "a whole number"),
    **dict.fromkeys(("float_type", "float_parsing"), "a number"),
    **dict.fromkeys(("decimal_type", "decimal_parsing"), "a decimal number"),
    **dict.fromkeys(("fraction_type", "fraction_parsing"), "a fraction such as 3/4"),
    **dict.fromkeys(("complex_type", "complex_str_parsing"), "a complex number such as 1+2j"),
    **dict.fromkeys(("bool_type", "bool_parsing"), "true or false"),
    **dict.fromkeys(("string_type", "string_unicode"), "a string"),
    **dict.fromkeys(("model_type", "model_attributes_type", "dataclass_type", "dataclass_exact_type"), "an object"),
    **dict.fromkeys(("dict_type", "frozen_dict_type", "ordered_dict_type", "counter_type"), "an object"),
    **dict.fromkeys(("list_type", "deque_type", "tuple_type", "named_tuple_type", "iterable_type"), "an array"),
    **dict.fromkeys(("set_type", "frozen_set_type", "iteration_error"), "an array"),
    **dict.fromkeys(("date_type", "date_parsing", "date_from_datetime_parsing", "date_from_datetime_inexact"), _DATE),
    **dict.fromkeys(("datetime_type", "datetime_parsing", "datetime_from_date_parsing"), _DATETIME),
    **dict.fromkeys(("time_type", "time_parsing"), _TIME),
    **dict.fromkeys(("time_delta_type", "time_delta_parsing"), _DURATION),
    **dict.fromkeys(("url_type", "url_parsing", "url_syntax_violation"), _URL),
    **dict.fromkeys(("uuid_type", "uuid_parsing"), _UUID),
    "datetime_object_invalid": _DATETIME,
    "path_type": "a path, as a string",
    "mapping_type": "an object",
    "bytes_type": "bytes",
    "none_required": "null",
}

_FORMATS: Final[Mapping[str, str]] = {
    "date": _DATE,
    "date-time": _DATETIME,
    "time": _TIME,
    "duration": _DURATION,
    "uuid": _UUID,
    "uri": _URL,
    "string": "a string",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "object": "an object",
    "array": "an array",
}

_SENTENCES: Final[Mapping[str, str]] = {
    "missing": "is required",
    "finite_number": "must be a finite number",
    "multiple_of": "must be a multiple of {multiple_of}",
    "string_not_ascii": "must contain only ASCII characters",
    "bytes_invalid_encoding": "must be {encoding}",
    "set_item_not_hashable": "must contain only plain values, no objects or arrays",
    "invalid_key": "its name must be a string",
    "date_past": "must be in the past",
    "date_future": "must be in the future",
    "datetime_past": "must be in the past",
    "datetime_future": "must be in the future",
    "timezone_naive": "must be a time without a time zone",
    "timezone_aware": "must be a time with a time zone",
    "timezone_offset": "must be a time with an offset of {tz_expected} seconds",
    "url_scheme": "must be a URL that begins with {expected_schemes}",
    "uuid_version": "must be a UUID of version {expected_version}",
    "decimal_max_digits": "must have at most {max_digits} digits",
    "decimal_max_places": "must have at most {decimal_places} digits after the decimal point",
    "decimal_whole_digits": "must have at most {whole_digits} digits before the decimal point",
    "union_tag_not_found": "is required",
    "frozen_field": "cannot be changed",
    "frozen_instance": "cannot be changed",
    "json_invalid": "must be valid JSON",
    "json_type": "must be a string that contains JSON",
    "recursion_loop": "must not contain itself",
    "recursion_depth_exceeded": "is nested too deeply",
    "default_factory_not_called": "could not be filled in, since other fields are wrong",
    "get_attribute_error": "could not be read",
    "missing_argument": "is required",
    "missing_keyword_only_argument": "is required",
    "missing_positional_only_argument": "is required",
    "unexpected_keyword_argument": "unknown field",
    "unexpected_positional_argument": "unknown field",
    "multiple_argument_values": "was given twice",
    "arguments_type": "must be an object",
}

_NO_VALUE: Final = frozenset(
    {"is required", "unknown field", "was given twice", _SENTENCES["default_factory_not_called"]}
)


def clause_of(error: ErrorDetails, schema: Schema, parent: Schema, also_known: Iterable[str] = ()) -> Clause:
    """Return the problem with one value.

    `schema` is the resolved JSON Schema of the value, `parent` that of the object around it; `also_known` are names
    that the object accepts in addition to those in its schema.
    """
    kind = error["type"]
    if kind == "extra_forbidden":
        return _unknown(error, [*parent.get("properties", ()), *also_known])
    if kind in _DESCRIBED:
        return _DESCRIBED[kind](error, schema)
    if kind in _TYPES:
        return _another_type(error["input"], _choices(schema) or _TYPES[kind])
    if kind in _SENTENCES:
        # Plugins can raise errors of the same type without the context that pydantic sets.
        context = defaultdict(str, {name: _plain(value) for name, value in error.get("ctx", {}).items()})
        sentence = _SENTENCES[kind]
        return Clause(sentence.format_map(context), "" if sentence in _NO_VALUE else format_value(error["input"]))
    if kind in _OF_SCHEMA:
        expected = _choices(schema) or _FORMATS.get(schema.get("format", "")) or _FORMATS.get(schema.get("type", ""))
        return _another_type(error["input"], expected or "of another type")
    return Clause(own_text(error["msg"].replace("Input should", "must")))


def own_text(text: str) -> str:
    """Return a validator's own message, made printable and cut to 300 characters."""
    return cut(printable(" ".join(text.split())), _MAX_TEXT_LENGTH) or "is not valid"


def listed(names: Iterable[str]) -> str:
    """Return names joined with commas, cut after 20 names."""
    all_names = list(names)
    more = len(all_names) - _MAX_NAMES
    return ", ".join(all_names[:_MAX_NAMES]) + (f" and {more} more" if more > 0 else "")


def _unknown(error: ErrorDetails, known: list[str]) -> Clause:
    similar = nearest(str(error["loc"][-1]), known) if error["loc"] else None
    if similar:
        return Clause("unknown field", hint=f"did you mean {format_name(similar)}?")
    return Clause("unknown field", hint=f"known are {listed(map(format_name, known))}" if known else "")


def _bounds(error: ErrorDetails, schema: Schema) -> Clause:
    limits = {**_numeric_limits(schema), **error.get("ctx", {})}
    if "ge" in limits and "le" in limits:
        must = f"between {_plain(limits['ge'])} and {_plain(limits['le'])}"
    else:
        must = " and ".join(f"{word} {_plain(limits[name])}" for name, word in _LIMITS.items() if name in limits)
    return Clause(f"must be {must}", format_value(error["input"]))


def _numeric_limits(schema: Schema) -> dict[str, Any]:
    # The schema of an optional field with a validator has its bounds under pydantic's own names.
    return {
        name: schema.get(name, schema.get(keyword))
        for name, keyword in _KEYWORDS.items()
        if name in schema or keyword in schema
    }


def _length(error: ErrorDetails, schema: Schema) -> Clause:
    kind, context = error["type"], error.get("ctx", {})
    noun, verb, suffix = ("item", "have", "Items")
    if kind.startswith(("string", "url")):
        noun, verb, suffix = ("character", "be", "Length")
    elif kind.startswith("bytes"):
        noun, verb, suffix = ("byte", "be", "Length")
    elif isinstance(error["input"], dict):
        noun, suffix = ("entry", "Properties")
    low = context.get("min_length", schema.get(f"min{suffix}", 0)) or 0
    high = context.get("max_length", schema.get(f"max{suffix}"))
    actual = context.get("actual_length") or (len(error["input"]) if hasattr(error["input"], "__len__") else None)
    if high is None:
        bounds = f"at least {low}"
    elif not low:
        bounds = f"at most {high}"
    else:
        bounds = f"exactly {low}" if low == high else f"between {low} and {high}"
    last = low if high is None else high
    return Clause(f"must {verb} {bounds} {noun if last == 1 else _plural(noun)}", "" if actual is None else str(actual))


def _plural(noun: str) -> str:
    return f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"


def _pattern(error: ErrorDetails, schema: Schema) -> Clause:
    pattern = cut(printable(str(error.get("ctx", {}).get("pattern", ""))), _MAX_PATTERN_LENGTH)
    example = f", such as {format_value(schema['examples'][0])}" if schema.get("examples") else ""
    return Clause(f"must match the pattern {pattern}{example}", format_value(error["input"]))


def _choice(error: ErrorDetails, schema: Schema) -> Clause:
    value = error["input"]
    expected = _choices(schema) or _plain(error.get("ctx", {}).get("expected", ""))
    texts = [choice for choice in _values(schema) if isinstance(choice, str)] or _QUOTED.findall(
        str(error.get("ctx", {}).get("expected", ""))
    )
    similar = nearest(value, texts) if isinstance(value, str) else None
    return Clause(
        f"must be {expected}" if expected else "is not one of the values that are allowed",
        format_value(value),
        f"did you mean {format_name(similar)}?" if similar else "",
        mismatch=not isinstance(value, str) or not texts,
    )


def _values(schema: Schema) -> list[Any]:
    return [schema["const"]] if "const" in schema else list(schema.get("enum", ()))


def _choices(schema: Schema) -> str:
    values = [format_name(value) if isinstance(value, str) else format_value(value) for value in _values(schema)]
    return _one_of(values) if values else ""


def _one_of(names: Iterable[str]) -> str:
    all_names = list(names)
    return all_names[0] if len(all_names) == 1 else f"one of {listed(all_names)}"


def _tag(error: ErrorDetails, schema: Schema) -> Clause:
    del schema
    context = error.get("ctx", {})
    tags = _plain(context.get("expected_tags")).split(", ")
    tag = str(context.get("tag", ""))
    similar = nearest(tag, tags)
    hint = f"did you mean {format_name(similar)}?" if similar else ""
    return Clause(f"must be {_one_of(map(format_name, tags))}", format_value(tag), hint)


def _own(error: ErrorDetails, schema: Schema) -> Clause:
    del schema
    cause, value = error.get("ctx", {}).get("error"), error["input"]
    text = own_text(cause.problem if isinstance(cause, InvalidInput) else str(cause or ""))
    repeats = isinstance(value, str | int | float) and text.startswith("must ") and "(got " not in text
    return Clause(text, format_value(value) if repeats else "")


_LIMITS: Final = {"ge": "at least", "gt": "above", "le": "at most", "lt": "below"}
_KEYWORDS: Final = {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum", "lt": "exclusiveMaximum"}

_DESCRIBED: Final[Mapping[str, Callable[[ErrorDetails, Schema], Clause]]] = {
    **dict.fromkeys(("greater_than", "greater_than_equal", "less_than", "less_than_equal"), _bounds),
    **dict.fromkeys(("string_too_short", "string_too_long", "bytes_too_short", "bytes_too_long"), _length),
    **dict.fromkeys(("too_short", "too_long", "url_too_long"), _length),
    **dict.fromkeys(("enum", "literal_error"), _choice),
    **dict.fromkeys(("value_error", "assertion_error"), _own),
    "string_pattern_mismatch": _pattern,
    "union_tag_invalid": _tag,
}

_OF_SCHEMA: Final = frozenset(
    {"is_instance_of", "is_subclass_of", "callable_type", "missing_sentinel_error", "ellipsis_error"}
    | {"needs_python_object", "no_such_attribute"}
)


def _another_type(value: Any, expected: str) -> Clause:
    got = f"the string {format_value(value)}" if isinstance(value, str) else format_value(value)
    return Clause(f"must be {expected}", got, mismatch=True)


def _plain(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return cut(printable(str(value)).replace("'", ""), _MAX_TEXT_LENGTH)
