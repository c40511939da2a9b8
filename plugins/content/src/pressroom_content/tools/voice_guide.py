"""A website's brand voice as tools show it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Self

from pydantic import BaseModel, Field

from pressroom_content.voice.store import Voice


class VoiceView(BaseModel):
    """A brand voice."""

    tone: str = Field(description="How the texts sound.")
    audience: str = Field(description="Who they are for.")
    dos: list[str] = Field(description="What to do.")
    donts: list[str] = Field(description="What to avoid.")
    banned_terms: list[str] = Field(description="Terms that never appear.")
    glossary: dict[str, str] = Field(description="Each term with the spellings to avoid, between commas.")
    spelling: str = Field(description="en-GB, en-US or any.")
    examples: list[str] = Field(description="Passages that sound right.")

    @classmethod
    def of(cls, voice: Voice) -> Self:
        """Return a brand voice as tools show it."""
        return cls(
            tone=voice.tone,
            audience=voice.audience,
            dos=list(voice.dos),
            donts=list(voice.donts),
            banned_terms=list(voice.banned_terms),
            glossary=dict(voice.glossary),
            spelling=voice.spelling,
            examples=list(voice.examples),
        )


def voice_lines(view: VoiceView, version: int) -> Iterator[str]:
    """Yield a brand voice as lines of text: lists as items, the glossary as what is written for what."""
    if not version:
        yield "Brand voice: not written yet; set_brand_voice saves one (expected_version 0)."
        return
    yield f"Brand voice, version {version} (expected_version of set_brand_voice):"
    for name, value in view.model_dump().items():
        label = {"dos": "Do", "donts": "Do not"}.get(name, name.replace("_", " ").capitalize())
        if value:
            yield f"{label}: {_told(value)}"


def _told(value: str | list[str] | dict[str, str]) -> str:
    if isinstance(value, dict):
        return "; ".join(f"{term} (not: {others})" if others else term for term, others in value.items())
    return value if isinstance(value, str) else "; ".join(value)
