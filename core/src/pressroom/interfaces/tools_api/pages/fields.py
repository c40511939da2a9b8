"""Form fields for the templates, built from a generator's page descriptor.

`pressroom.interfaces.tools_api.pages.declared` describes the members of descriptors and parameters.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Final, Literal

from pressroom.interfaces.tools_api.pages.forms import Form, Param, field_text, is_colour, takes_empty, text_of
from pressroom.interfaces.tools_api.pages.text_ranges import Excerpt, excerpt
from pressroom.interfaces.tools_api.pages.uploads import file_bounds, file_in_words

NARROW_TEXT: Final = 80
"""Text fields with a higher maximum length take the full width of the form."""

Widget = Literal["text", "textarea", "number", "select", "radios", "thumbnails", "checkbox", "colour"]

LONG_TEXT: Final = 254
"""Text fields with a higher maximum length have several lines."""

CODE_TEXT: Final = 4000
"""Text fields with a higher maximum length are tall and use a monospace font."""

_ONE_LINE: Final = frozenset({"uri", "email", "date", "time", "date-time", "uuid"})
"""JSON Schema formats that contain no line breaks, whatever their maximum length."""

MAX_THUMBNAILS: Final = 48
"""Parameters with more values are shown as a list of names instead of images."""

_VISIBLE: Final = frozenset({"design", "layout", "preset", "shape", "style", "template", "theme"})

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\x00-\x7f]+")
_WORDS: Final = {
    "api": "API",
    "bg": "background",
    "color": "colour",
    "css": "CSS",
    "fg": "foreground",
    "html": "HTML",
    "id": "ID",
    "json": "JSON",
    "props": "properties",
    "qr": "QR",
    "svg": "SVG",
    "url": "URL",
}


@dataclass(frozen=True, slots=True)
class Option:
    """An option of a select or a radio group. `image` is the URL of its image, or empty."""

    value: str
    label: str
    chosen: bool
    image: str = ""


@dataclass(frozen=True, slots=True)
class Field:
    """A form field. `spec` is JSON that tells the script how to convert its text to a value.

    `cases` are the values of the form's switch, by number, for which the field is shown; empty for all. `switches`
    marks the switch itself. `files` are the media types of accepted files, and `file_urls` is whether URLs are accepted
    too. `file_bounds` describes the accepted files, and `kept_file` the file already in the field.
    """

    id: str
    name: str
    label: str
    widget: Widget
    required: bool
    help: str
    error: str
    value: str
    spec: str
    bounds: str = ""
    minimum: str = ""
    maximum: str = ""
    step: str = "any"
    slider: bool = False
    limit: int = 0
    counted: bool = True
    guard: int = 0
    rows: int = 3
    code: bool = False
    language: str = ""
    placeholder: str = ""
    options: tuple[Option, ...] = ()
    excerpt: Excerpt | None = None
    cases: str = ""
    switches: bool = False
    files: str = ""
    file_urls: bool = False
    file_bounds: str = ""
    kept_file: str = ""

    @property
    def wide(self) -> bool:
        """Whether the field takes the full width of the form."""
        return self.widget in ("textarea", "thumbnails") or (
            self.widget == "text" and (self.required or self.limit > NARROW_TEXT)
        )

    @property
    def only_files(self) -> bool:
        """Whether it only accepts files."""
        return bool(self.files) and not self.file_urls

    @property
    def half(self) -> bool:
        """Whether two such fields fit side by side in a narrow form."""
        return self.widget in ("number", "checkbox", "colour")

    @property
    def hint(self) -> str:
        """The help text with the bounds."""
        limit_text = f"Up to {self.limit:,} characters" if self.limit and self.counted and not self.files else ""
        bounds = self.bounds[:1].upper() + self.bounds[1:] if self.bounds else limit_text
        return f"{self.help} {bounds}.".strip() if bounds else self.help

    @property
    def described_by(self) -> str:
        """The IDs of the texts that describe the field, separated by spaces."""
        parts = {f"{self.id}-help": self.hint, f"{self.id}-error": self.error}
        return " ".join(name for name, text in parts.items() if text)


def label_of(name: str) -> str:
    """Return a label made from a parameter's name: `fgColor` becomes `Foreground colour`."""
    words = [_WORDS.get(word.lower(), word if word.isupper() else word.lower()) for word in _WORD.findall(name)]
    text = " ".join(words) or name
    return text[:1].upper() + text[1:]


def shows_choices(param: Param) -> bool:
    """Return whether a parameter's values are shown as images: by its name, for themes, templates and shapes.

    `"thumbnails"` in the parameter's JSON Schema overrides this.
    """
    values = param.get("enumValues") or ()
    if not 2 <= len(values) <= MAX_THUMBNAILS or param["type"] != "enum":
        return False
    if "thumbnails" in param:
        return bool(param["thumbnails"])
    words = _WORD.findall(param.get("path", (param["name"],))[-1])
    return bool(words) and words[-1].lower() in _VISIBLE


def number_text(value: Any) -> str:
    """Format a bound; return an empty string for `None`."""
    return "" if value is None else text_of(value)


def build_field(
    field_id: str,
    param: Param,
    form: Form,
    problems: Mapping[str, str],
    images: Mapping[str, Mapping[str, str]] = MappingProxyType({}),
    case: int | None = None,
    *,
    switches: bool = False,
) -> Field:
    """Build the field of one parameter.

    Args:
        field_id: the field's ID on the page.
        param: one of `form_params`.
        form: texts of the fields; a field without one shows its default.
        problems: error messages by parameter name.
        images: URLs of choice images by parameter name and value.
        case: the number of the current value of the form's switch.
        switches: whether this is the switch.
    """
    name = param["name"]
    documented = param.get("default")
    default, assumed = (None, documented) if param.get("assumed") else (documented, None)
    value = form[name][-1] if form.get(name) else "" if default is None else field_text(param, default)
    widget = _widget(param, has_images=name in images)
    limit = (
        int(param["max"]) if widget in ("text", "textarea") and param["type"] == "string" and param.get("max") else 0
    )
    example = param.get("example") if assumed is None else assumed
    code = widget == "textarea" and (limit > CODE_TEXT or param["type"] == "object" or "mediaType" in param)
    error = problems.get(name, "")
    return Field(
        id=field_id,
        name=name,
        label=param.get("labels", {}).get(case) or _label(param),
        widget="radios" if switches else widget,
        required=bool(param.get("required")),
        help=param.get("description") or "",
        error=error,
        value=value,
        spec=_spec(param),
        bounds=_bounds(param, assumed) if widget == "number" else _list_bounds(param) if param.get("list") else "",
        minimum=number_text(param.get("min")),
        maximum=number_text(param.get("max")),
        step=_step(param),
        slider=default is not None and param.get("min") is not None and param.get("max") is not None,
        limit=limit,
        counted=param.get("format") not in _ONE_LINE,
        guard=max(2 * limit, 256) if limit else 0,
        rows=12 if code and param["type"] == "string" else 5 if code else 3,
        code=code,
        language=param.get("mediaType", ""),
        placeholder="" if example is None or default is not None else field_text(param, example),
        options=_options(param, value, images.get(name, {})),
        excerpt=excerpt(value, error) if code and error else None,
        cases=" ".join(map(str, param.get("cases", ()))),
        switches=switches,
        files=",".join(param.get("files", ())),
        file_urls=bool(param.get("fileUrls")),
        file_bounds=file_bounds(param) if "files" in param else "",
        kept_file=file_in_words(value) if "files" in param else "",
    )


def _label(param: Param) -> str:
    label: str = param.get("label") or label_of(param.get("path", (param["name"],))[-1])
    return label


def _widget(param: Param, *, has_images: bool = False) -> Widget:
    choices = param.get("enumValues")
    if choices:
        if has_images:
            return "thumbnails"
        is_short = len(choices) <= 6 and sum(len(text_of(choice)) for choice in choices) <= 36
        return "radios" if is_short and (param.get("required") or param.get("default") is not None) else "select"
    if param.get("list"):
        return "textarea"
    match param["type"]:
        case "number":
            return "number"
        case "boolean":
            return "checkbox"
        case "object":
            return "textarea"
        case _ if is_colour(param):
            return "colour"
        case _:
            is_long = (
                "files" not in param and (param.get("max") or 0) > LONG_TEXT and param.get("format") not in _ONE_LINE
            )
            return "textarea" if is_long else "text"


def _options(param: Param, value: str, images: Mapping[str, str]) -> tuple[Option, ...]:
    choices = [text_of(choice) for choice in param.get("enumValues") or ()]
    titles = param.get("valueTitles", {})
    options = [
        Option(choice, titles.get(choice) or _value_label(param, choice), choice == value, images.get(choice, ""))
        for choice in choices
    ]
    # A mode's main parameter needs a value, so its first image is preselected; a select does that itself.
    if images and "mode" in param and value not in choices:
        options[0] = replace(options[0], chosen=True)
    if choices and not param.get("required") and param.get("default") is None and "mode" not in param:
        options.insert(0, Option("", "Not set", value == ""))
    return tuple(options)


def _value_label(param: Param, choice: str) -> str:
    if param["name"] == "scale":
        return choice + "×"
    return choice.upper() if param["name"] == "format" else choice


def number_bounds(param: Param) -> str:
    """Return a description of a number's bounds, or an empty string if it has none."""
    minimum, maximum = number_text(param.get("min")), number_text(param.get("max"))
    if minimum and maximum:
        return f"{minimum} to {maximum}"
    return f"At least {minimum}" if minimum else f"At most {maximum}" if maximum else ""


def _bounds(param: Param, assumed: Any) -> str:
    bounds = number_bounds(param)
    return (
        bounds
        if assumed is None
        else f"{bounds}, default {text_of(assumed)}"
        if bounds
        else f"default {text_of(assumed)}"
    )


def _list_bounds(param: Param) -> str:
    return f"one per line, up to {param['maxItems']}" if "maxItems" in param else "one per line"


def _step(param: Param) -> str:
    """Return 1 if the value is almost certainly an integer, which a descriptor does not state, and otherwise `any`."""
    numbers = [param[key] for key in ("default", "min", "max", "example") if param.get(key) is not None]
    minimum, maximum = param.get("min"), param.get("max")
    is_wide = minimum is not None and maximum is not None and maximum - minimum >= 10
    return "1" if is_wide and all(type(value) is int for value in numbers) else "any"


def _spec(param: Param) -> str:
    kind = "choice" if param.get("enumValues") else "list" if param.get("list") else param["type"]
    spec = {
        "name": param["name"],
        "path": param.get("path"),
        "kind": kind,
        "choices": list(param.get("enumValues") or ()),
        "default": None if param.get("assumed") else param.get("default"),
        "required": bool(param.get("required")),
        "empty": takes_empty(param),
        "label": _label(param) if "labels" in param else None,
        "labels": param.get("labels"),
        "max": param.get("max") if "files" in param else None,
    }
    return json.dumps({key: value for key, value in spec.items() if value not in (None, [], False)}, ensure_ascii=False)
