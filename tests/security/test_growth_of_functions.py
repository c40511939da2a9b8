"""Running time on untrusted text: twice the text takes about twice as long, not four times."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from datetime import UTC, datetime
from functools import cache, cached_property
from types import ModuleType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import pytest
from pressroom_content.articles.edits import Edit
from pressroom_content.contract import MediaFile
from pressroom_content.publishing.images import PostImage
from pressroom_content.voice.store import Voice
from support.growth import cpu, grows, modules, room_of, rooms
from support.sizes import SOAK

LOOK, MEASURE = 4_000 if SOAK else 2_000, 20_000
"""Length of the text in a trial, and of one that is measured, in characters."""

LONG = LOOK * 0.75e-6
"""CPU seconds in the trial above which a function is measured."""

SUSPICIOUS = 4.35
"""How many times as long four times the text may take: a linear function takes four times as long, a quadratic 16."""

TEXTS = frozenset({"html", "body", "text", "markdown", "svg", "xml", "page", "source", "content"})
"""Names of parameters and members that hold untrusted text."""

FORMATS = frozenset({"body_format", "format"})

ELSEWHERE = (
    *(
        "pressroom.config",
        "pressroom.cli",
        "pressroom.testing",
        "pressroom.plugins",
        "pressroom.interfaces.tools_api.gallery",
        "pressroom.interfaces.tools_api.pages.declared",
    ),
    *("pressroom_code_to_image", "pressroom_favicon_generator", "pressroom_image_generator", "pressroom.graphics"),
    "pressroom_content.websites.control",
    "pressroom_content.language.rules",
    "pressroom_git.html_text",
    "pressroom_ghost.lexical",
    "pressroom_qr_code_generator.styled",
)
"""Modules for input from operators and plugin authors, and those that run only in worker processes."""

MEDIA = "m_0123456789abcdefghijkl"
SAMPLES: Mapping[str, Any] = {
    "language": "en",
    "url": "https://blog.example/post",
    "base": "https://blog.example/",
    "base_url": "https://press.example",
    "site_url": "https://blog.example",
    "content_type": "text/html",
    "most": 10_000_000,
    "most_bytes": 10_000_000,
    "longest": 10_000_000,
    "generator": "hugo",
    "edits": [Edit("a", "bb", all=True), Edit("<", "", all=True)],
    "voice": Voice(
        banned_terms=(*(" ".join(["a"] * count) for count in range(1, 40)), "<b>", "A."), glossary={"a a": "a b, a-a"}
    ),
    "images": {
        MEDIA: PostImage(
            MediaFile(
                id=MEDIA,
                content=b"1",
                filename="a.png",
                media_type="image/png",
                alt="",
                url="https://a.example/b.png",
                credit_html="by",
                credit_text="by",
                hosting="either",
                width=1,
                height=1,
            ),
            "link",
        )
    },
    "uploaded": {},
}
"""Values of other parameters by name."""

EMPTY: Mapping[Any, Any] = {
    str: "a", int: 1, float: 20.0, bool: False, bytes: b"", datetime: datetime(2026, 1, 1, tzinfo=UTC),
    tuple: (), list: [], dict: {}, frozenset: frozenset(), Mapping: {}, Sequence: (), Iterable: (), Collection: (),
}  # fmt: skip
"""Values of all other parameters by type."""

UNITS = (
    *(
        f"<{tag}>"
        for tag in ("b", "p", "a href=x", "li", "table", "td", "iframe", "svg", "pre", "h2", "script", "title")
    ),
    *("</b>", "<", "<a", "<a ", "<a a=", '<a a="', "<img ", "<!--", "<!-", "<![CDATA[", "<!DOCTYPE a", "<?a", "<br>\n"),
    *(
        "<p>a</p>",
        "<ul><li>",
        "<dd><li>",
        "<rt>",
        "<div><p>",
        "</p><b>",
        "&amp;",
        "&",
        "&#x",
        "<p>a<p>a",
        "<i><b></i>",
        "\\\n",
        "<br>",
    ),
    *(
        "*",
        "**a",
        "*a_",
        "_",
        "`",
        "`a``",
        "[",
        "![",
        "[a](",
        "](",
        "[^1]",
        "[^1]: a\n",
        "[a]: b\n",
        "[a]",
        "|",
        "|-\n",
    ),
    *(
        "a|b\n-|-\n",
        "> ",
        ">\n",
        "- ",
        "- a\n",
        "* a\n  ",
        "# ",
        "#",
        "~~",
        "~",
        "\\",
        "<http://",
        "a@b.c ",
        "www.a.b ",
        "1. ",
    ),
    *("```\n", "~~~", "---\n", "===\n", "a\n===\n", ":", "::", ": a\n", "{{<", "{{%", "{{", "{% ", "$", "^", "^^"),
    *(" ", "\n", "\t", "\r", " \n", "\n\n", "\u00a0", "\u3000", "\u0085", "\u2028", "a\n", "a \n", "\n a"),
    *(
        "a",
        "a ",
        "A",
        "A. ",
        "a. ",
        "a.b",
        "1",
        "1,",
        "1.",
        "-",
        "!!!a",
        "é",
        "e\u0301",
        "\u0301",
        "א",
        "漢",
        "。",
        "😀",
        "\u200d",
    ),
    *(
        "http://a/",
        "http://a.b ",
        "data:image/png;base64,AAAA",
        "/",
        "'",
        '"',
        "“a” ",
        "(",
        "((",
        ")",
        "a's ",
        "url(",
        "@",
    ),
    *(
        '{"a":',
        "[1,",
        '{"@type":"A"},',
        "Mr. ",
        "e.g. ",
        "m_0123456789abcdefghijkl ",
        "../",
        "%2",
        "?a=b&",
        ";",
        ",",
        "=a ",
    ),
)


@cache
def _functions() -> Mapping[str, Callable[[str], object]]:
    """Return every public function and method that takes untrusted text, as a function of that text alone."""
    works: dict[str, Callable[[str], object]] = {}
    for module in modules():
        if module.__name__.startswith(ELSEWHERE):
            continue
        for name, function, owner in _public(module):
            for body_format in ("markdown", "html"):
                if work := _of_a_text(function, body_format, owner):
                    suffix = " of HTML" if body_format == "html" else ""
                    works[f"{module.__name__}.{name}{suffix}"] = work
    return works


def _public(module: ModuleType) -> Iterator[tuple[str, Callable[..., Any], type | None]]:
    """Yield name, function and owning class, if any, of a module's functions and its classes' methods."""
    for name, value in vars(module).items():
        if name.startswith("_") or getattr(value, "__module__", "") != module.__name__:
            continue
        if inspect.isfunction(value):
            yield name, value, None
        elif inspect.isclass(value):
            for inner, raw in vars(value).items():
                if inner == "__init__" and not is_dataclass(value):
                    yield name, value, None
                if inner.startswith("_"):
                    continue
                if isinstance(raw, staticmethod | classmethod):
                    yield f"{name}.{inner}", getattr(value, inner), None
                elif inspect.isfunction(raw) or isinstance(raw, property | cached_property):
                    yield f"{name}.{inner}", _function_of(raw), value


def _function_of(method: Any) -> Callable[..., Any]:
    if isinstance(method, property):
        return method.fget or (lambda self: None)
    return method.func if isinstance(method, cached_property) else method


def _of_a_text(function: Callable[..., Any], body_format: str, owner: type | None) -> Callable[[str], object] | None:
    """Wrap a function as a function of one text; return None if it takes no text or an argument cannot be made up.

    `owner` is the class of a method: its instance may be what holds the text.
    """
    required = _needed(function)
    kinds = {name: _kind(function, name) for name in required}
    first = required[0] if owner is not None and required else ""
    if first:
        kinds[first] = owner
    texts = [name for name, kind in kinds.items() if _is_text(kind, name)]
    coroutine = inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function)
    # A function without a format parameter is tried once.
    if not texts or coroutine or (body_format == "html" and not any(map(_formats, kinds.values()))):
        return None

    def arguments(text: str) -> Mapping[str, Any]:
        half = len(text) // 2
        variant = f"{text[:half]}!{text[half:]}"  # a second text that is nearly the same
        args = {
            name: _sample(kinds[name], name, variant if index else text, body_format)
            for index, name in enumerate(texts)
        }
        rest = {name: _sample(kinds[name], name, "") for name in required if name not in args and name != first}
        return args | rest | ({first: _made(owner, text)} if owner is not None and first and first not in args else {})

    def call(text: str) -> object:
        args = arguments(text)
        try:
            result = function(**args)
            return list(result) if inspect.isgenerator(result) else result
        except (AttributeError, TypeError):  # a made-up argument is invalid
            raise
        except Exception:  # noqa: BLE001 - rejecting a text is a valid outcome
            return None

    try:
        arguments("")
    except (LookupError, NameError, TypeError):  # NameError: a type that is imported only for the type checker
        return None
    # A module-level function that cannot be called needs another sample; many methods have unusual parameters.
    return call if "." not in function.__qualname__ or _is_possible(call) else None


def _is_possible(call: Callable[[str], object]) -> bool:
    """Return whether a method can be called on an instance made of sample values."""
    try:
        call("a")
    except (AttributeError, LookupError, NameError, TypeError):
        return False
    return True


def _needed(function: Callable[..., Any]) -> Sequence[str]:
    """Return the names of a function's required parameters."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:  # a built-in
        return ()
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [
        parameter.name
        for parameter in parameters
        if parameter.default is parameter.empty and parameter.kind not in kinds
    ]


def _made(owner: type, text: str) -> Any:
    """Return an instance of a class. Raises `LookupError` or another exception if none can be made up."""
    if is_dataclass(owner):
        return _sample(owner, "self", text)
    hints = get_type_hints(owner.__init__)  # type: ignore[misc]
    return owner(**{name: _sample(hints.get(name), name, text) for name in _needed(owner)})


def _kind(function: Callable[..., Any], name: str) -> Any:
    try:
        return get_type_hints(function.__init__ if inspect.isclass(function) else function).get(name)
    except NameError:  # a type that is imported only for the type checker
        return None


def _is_text(kind: Any, name: str) -> bool:
    return (kind in (str, bytes) and name in TEXTS) or _holds_text(kind)


def _holds_text(kind: Any) -> bool:
    return is_dataclass(kind) and any(field.name in TEXTS for field in fields(kind))


def _formats(kind: Any) -> bool:
    return is_dataclass(kind) and any(field.name in FORMATS for field in fields(kind))


def _sample(kind: Any, name: str, text: str, body_format: str = "markdown") -> Any:
    """Return a value for a parameter or a member. Raises `LookupError` or another exception if none can be made up."""
    if name in TEXTS and kind in (str, bytes):
        return text.encode() if kind is bytes else text
    if name in FORMATS:
        return body_format
    if name in SAMPLES:
        return SAMPLES[name]
    origin = get_origin(kind)
    if origin is Literal:
        return get_args(kind)[0]
    if origin in (UnionType, Union) and type(None) in get_args(kind):
        return None
    if is_dataclass(kind) and isinstance(kind, type):
        hints = get_type_hints(kind)
        return kind(
            **{
                field.name: _sample(hints[field.name], field.name, text, body_format)
                for field in fields(kind)
                if _is_needed(field)
            }
        )
    return EMPTY[origin or kind]


def _is_needed(field: Field[Any]) -> bool:
    return (field.default is MISSING and field.default_factory is MISSING) or field.name in TEXTS | FORMATS


@pytest.mark.timeout(900)  # a package with many functions takes half a minute of CPU time
@pytest.mark.parametrize("room", rooms())
def test_twice_the_text_takes_a_function_at_most_three_times_as_long(room: str) -> None:
    works = {name: work for name, work in _functions().items() if room_of(name) == room}
    assert {name: problems for name, work in works.items() if (problems := _growth(work))} == {}


def _growth(work: Callable[[str], object]) -> list[str]:
    """Return how a function's running time grows, for each text where it grows too fast."""
    problems = []
    fixed = cpu(work, "a")
    for unit in UNITS:
        text = _repeated(unit)
        if _may_grow(work, text, fixed) and (grown := grows(work, text, MEASURE, floor=0.1)):
            problems.append(f"{unit!r} x n: {grown}")
    return problems


def _may_grow(work: Callable[[str], object], text: Callable[[int], str], fixed: float) -> bool:
    """Return whether a short text suggests measuring. `fixed` is the CPU time for next to no text.

    Shorter texts clear most functions. Trials are repeated, since other load can slow down a single run.
    """
    half = _seconds(work, text(LOOK // 2))
    if half - fixed <= LONG / 8 or half - fixed <= SUSPICIOUS * (_seconds(work, text(LOOK // 8)) - fixed):
        return False
    whole = _seconds(work, text(LOOK))
    if whole <= LONG:
        return False
    half = min(half, _seconds(work, text(LOOK // 2)))
    return whole > 2.5 * half and min(whole, _seconds(work, text(LOOK))) > max(LONG, 2.5 * half)


def test_functions_and_methods_of_all_kinds_are_listed() -> None:
    assert len(_functions()) > 200
    assert {
        "pressroom_content.rendering.from_html.text_of",
        "pressroom_seo.scoring.score.score of HTML",
        "pressroom_seo.scoring.text.TextAnalysis",
        "pressroom_content.articles.fields.Draft.with_changes",
        "pressroom_git.bodies.MarkdownCodec.encode",
        "pressroom_git.post_files.PostFile.of",
    } <= _functions().keys()


class Notes:
    """A class as a plugin might have it, whose method takes cubic time."""

    def lines(self, html: str) -> int:
        """Count the lines, much too slowly."""
        positions = range(0, len(html), 10)
        return sum(len(html[position:].split("a")) for position in positions for _ in positions)


def test_a_method_of_cubic_time_is_detected() -> None:
    work = _of_a_text(Notes.lines, "markdown", Notes)
    assert work is not None
    assert grows(work, _repeated("a"), 400, floor=0.01)


@pytest.mark.parametrize("power", [2, 3])
def test_a_trial_suspects_a_function_of_polynomial_time(power: int) -> None:
    def work(text: str) -> None:
        for _ in range(50 * len(text) + 1_000_000 * len(text) ** power // LOOK**power):
            pass

    assert _may_grow(work, _repeated("a"), cpu(work, "a"))


def _seconds(work: Callable[[str], object], text: str) -> float:
    return cpu(work, text, tries=1)


def _repeated(unit: str) -> Callable[[int], str]:
    return lambda size: unit * (size // len(unit))
