"""Validation of structured data: missing properties and invalid values."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Literal

from pressroom_seo.structured_data.extraction import extract_structured_data
from pressroom_seo.structured_data.types import (
    DATES,
    DURATIONS,
    NUMBERS,
    URLS,
    TypeRule,
    is_date,
    is_duration,
    is_number,
    is_web_url,
    part_rule,
    rule_for,
)

_MAX_DEPTH: Final = 40
_MAX_ITEMS: Final = 500
_MAX_PROBLEMS: Final = 1000
_MAX_HEADLINE_LENGTH: Final = 110


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem in structured data, with a `fix`. `path` is its position, such as `BlogPosting.author.name`."""

    path: str
    message: str
    fix: str


@dataclass(frozen=True, slots=True)
class StructuredDataItem:
    """A validated item.

    `missing` are its missing required and recommended properties; `key` are the most important properties of its type;
    `supported` is whether there are rules for its type.
    """

    type: str
    format: Literal["json-ld", "microdata"]
    supported: bool
    errors: tuple[Problem, ...]
    warnings: tuple[Problem, ...]
    missing: tuple[str, ...]
    key: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Validation:
    """The validated items. `errors` and `warnings` include those of the items and of the documents."""

    items: tuple[StructuredDataItem, ...]
    errors: tuple[Problem, ...]
    warnings: tuple[Problem, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain JSON data."""
        return asdict(self)


def validate_page(html: str, url: str = "") -> Validation:
    """Validate the JSON-LD and microdata of a page; `url` is the page's URL. Accepts any text."""
    structured = extract_structured_data(html, url)
    errors = [Problem(path, message, "Correct the JSON.") for path, message in structured.errors]
    linked = validate_structured_data(structured.json_ld)
    microdata = _validated(structured.microdata, "microdata", check_context=False)
    warnings = [*linked.warnings, *microdata.warnings]
    if not linked.items and not microdata.items and not errors:
        warnings.append(Problem("", "There is no structured data.", "Add JSON-LD of the page's type."))
    return Validation((*linked.items, *microdata.items), (*errors, *linked.errors, *microdata.errors), tuple(warnings))


def validate_structured_data(documents: Any) -> Validation:
    """Validate JSON-LD documents.

    `documents` is one document or several: an object, a list, a `@graph`, or a JSON string. Accepts any value.
    """
    parsed, errors = [], []
    for document in documents if isinstance(documents, list | tuple) else [documents]:
        if not isinstance(document, str):
            parsed.append(document)
            continue
        try:
            parsed.append(json.loads(document))
        except (ValueError, RecursionError) as error:
            errors.append(Problem("", f"This is not JSON: {error}", "Correct the JSON."))
    result = _validated(parsed, "json-ld", check_context=True)
    return Validation(result.items, (*errors, *result.errors), result.warnings)


def missing_of(item: StructuredDataItem) -> tuple[str, ...]:
    """Return the most important properties that an item lacks."""
    return tuple(name for name in item.key if name in item.missing)


@dataclass(slots=True)
class _Findings:
    by_id: Mapping[str, Mapping[str, Any]]
    errors: list[Problem] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)

    def error(self, path: str, message: str, fix: str) -> None:
        if len(self.errors) < _MAX_PROBLEMS:
            self.errors.append(Problem(path, message, fix))

    def warn(self, path: str, message: str, fix: str) -> None:
        if len(self.warnings) < _MAX_PROBLEMS:
            self.warnings.append(Problem(path, message, fix))


def _validated(documents: Sequence[Any], form: Literal["json-ld", "microdata"], *, check_context: bool) -> Validation:
    errors: list[Problem] = []
    top_items = list(_tops(documents, errors))[:_MAX_ITEMS]
    if check_context:
        errors += _context_errors(documents)
    by_id = {node["@id"]: node for node in top_items if isinstance(node.get("@id"), str) and len(node) > 1}
    items = [item for node in top_items if (item := _item(node, form, by_id)) is not None]
    return Validation(
        tuple(items),
        (*errors, *(problem for item in items for problem in item.errors)),
        tuple(problem for item in items for problem in item.warnings),
    )


def _tops(documents: Iterable[Any], errors: list[Problem]) -> Iterator[Mapping[str, Any]]:
    stack = [(document, 0) for document in reversed(list(documents))]
    while stack:
        node, depth = stack.pop()
        if depth > _MAX_DEPTH:
            continue
        if isinstance(node, list | tuple):
            stack += [(child, depth + 1) for child in reversed(node)]
        elif isinstance(node, Mapping) and "@graph" in node:
            stack.append((node["@graph"], depth + 1))
        elif isinstance(node, Mapping):
            if not types_of(node) and node and "@id" not in node:  # an @id can refer to another item
                errors.append(Problem("", "An item has no @type.", "Say what it is, such as BlogPosting."))
            yield node
        elif node is not None:
            kind = type(node).__name__
            errors.append(Problem("", f"An item must be an object, and is a {kind}.", "Use a JSON object."))


def _context_errors(documents: Sequence[Any]) -> Iterator[Problem]:
    for document in documents:
        if isinstance(document, Mapping) and "schema.org" not in str(document.get("@context", ""))[:2000]:
            fault = "is not schema.org" if "@context" in document else "is missing"
            yield Problem("@context", f"The @context {fault}.", "Set it to https://schema.org.")


def types_of(node: Mapping[str, Any]) -> list[str]:
    """Return the types of an item without prefix, such as `BlogPosting` for `https://schema.org/BlogPosting`."""
    raw = node.get("@type", ())
    names = [raw] if isinstance(raw, str) else raw if isinstance(raw, list | tuple) else ()
    plain = (str(name).rstrip("/").rpartition("/")[2].rpartition("#")[2] for name in names if isinstance(name, str))
    return [name.removeprefix("schema:") for name in plain if name]


def _item(
    node: Mapping[str, Any], form: Literal["json-ld", "microdata"], by_id: Mapping[str, Mapping[str, Any]]
) -> StructuredDataItem | None:
    names = types_of(node)
    if not names:
        return None
    type_name = next((name for name in names if rule_for(name)), names[0])
    rule = rule_for(type_name)
    findings = _Findings(by_id)
    if rule is None:
        _check_values(node, type_name, findings)
    else:
        _check(node, rule, type_name, findings, 0)
        _check_whole(node, rule, type_name, findings)
    return StructuredDataItem(
        type=type_name,
        format=form,
        supported=rule is not None,
        errors=tuple(findings.errors),
        warnings=tuple(findings.warnings),
        missing=tuple(dict.fromkeys(findings.missing)),
        key=rule.key if rule else (),
    )


def _check(node: Mapping[str, Any], rule: TypeRule, path: str, findings: _Findings, depth: int) -> None:
    for name in _lacking(node, rule.required):
        _note_missing(findings, depth, name)
        findings.error(f"{path}.{name}", f"{path} lacks the required {name}.", f"Add {name}.")
    for names in rule.one_of:
        if len(_lacking(node, names)) == len(names):
            _note_missing(findings, depth, *names)
            choice = " or ".join(names)
            findings.error(path, f"{path} lacks {choice}; one of them is required.", f"Add {choice}.")
    for names in rule.recommended:
        if len(_lacking(node, names)) == len(names):
            _note_missing(findings, depth, names[0])
            choice = " or ".join(names)
            findings.warn(f"{path}.{names[0]}", f"{path} lacks the recommended {choice}.", f"Add {choice}.")
    for name, minimum in rule.least.items():
        values = _values(node.get(name))
        if values and len(values) < minimum:
            findings.error(f"{path}.{name}", f"{path}.{name} needs at least {minimum} entries.", "Add the others.")
    _check_values(node, path, findings)
    _check_nested(node, rule, path, findings, depth)


def _check_nested(node: Mapping[str, Any], rule: TypeRule, path: str, findings: _Findings, depth: int) -> None:
    for name, part in rule.nested.items():
        for value in _values(node.get(name)):
            inner = findings.by_id.get(str(value.get("@id")), value) if isinstance(value, Mapping) else value
            if isinstance(inner, Mapping) and set(inner) != {"@id"} and depth < _MAX_DEPTH:
                _check(inner, part_rule(part, types_of(inner)), f"{path}.{name}", findings, depth + 1)


def _note_missing(findings: _Findings, depth: int, *names: str) -> None:
    if depth == 0:
        findings.missing.extend(names)


def _check_values(node: Mapping[str, Any], path: str, findings: _Findings) -> None:
    for name, raw in node.items():
        for value in _values(raw):
            problem = _form_fault(str(name), value) if value != "" else None
            if problem:
                message, fix = problem
                findings.error(f"{path}.{name}", f"{path}.{name} {message}: {str(value)[:100]!r}.", fix)


def _form_fault(name: str, value: object) -> tuple[str, str] | None:
    if isinstance(value, Mapping):
        return None
    if name in NUMBERS:
        return None if is_number(value) else ("is not a number", "Write it with digits and a decimal point.")
    if not isinstance(value, str):
        return None
    if name in DATES and not is_date(value):
        return "is not a date", "Write it as 2026-01-31 or 2026-01-31T08:00:00+01:00 (ISO 8601)."
    if name in DURATIONS and not is_duration(value):
        return "is not a duration", "Write it as PT1H30M (ISO 8601)."
    if name in URLS and not is_web_url(value):
        return "is not an absolute URL", "Write it in full, with https."
    return None


def _check_whole(node: Mapping[str, Any], rule: TypeRule, path: str, findings: _Findings) -> None:
    headline = node.get("headline")
    if rule.name == "Article" and isinstance(headline, str) and len(headline) > _MAX_HEADLINE_LENGTH:
        message = f"{path}.headline has {len(headline)} characters and may be cut."
        findings.warn(f"{path}.headline", message, f"Cut it to {_MAX_HEADLINE_LENGTH} characters.")
    published, modified = node.get("datePublished"), node.get("dateModified")
    if isinstance(published, str) and isinstance(modified, str) and modified[:10] < published[:10]:
        findings.warn(f"{path}.dateModified", f"{path} was modified before it was published.", "Correct the dates.")
    if rule.name == "BreadcrumbList":
        _check_trail(node, path, findings)
    if rule.name in {"FAQPage", "HowTo"}:
        condition = "only for health and government sites" if rule.name == "FAQPage" else "no longer"
        findings.warn(
            path, f"Google shows {rule.name} results {condition}.", "Keep it for other readers of structured data."
        )


def _check_trail(node: Mapping[str, Any], path: str, findings: _Findings) -> None:
    entries = [entry for entry in _values(node.get("itemListElement")) if isinstance(entry, Mapping)]
    for number, entry in enumerate(entries, 1):
        entry_path = f"{path}.itemListElement[{number - 1}]"
        if number < len(entries) and not _has(entry, "item"):
            findings.error(entry_path, f"{entry_path} lacks item; only the last may.", "Add the URL of that page.")
        if is_number(entry.get("position")) and str(entry["position"]) != str(number):
            findings.error(
                entry_path, f"{entry_path} has position {entry['position']}, not {number}.", "Number them from 1."
            )


def _lacking(node: Mapping[str, Any], names: Iterable[str]) -> list[str]:
    return [name for name in names if not _has(node, name)]


def _has(node: Mapping[str, Any], name: str) -> bool:
    head, _, tail = name.partition(".")
    values = [value for value in _values(node.get(head)) if value not in ("", None)]
    if not tail:
        return bool(values)
    return any(isinstance(value, Mapping) and _has(value, tail) for value in values)


def _values(raw: object) -> list[Any]:
    if raw is None:
        return []
    return list(raw) if isinstance(raw, list | tuple) else [raw]
