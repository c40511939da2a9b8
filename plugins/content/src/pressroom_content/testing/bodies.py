"""The contract of a codec for bodies in blocks (`pressroom_content.contract.BodyCodec`)."""

from __future__ import annotations

import pickle
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import pairwise
from typing import Final

from pressroom.testing.contracts import ContractSuite, Finding, expect
from pressroom.testing.contracts.suite import run_apart

from pressroom_content.contract import BodyBlock, BodyCodec

_PIECES: Final = (
    "<p>One</p>",
    "<!-- wp:paragraph -->\n<p>Two</p>\n<!-- /wp:paragraph -->\n\n",
    '<!-- wp:gallery {"ids":[1,2],"a":"--\\u003e"} -->',
    '[gallery ids="1,2"]',
    "[[escaped]] [unclosed",
    "{{< youtube id >}}\n",
    "{% raw %}",
    "---\ntitle: x\n---\n",
    "# Head\r\n\r\n",
    "```\ncode\n",
    "| a | b |\n|---|---|\n",
    "<table><tr><td>",
    "</p></div>",
    "<![CDATA[",
    "<script>alert(1)</script>",
    '{"root":{"children":[',
    "\x00\x0b\x1f",
    "\u2028\ufeff\u00a0",
    "\ud83d",
    "\U0001f600",
    "\r",
    "\n\n\n",
    "   \t",
    "&amp;&#0;&bogus;",
)
BODIES: Final[tuple[str, ...]] = (
    "",
    *_PIECES,
    "".join(_PIECES),
    "".join(reversed(_PIECES)),
    *(f"{one}{other}" for one, other in pairwise(_PIECES)),
    "<div>" * 3000,
    "<!-- wp:group -->" * 2000,
    "[a" * 3000,
    "{" * 3000,
    "x" * 200_000,
)
"""Bodies as sites may return them: well formed, malformed, deeply nested, and long."""

CODEC: Final = ContractSuite[BodyCodec]("body codec")


def check_codec(codec: BodyCodec, *, where: str = "") -> list[Finding]:
    """Check a platform's codec against its contract, and return the broken promises."""

    @asynccontextmanager
    async def opening() -> AsyncIterator[BodyCodec]:
        yield codec

    return run_apart(lambda: CODEC.check(opening, where=where or type(codec).__name__))


@CODEC.promise(
    "split and join return every body byte for byte",
    fix="let each block's source be a slice of the body with the white space after it, and join without changes",
)
async def _exact(codec: BodyCodec) -> None:
    for raw in BODIES:
        joined = codec.join([block.source for block in codec.split(raw)], raw)
        expect(joined == raw, f"{joined[:60]!r} from {raw[:60]!r}")


@CODEC.promise(
    "split yields blocks with a name, whatever the body contains",
    fix="return BodyBlock records; for malformed parts, return a block whose html and markdown are None",
)
async def _blocks(codec: BodyCodec) -> None:
    for raw in BODIES:
        for block in codec.split(raw):
            expect(type(block) is BodyBlock and bool(block.name), f"{block!r:.100} from {raw[:60]!r}")
            expect(type(block.source) is str and block.source != "", f"an empty source from {raw[:60]!r}")


@CODEC.promise("split returns the same each time", fix="keep no state between calls")
async def _same(codec: BodyCodec) -> None:
    for raw in BODIES:
        expect(list(codec.split(raw)) == list(codec.split(raw)), f"something else the second time for {raw[:60]!r}")


@CODEC.promise(
    "encode never raises, and its result can be joined and split",
    fix="escape what the platform would read as its own markup; write what cannot be expressed as plain text",
)
async def _encodes(codec: BodyCodec) -> None:
    for raw in BODIES:
        sources = list(codec.encode(f"<p>{raw}</p>", raw))
        expect(all(type(source) is str for source in sources), f"{sources!r:.100}")
        joined = codec.join(sources)
        rejoined = codec.join([block.source for block in codec.split(joined)], joined)
        expect(rejoined == joined, f"{rejoined[:60]!r} from {joined[:60]!r}")


@CODEC.promise(
    "a block can be replaced, and the others stay as they are",
    fix="let join concatenate the sources without comparing them with the original",
)
async def _replaces(codec: BodyCodec) -> None:
    for raw in BODIES[: len(_PIECES)]:
        blocks = [block.source for block in codec.split(raw)]
        joined = codec.join(["REPLACED ", *blocks[1:]], raw)
        complete = all(source.strip() in joined for source in ("REPLACED", *blocks[1:]))
        expect(complete, f"{joined[:60]!r} of {raw[:60]!r}")


@CODEC.promise(
    "it can be pickled, since worker processes run it", fix="make it a frozen dataclass of plain values, in a module"
)
async def _pickles(codec: BodyCodec) -> None:
    copy = pickle.loads(pickle.dumps(codec))  # noqa: S301 - pickled on the same line
    body = "".join(_PIECES[:2])
    expect(list(copy.split(body)) == list(codec.split(body)), "the copy splits otherwise")
