"""The contract of a generator (`pressroom.sdk.Generator`)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, TypeAlias

import httpx

from pressroom.sdk import Generator
from pressroom.testing.contracts.records import RecordInHost
from pressroom.testing.contracts.suite import ContractSuite, expect

Subject: TypeAlias = RecordInHost[Generator]

GENERATOR: Final = ContractSuite[Subject]("generator")
UNKNOWN_FIELD: Final = "no_such_field_here"
_OK: Final = 200
_REFUSED: Final = 400


@GENERATOR.promise("its texts tell people and models what it produces", fix="write a sentence for each of these texts")
async def _texts(one: Subject) -> None:
    texts = {"name": one.record.name, "summary": one.record.summary, "description": one.record.description}
    expect_texts(texts)


@GENERATOR.promise(
    "it has at least one example", fix="add at least one example; the page shows it, and this check runs it"
)
async def _examples(one: Subject) -> None:
    expect(one.record.examples, "none")


@GENERATOR.promise("its page is shown", fix="see the server's log for what failed while the page was rendered")
async def _page(one: Subject) -> None:
    answer = await one.http.get(f"/tools/{one.record.slug}")
    expect(answer.status_code == _OK, shown(answer))


@GENERATOR.promise(
    "every example succeeds", fix="fix the example, or what the function returns for it; the log has the reason"
)
async def _examples_succeed(one: Subject) -> None:
    for example in one.record.examples:
        answer = await _call(one, example.params)
        expect(not answer.is_error, f"{shown(answer)} for the example {example.title!r}")


@GENERATOR.promise(
    "the same request comes from the cache the second time",
    fix="leave random values and times out of the result, or add a cache rule with 0 seconds",
)
async def _cached(one: Subject) -> None:
    if not _is_cached(one):
        return
    for example in one.record.examples[:1]:
        first = await _call(one, example.params)
        again = await _call(one, dict(reversed(list(example.params.items()))))
        if not first.is_error:
            expect(not again.is_error and again.json()["data"]["cached"], shown(again))


@GENERATOR.promise(
    "the bytes have a declared media type, and data.url returns the same file",
    fix="name every media type in produces, and return it as the artifact's media_type",
)
async def _delivered(one: Subject) -> None:
    for example in one.record.examples[:1]:
        described = await _call(one, example.params)
        if described.is_error:
            return
        binary = await _call(one, {**example.params, "response": "binary"})
        expect(not binary.is_error and media_type(binary) in one.record.produces, shown(binary))
        url = described.json()["data"]["url"].removeprefix(one.running.settings.public_url)
        file = await one.http.get(url)
        expect(not file.is_error, shown(file))
        expect(not _is_cached(one) or file.content == binary.content, "another file at data.url")


@GENERATOR.promise(
    "text that can be edited in its image is a parameter, and is inside the image",
    fix="let EditableText name a parameter, and give its place in pixels of an image that is image_width wide",
)
async def _editable(one: Subject) -> None:
    for example in one.record.examples[:1]:
        answer = await one.http.post(f"/tools/{one.record.slug}/preview", json=dict(example.params))
        if (text := answer.headers.get("x-editable-text")) is None:
            return
        place = json.loads(text)
        names = [field.alias or name for name, field in one.record.params.model_fields.items()]
        expect(place["param"] in names, f"the parameter {place['param']!r}; there are {', '.join(names)}")
        inside = 0 <= place["left"] < place["imageWidth"] and place["top"] >= 0 and place["rows"] > 0
        sizes = [place[name] for name in ("columns", "columnWidth", "rowHeight", "fontSize")]
        expect(inside and min(sizes) > 0, text)


@GENERATOR.promise("an unknown field is refused by name", fix="let the params inherit from pressroom.sdk.Params")
async def _unknown_field(one: Subject) -> None:
    for example in one.record.examples[:1]:
        answer = await _call(one, {**example.params, UNKNOWN_FIELD: 1})
        expect(answer.status_code == _REFUSED and UNKNOWN_FIELD in answer.text, shown(answer))


@GENERATOR.promise(
    "a value of the wrong type is refused with 400",
    fix="let validators check the type of a value before they use it, and raise ValueError",
)
async def _wrong_types(one: Subject) -> None:
    for example in one.record.examples[:1]:
        for name, field in one.record.params.model_fields.items():
            answer = await _call(one, {**example.params, field.alias or name: [{UNKNOWN_FIELD: []}]})
            expect(answer.status_code in (_OK, _REFUSED), f"{shown(answer)} for {name}")


def expect_texts(texts: Mapping[str, str]) -> None:
    """Check that names and titles are not empty, and that all other texts have at least two words."""
    for field, text in texts.items():
        least = 1 if field in ("name", "title") else 2
        words = len(text.split())
        expect(words >= least, f"{field} {'empty' if not words else f'too short to be useful: {text!r}'}")


def shown(answer: httpx.Response) -> str:
    """Return the status of a response, and the beginning of its body if it is text."""
    text = media_type(answer).startswith(("text/", "application/json"))
    return f"{answer.status_code} {' '.join(answer.text[:200].split()) if text else 'a file'}"


def media_type(answer: httpx.Response) -> str:
    """Return the media type of a response, without parameters."""
    return str(answer.headers.get("content-type", "")).partition(";")[0]


def _is_cached(one: Subject) -> bool:
    tools = one.running.host.compiled.catalog.plans["anonymous"].tools
    return one.record.slug in tools and tools[one.record.slug].cache.seconds > 0


async def _call(one: Subject, body: Mapping[str, Any]) -> httpx.Response:
    return await one.http.post(f"/tools/{one.record.slug}/api/generate", json=dict(body))
