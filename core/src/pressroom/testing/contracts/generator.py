"""The contract of a generator (`pressroom.sdk.Generator`)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, TypeAlias

import httpx

from pressroom.sdk import Generator
from pressroom.sdk.declaration import sent_fields
from pressroom.testing.contracts.records import RecordInHost
from pressroom.testing.contracts.suite import ContractSuite, expect

Subject: TypeAlias = RecordInHost[Generator]

GENERATOR: Final = ContractSuite[Subject]("generator")
UNKNOWN_FIELD: Final = "no_such_field_here"
_OK: Final = 200
_REFUSED: Final = 400


@GENERATOR.promise("its texts tell people and models what it produces", fix="write a sentence for each of these texts")
async def _texts(subject: Subject) -> None:
    texts = {"name": subject.record.name, "summary": subject.record.summary, "description": subject.record.description}
    expect_texts(texts)


@GENERATOR.promise(
    "it has at least one example", fix="add at least one example; the page shows it, and this check runs it"
)
async def _examples(subject: Subject) -> None:
    expect(subject.record.examples, "none")


@GENERATOR.promise("its page is shown", fix="see the server's log for what failed while the page was rendered")
async def _page(subject: Subject) -> None:
    response = await subject.http.get(f"/tools/{subject.record.slug}")
    expect(response.status_code == _OK, describe(response))


@GENERATOR.promise(
    "every example succeeds", fix="fix the example, or what the function returns for it; the log has the reason"
)
async def _examples_succeed(subject: Subject) -> None:
    for example in subject.record.examples:
        response = await _call(subject, example.params)
        expect(not response.is_error, f"{describe(response)} for the example {example.title!r}")


@GENERATOR.promise(
    "the same request comes from the cache the second time",
    fix="leave random values and times out of the result, or add a cache rule with 0 seconds",
)
async def _cached(subject: Subject) -> None:
    if not _is_cached(subject):
        return
    for example in subject.record.examples[:1]:
        first = await _call(subject, example.params)
        repeated = await _call(subject, dict(reversed(list(example.params.items()))))
        if not first.is_error:
            expect(not repeated.is_error and repeated.json()["data"]["cached"], describe(repeated))


@GENERATOR.promise(
    "the bytes have a declared media type, and data.url returns the same file",
    fix="name every media type in produces, and return it as the artifact's media_type",
)
async def _delivered(subject: Subject) -> None:
    for example in subject.record.examples[:1]:
        described = await _call(subject, example.params)
        if described.is_error:
            return
        binary = await _call(subject, {**example.params, "response": "binary"})
        expect(not binary.is_error and media_type(binary) in subject.record.produces, describe(binary))
        url = described.json()["data"]["url"].removeprefix(subject.running.settings.public_url)
        file = await subject.http.get(url)
        expect(not file.is_error, describe(file))
        expect(not _is_cached(subject) or file.content == binary.content, "another file at data.url")


@GENERATOR.promise(
    "text that can be edited in its image is a parameter, and is inside the image",
    fix="let EditableText name a parameter, and give its place in pixels of an image that is image_width wide",
)
async def _editable(subject: Subject) -> None:
    for example in subject.record.examples[:1]:
        response = await subject.http.post(f"/tools/{subject.record.slug}/preview", json=dict(example.params))
        if (text := response.headers.get("x-editable-text")) is None:
            return
        layout = json.loads(text)
        names = sent_fields(subject.record.params)
        expect(layout["param"] in names, f"the parameter {layout['param']!r}; there are {', '.join(names)}")
        in_bounds = 0 <= layout["left"] < layout["imageWidth"] and layout["top"] >= 0 and layout["rows"] > 0
        sizes = [layout[name] for name in ("columns", "columnWidth", "rowHeight", "fontSize")]
        expect(in_bounds and min(sizes) > 0, text)


@GENERATOR.promise("an unknown field is refused by name", fix="let the params inherit from pressroom.sdk.Params")
async def _unknown_field(subject: Subject) -> None:
    for example in subject.record.examples[:1]:
        response = await _call(subject, {**example.params, UNKNOWN_FIELD: 1})
        expect(response.status_code == _REFUSED and UNKNOWN_FIELD in response.text, describe(response))


@GENERATOR.promise(
    "a value of the wrong type is refused with 400",
    fix="let validators check the type of a value before they use it, and raise ValueError",
)
async def _wrong_types(subject: Subject) -> None:
    for example in subject.record.examples[:1]:
        for name in sent_fields(subject.record.params):
            response = await _call(subject, {**example.params, name: [{UNKNOWN_FIELD: []}]})
            expect(response.status_code in (_OK, _REFUSED), f"{describe(response)} for {name}")


def expect_texts(texts: Mapping[str, str]) -> None:
    """Check that names and titles are not empty, and that all other texts have at least two words."""
    for field, text in texts.items():
        min_words = 1 if field in ("name", "title") else 2
        words = len(text.split())
        expect(words >= min_words, f"{field} {'empty' if not words else f'too short to be useful: {text!r}'}")


def describe(response: httpx.Response) -> str:
    """Return the status of a response, and the beginning of its body if it is text."""
    text = media_type(response).startswith(("text/", "application/json"))
    return f"{response.status_code} {' '.join(response.text[:200].split()) if text else 'a file'}"


def media_type(response: httpx.Response) -> str:
    """Return the media type of a response, without parameters."""
    return str(response.headers.get("content-type", "")).partition(";")[0]


def _is_cached(subject: Subject) -> bool:
    tools = subject.running.host.compiled.catalog.plans["anonymous"].tools
    return subject.record.slug in tools and tools[subject.record.slug].cache.seconds > 0


async def _call(subject: Subject, body: Mapping[str, Any]) -> httpx.Response:
    return await subject.http.post(f"/tools/{subject.record.slug}/api/generate", json=dict(body))
