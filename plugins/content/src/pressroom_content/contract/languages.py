"""Languages that plugins contribute."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

_CODE: Final = re.compile(r"[a-z]{2,3}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Language:
    """A language with its own rules for checking articles. Offer it through the hook `pressroom_languages`.

    `code` is the primary language subtag (BCP 47), such as `eo`, which covers texts with the tags `eo` and `eo-FR`.
    `rules` is a TOML document with word lists, patterns and a formula for reading ease; the how-to "Add a language"
    describes it. `stemmer` returns the stem of a lower-case word, so that a keyphrase matches its inflected forms. It
    must be a module-level function, because it runs in worker processes. Without a stemmer, the Snowball stemmer of the
    language is used, if there is one.

    Raises `ValueError` if a field is invalid. The message lists every problem in the rules.
    """

    code: str
    rules: str
    stemmer: Callable[[str], str] | None = None

    def __post_init__(self) -> None:
        """Raise `ValueError` if a field is invalid."""
        if not _CODE.fullmatch(self.code):
            raise ValueError(f"code {self.code!r} must be a language subtag of two or three lower-case letters")
        if self.stemmer is not None and not _has_a_module(self.stemmer):
            raise ValueError(f"language {self.code}: stemmer must be a function of a module, no lambda and no method")
        if self.rules or self.code not in built_in_codes():
            from pressroom_content.language.rules import read_rules  # noqa: PLC0415 - most servers have no other language

            try:
                read_rules(self.rules)
            except ValueError as error:
                raise ValueError(f"language {self.code}: {error}") from None


def _has_a_module(function: object) -> bool:
    name = getattr(function, "__qualname__", "")
    return callable(function) and bool(name) and "<" not in name and "." not in name


@cache
def built_in_codes() -> tuple[str, ...]:
    """Return the primary subtags of the languages whose rules come with Pressroom."""
    data = files("pressroom_content") / "language" / "data"
    return tuple(sorted(file.name.removesuffix(".toml") for file in data.iterdir() if file.name.endswith(".toml")))
