"""An article of good editorial quality, and building blocks for others."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import Any, Final

from pressroom_seo.scoring import Author, ScoringArticle, ScoringCheck, World, score

GOOD_BODY: Final = """\
A sourdough starter is flour and water in which wild yeast lives. You feed it, it grows, and your bread rises
without any yeast from a packet.

## What is a sourdough starter?

It is a small jar of live dough. Wild yeast makes gas, and friendly bacteria make acid. Because of that, the
bread tastes a little sour and keeps for days. However, none of this needs special tools: a jar, a spoon and a
kitchen scale will do.

## How to begin on day one

First, weigh 50 grams of whole rye flour. Then add 50 grams of warm water and stir until no dry flour is left.
After that, put the lid on loosely, since the gas must be able to leave. Finally, leave the jar in a warm place
for a whole day.

- 50 grams of whole rye flour
- 50 grams of warm water
- a clean jar with a loose lid

## Feeding your sourdough starter

On day two you see a few bubbles, or perhaps none at all. Either way, throw half of it away, and feed the rest
with fresh flour and water. For example, mix 50 grams of the old dough with 50 grams of each. Do the same every
day, because hungry yeast soon grows weak. A healthy sourdough starter doubles in size within six hours.
Therefore mark its height with a rubber band, so that you can see it move. [Our guide to
flour](/blog/choosing-flour) helps when growth is slow.

![A jar of bubbling sourdough starter on a wooden table](https://example.com/img/starter-jar.webp)

## When is it ready to bake with?

Drop a spoonful into a glass of water. If it floats, it holds enough gas to lift a loaf. Most jars get there
after seven days, but cold kitchens need longer. Meanwhile, keep feeding and do not lose heart.

## Common problems

Grey water on top means that the yeast is hungry, so feed it twice a day. A pink streak, on the other hand, is a
sign of bad mould: throw it all away and start again. Researchers at [North Carolina State
University](https://robdunnlab.com/projects/sourdough/) collected hundreds of jars, and they found that the
flour matters more than the place. In short, good flour and patience make a strong sourdough starter. Once you
bake with it each week, store the jar in the fridge and feed it a day before you need it.
"""

GOOD: Final = ScoringArticle(
    body=GOOD_BODY,
    title="Sourdough starter: how to make one in seven days",
    description=(
        "Make a sourdough starter from flour and water in seven days: day-by-day feeding, the float test, and what to "
        "do when it will not rise."
    ),
    slug="sourdough-starter",
    url="https://example.com/blog/sourdough-starter",
    language="en",
    keyphrase="sourdough starter",
    robots=("index", "follow"),
    authors=(Author("Ada Baker", "https://example.com/ada"),),
    published=date(2026, 1, 5),
    modified=date(2026, 2, 1),
    featured_image="https://example.com/img/starter-jar.webp",
)


def with_changes(**changes: Any) -> ScoringArticle:
    """Return the good article with changed fields."""
    return replace(GOOD, **changes)


def check(
    name: str, article: ScoringArticle = GOOD, *, world: World | None = None, profile: str = "default"
) -> ScoringCheck:
    """Return the result of one check."""
    (result,) = score(article, profile, world=world, checks=[name]).checks
    return result


def filler(words: int, *, sentence: int = 10) -> str:
    """Return a paragraph with this number of words, none of them about bread."""
    vocabulary = [
        "river",
        "stone",
        "cloud",
        "forest",
        "wind",
        "meadow",
        "lantern",
        "harbour",
        "silver",
        "window",
        "garden",
        "mountain",
    ]
    sequence = [vocabulary[(number * 5) % len(vocabulary)] for number in range(words)]
    parts = [" ".join(sequence[start : start + sentence]).capitalize() + "." for start in range(0, words, sentence)]
    return " ".join(parts)
