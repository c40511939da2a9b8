"""Draw cards repeatedly in a separate process, each time with different texts, sizes and colours.

Reads {cards, renders, every} as JSON from standard input. At the end, writes the list of resident set sizes in bytes,
sampled after each `every` renders.
"""

from __future__ import annotations

import json
import random
import re
import sys
from pathlib import Path

from pressroom.graphics.png import encode_png
from pressroom_image_generator.engine import render

_PAGE = 4096
_WORD = re.compile(r"(?<=>)[^<>]+(?=<)")


def resident() -> int:
    """Return the resident set of this process in bytes."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * _PAGE


def varied(html: str, number: int) -> str:
    """Return a variation of a card that was not drawn before."""
    chance = random.Random(number)
    html = re.sub(r"#[0-9a-f]{6}", lambda _: f"#{chance.randrange(1 << 24):06x}", html)
    html = re.sub(r"font-size:(\d+)px", lambda size: f"font-size:{float(size[1]) + chance.random():.2f}px", html)
    return _WORD.sub(lambda text: f"{text[0]} {chance.randrange(10**6)}" if text[0].strip() else text[0], html)


def main() -> None:
    """Draw the cards and write the sampled resident set sizes."""
    order = json.loads(sys.stdin.read())
    figures = []
    for number in range(1, order["renders"] + 1):
        html = order["cards"][number % len(order["cards"])]
        encode_png(render(varied(html, number), 1200, 630).image)
        if number % order["every"] == 0:
            figures.append(resident())
    sys.stdout.write(json.dumps(figures))


if __name__ == "__main__":
    main()
