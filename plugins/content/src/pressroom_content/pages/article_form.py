"""The article form: its fields as text, a person's changes, and merging them with somebody else's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Self

from pressroom.sdk import InvalidInput
from pydantic import Field, ValidationError

from pressroom_content.articles.fields import Draft
from pressroom_content.tools.common import FieldChanges

LISTS: Final = ("tags", "categories")
NAMES: Final = (
    "title", "body", "website_id", "slug", "excerpt", "keyphrase", "meta_title", "meta_description", "tags",
    "categories", "language", "author", "featured_media_id", "featured_alt",
)  # fmt: skip
"""The article fields in the form, by their names in `Draft`."""


class EditedFields(FieldChanges):
    """The fields that a person can change: those of `update_content`, and the featured image."""

    featured_media_id: str | None = Field(default=None, max_length=64)
    featured_alt: str | None = Field(default=None, max_length=500)


@dataclass(frozen=True, slots=True)
class ArticleForm:
    """The text of each field, with LF line breaks."""

    texts: Mapping[str, str]

    @classmethod
    def of(cls, draft: Draft) -> Self:
        """Return the form that shows a draft."""
        return cls({name: _lines(_text(getattr(draft, name))) for name in NAMES})

    @classmethod
    def read(cls, typed: Mapping[str, str], otherwise: ArticleForm) -> Self:
        """Return the submitted form; missing fields have the text of `otherwise`."""
        return cls({name: _lines(typed.get(name, otherwise.texts[name])) for name in NAMES})

    def changed_from(self, other: ArticleForm) -> tuple[str, ...]:
        """Return the names of the fields that differ."""
        return tuple(name for name in NAMES if self.texts[name] != other.texts[name])

    def changes_from(self, other: ArticleForm) -> dict[str, Any]:
        """Return the fields that differ, as `Draft.with_changes` takes them. Raises `FormErrors`."""
        changes: dict[str, Any] = {name: self.texts[name] for name in self.changed_from(other)}
        for name in LISTS:
            if name in changes:
                changes[name] = [term for term in (part.strip() for part in changes[name].split(",")) if term]
        try:
            fields = EditedFields.model_validate(changes).given()
        except ValidationError as error:
            problems = {
                str(detail["loc"][0]): detail["msg"]
                for detail in reversed(error.errors(include_url=False))
                if detail["loc"]
            }
            raise FormErrors(problems) from None
        return {name: tuple(value) if name in LISTS else value for name, value in fields.items()}

    def drafted(self, before: Draft, base: ArticleForm) -> Draft:
        """Return a draft with the changes, or only the new body if they are invalid, for a preview."""
        try:
            return replace(before, body=self.texts["body"]).with_changes(self.changes_from(base))
        except (FormErrors, InvalidInput):
            return replace(before, body=self.texts["body"])

    def rebased(self, base: ArticleForm, newest: ArticleForm) -> tuple[Self, tuple[str, ...]]:
        """Return the form rebased on a newer version, and the fields that both changed, which keep this form's text.

        Fields that this form did not change since `base` have the text of `newest`.
        """
        mine, theirs = set(self.changed_from(base)), newest.changed_from(base)
        texts = {name: (self if name in mine else newest).texts[name] for name in NAMES}
        both = tuple(name for name in theirs if name in mine and self.texts[name] != newest.texts[name])
        return type(self)(texts), both


class FormErrors(Exception):
    """Problems of the fields of a form, by field name."""

    def __init__(self, problems: Mapping[str, str]) -> None:
        super().__init__("; ".join(f"{name}: {text}" for name, text in problems.items()))
        self.problems = problems

    @classmethod
    def of(cls, error: InvalidInput) -> Self:
        """Return an error of the article store as form errors."""
        return cls({error.field.removeprefix("fields."): error.problem})


def _text(value: object) -> str:
    return ", ".join(value) if isinstance(value, tuple) else str(value or "")


def _lines(text: str) -> str:
    """Return a text with LF line breaks; browsers send CR LF."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


BLANK: Final = ArticleForm.of(Draft("", ""))
