"""A form, as the templates draw it: fields, groups of them for objects, and modes of which one is chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count

from pressroom.interfaces.tools_api.pages.fields import Field, build_field, label_of
from pressroom.interfaces.tools_api.pages.forms import Form, Param, chosen_mode, members_of


@dataclass(frozen=True, slots=True)
class Group:
    """The fields of an object's members."""

    id: str
    name: str
    label: str
    help: str
    error: str
    fields: tuple[Field, ...]

    @property
    def described_by(self) -> str:
        """The ids of the texts that describe the group."""
        return " ".join(f"{self.id}-{part}" for part in ("help", "error") if getattr(self, part))


Item = Field | Group


@dataclass(frozen=True, slots=True)
class ModeView:
    """A mode with the fields that belong to it alone."""

    number: int
    title: str
    chosen: bool
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class FormView:
    """A form: its modes, if it has any, and what belongs to all of them."""

    modes: tuple[ModeView, ...]
    items: tuple[Item, ...]

    @property
    def is_rich(self) -> bool:
        """Whether it has more than plain fields: modes, groups, fields for code."""
        return bool(self.modes) or any(isinstance(item, Group) or item.code for item in self.items)


def build_form(params: Sequence[Param], modes: Sequence[str], form: Form, problems: Mapping[str, str]) -> FormView:
    """Return a form, in each of its parts the required fields first.

    Args:
        params: the parameters of the endpoint's descriptor.
        modes: the titles of the modes.
        form: texts to keep in the fields; a field without one shows its default.
        problems: what is wrong, by the parameter's name.
    """
    numbers = count(1)
    chosen = chosen_mode(params, form)

    def item(param: Param) -> Item:
        name = f"field-{next(numbers)}"
        members = members_of(param)
        if not members:
            return build_field(name, param, form, problems)
        return Group(
            id=name,
            name=param["name"],
            label=label_of(param["name"]),
            help=param.get("description") or "",
            error=problems.get(param["name"], ""),
            fields=tuple(build_field(f"field-{next(numbers)}", member, form, problems) for member in members),
        )

    shown = sorted(
        (param for param in params if param["name"] != "response"), key=lambda param: not param.get("required")
    )
    views = tuple(
        ModeView(number, title, number == chosen, tuple(item(param) for param in shown if param.get("mode") == number))
        for number, title in enumerate(modes)
    )
    return FormView(views, tuple(item(param) for param in shown if "mode" not in param))
