"""The form of a tool: its modes, sections and groups of fields."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from types import MappingProxyType
from typing import Any, Final

from pressroom.interfaces.tools_api.pages.fields import Field, build_field, label_of
from pressroom.interfaces.tools_api.pages.forms import (
    Form,
    Param,
    chosen_case,
    chosen_mode,
    field_text,
    form_params,
    members_of,
)


@dataclass(frozen=True, slots=True)
class Group:
    """A group of fields for the members of an object parameter."""

    id: str
    name: str
    label: str
    help: str
    error: str
    fields: tuple[Field, ...]

    @property
    def hint(self) -> str:
        """The help text, as in `Field`."""
        return self.help

    @property
    def described_by(self) -> str:
        """The IDs of the texts that describe the group, separated by spaces."""
        return " ".join(f"{self.id}-{part}" for part in ("help", "error") if getattr(self, part))


Item = Field | Group

_EXPORTS: Final = frozenset({"format", "scale"})


@dataclass(frozen=True, slots=True)
class ModeView:
    """A mode and its own fields."""

    number: int
    title: str
    chosen: bool
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class SectionView:
    """Fields under a collapsible heading. `mode` is the number of the mode of its first field, or `None`."""

    title: str
    open: bool
    mode: int | None
    fields: tuple[Field, ...]


@dataclass(frozen=True, slots=True)
class FormView:
    """A form: its modes, if any, and the items common to all of them.

    `switch` is the field that decides which others are shown; `sections` come last. `exports` are fields about the file
    format rather than the content.
    """

    modes: tuple[ModeView, ...]
    items: tuple[Item, ...]
    exports: tuple[Field, ...] = ()
    switch: Field | None = None
    sections: tuple[SectionView, ...] = ()

    @property
    def takes_files(self) -> bool:
        """Whether any field accepts files."""
        return any(field.files for field in self.fields())

    def fields(self) -> Iterator[Field]:
        """Yield all fields except `exports` and `switch`."""
        items = (*self.items, *(item for mode in self.modes for item in mode.items))
        for item in items:
            yield from item.fields if isinstance(item, Group) else (item,)
        for section in self.sections:
            yield from section.fields

    @property
    def is_rich(self) -> bool:
        """Whether it has modes, groups or code fields."""
        return bool(self.modes) or any(isinstance(item, Group) or item.code for item in self.items)


def build_form(
    params: Sequence[Param],
    page: Mapping[str, Any],
    form: Form,
    problems: Mapping[str, str],
    images: Mapping[str, Mapping[str, str]] = MappingProxyType({}),
) -> FormView:
    """Build a form, with required fields first in each of its parts.

    Args:
        params: the parameters of the endpoint's descriptor.
        page: the descriptor's `page`.
        form: texts of the fields; a field without one shows its default.
        problems: error messages by parameter name.
        images: URLs of choice images by parameter name and value.
    """
    numbers = count(1)
    mode = chosen_mode(params, form)
    switch = page.get("switch", "")
    case = chosen_case(params, switch, form) if switch else None
    by_name = {param["name"]: param for param in form_params(params)}
    sections = [
        (section, [by_name[name] for name in section["params"] if name in by_name])
        for section in page.get("sections", ())
    ]
    # Parameters of cases and sections are placed separately.
    by_case = [param for param in by_name.values() if "cases" in param]
    placed = {switch, *(param["name"] for _, fields in sections for param in fields)}
    placed.update(param["name"] for param in by_case)

    def one_field(param: Param) -> Field:
        return build_field(
            f"field-{next(numbers)}", param, form, problems, images, case, switches=param["name"] == switch
        )

    def items(parameters: Iterable[Param]) -> Iterator[Item]:
        for param in parameters:
            members = members_of(param)
            unplaced = [member for member in members if member["name"] not in placed]
            if not members and param["name"] not in placed:
                yield one_field(param)
            elif unplaced:
                yield Group(
                    id=f"field-{next(numbers)}",
                    name=param["name"],
                    label=label_of(param["name"]),
                    help=param.get("description") or "",
                    error=problems.get(param["name"], ""),
                    fields=tuple(map(one_field, unplaced)),
                )

    visible = [param for param in params if param["name"] != "response"]
    required = [param for param in visible if param.get("required")]
    optional = [param for param in visible if not param.get("required")]
    chooser = one_field(by_name[switch]) if switch in by_name else None
    views = tuple(
        ModeView(
            number,
            title,
            number == mode,
            tuple(items(param for param in (*required, *optional) if param.get("mode") == number)),
        )
        for number, title in enumerate(page.get("modes", ()))
    )
    free = [param for param in optional if "mode" not in param]
    all_items = (
        *items(param for param in required if "mode" not in param),
        *map(one_field, by_case),
        *items(free),
    )
    exports = tuple(
        item for item in all_items if isinstance(item, Field) and item.name in _EXPORTS and item.widget == "radios"
    )
    return FormView(
        views,
        tuple(item for item in all_items if item not in exports),
        exports,
        chooser,
        tuple(_section(section, fields, problems, one_field) for section, fields in sections if fields),
    )


def _section(
    declared: Mapping[str, Any],
    params: Sequence[Param],
    problems: Mapping[str, str],
    one_field: Callable[[Param], Field],
) -> SectionView:
    fields = tuple(map(one_field, params))
    # Open a section if any of its fields has been changed or has an error.
    defaults = ["" if param.get("assumed") or param.get("default") is None else param["default"] for param in params]
    used = any(
        param["name"] in problems or field.value != field_text(param, default)
        for param, field, default in zip(params, fields, defaults, strict=True)
    )
    return SectionView(declared["title"], declared["open"] or used, params[0].get("mode"), fields)
