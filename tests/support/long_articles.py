"""A long article, and a check that a page shows all of it."""

from __future__ import annotations

from typing import Final

from pressroom_content.records import Publication
from selectolax.lexbor import LexborHTMLParser

from support.sizes import SOAK

TITLE: Final = "A long article"

_LENGTH: Final = 2_000_000 if SOAK else 60_000
_PART: Final = """## Part {number}

Paragraph {number} goes over
several lines, with *emphasis*, **bold text**, `[gallery id="{number}"]` and [a link](https://example.com/{number}).

{sentences}

- one of {number}
- two
  1. nested {number}

> A quote of {number}.

```python
def part_{number}(a: int) -> str:
    return "[gallery] {{{{ x }}}} <b>" if a < {number} && b else "--"
```

| Name | Price |
|:---|---:|
| Part {number} | {number}.50 |

緑茶{number}は健康に良いです。毎日飲みます。
"""

_SENTENCES: Final = " ".join(["Whoever writes at such length writes paragraphs of more than a line."] * 6)
"""Long paragraphs, because an article's number of lines is limited more strictly than its bytes."""


def long_body() -> str:
    """Return two megabytes of Markdown in a soak test, and less otherwise."""
    parts: list[str] = []
    length = 0
    while length < _LENGTH:
        part = _PART.format(number=len(parts) + 1, sentences=_SENTENCES)
        length += len(part.encode())
        parts.append(part)
    return "\n".join(parts)


def shows_all(html: str, done: Publication) -> None:
    """Check that a page has every part of the article, and that there are no warnings."""
    assert done.warnings == (), done.warnings[:3]
    content = LexborHTMLParser(html)
    count = long_body().count("## Part ")
    codes = [node.text() for node in content.css("pre")]
    rights = [node.text().strip() for node in content.css("td") if node.text().strip().endswith(".50")]
    text = content.body.text() if content.body is not None else ""
    assert len(codes) == len(rights) == count
    for number in range(1, count + 1):
        code = (
            f'def part_{number}(a: int) -> str:\n    return "[gallery] {{{{ x }}}} <b>" if a < {number} && b else "--"'
        )
        assert codes[number - 1].strip("\n") == code
        assert f"緑茶{number}は健康に良いです。" in text
        assert f'[gallery id="{number}"]' in text
        assert f"nested {number}" in text
