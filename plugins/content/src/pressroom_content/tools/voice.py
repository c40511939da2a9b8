"""The tool that changes a website's brand voice. get_website shows it; check_blog_seo checks texts against it."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pressroom.sdk import Annotations, Call, Integer, InvalidInput, Params, ToolResult, mcp_tool
from pydantic import BaseModel, Field

from pressroom_content.contract import WebsiteId
from pressroom_content.tools.common import context
from pressroom_content.voice.store import Voices, VoiceView, voice_lines

Sentence = Annotated[str, Field(min_length=1, max_length=1000)]
Phrase = Annotated[str, Field(min_length=1, max_length=100)]
Sentences = Annotated[list[Sentence], Field(max_length=100)]


class VoiceResult(BaseModel):
    """A brand voice and its version."""

    voice: VoiceView = Field(description="The brand voice.")
    version: int = Field(description="Give it to the next call as expected_version.")


class SetVoiceParams(Params):
    """Changes."""

    website_id: WebsiteId
    tone: str | None = Field(default=None, max_length=4000, description="How texts should sound.")
    audience: str | None = Field(default=None, max_length=4000, description="Who they are for.")
    dos: Sentences | None = Field(default=None, description="Rules to follow.")
    donts: Sentences | None = Field(default=None, description="What to avoid.")
    banned_terms: Annotated[list[Phrase], Field(max_length=500)] | None = Field(
        default=None, description="Terms that must never appear."
    )
    glossary: Annotated[dict[Phrase, Annotated[str, Field(max_length=500)]], Field(max_length=500)] | None = Field(
        default=None, description='Each term with spellings to avoid: {"website": "web site, web-site"}.'
    )
    spelling: Literal["en-GB", "en-US", "any"] | None = Field(default=None, description="English variant.")
    examples: Annotated[list[Annotated[str, Field(min_length=1, max_length=4000)]], Field(max_length=20)] | None = (
        Field(default=None, description="Passages that sound right.")
    )
    expected_version: Integer | None = Field(
        default=None, ge=0, le=2**31 - 1, description="voice_version of get_website."
    )


@mcp_tool(
    name="set_brand_voice",
    title="Change the brand voice",
    description=(
        "Saves the style of a website's texts, for AI clients to follow and check_blog_seo to check (include voice). "
        "Read it with get_website first. Omitted parts stay unchanged; a list or glossary replaces the old one."
    ),
    result=VoiceResult,
    annotations=Annotations(idempotent=True),
    toolsets=("writing",),
)
async def set_brand_voice(params: SetVoiceParams, call: Call) -> ToolResult:
    """Change the brand voice of a website of the caller's account."""
    changes: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in params.model_dump(exclude={"website_id", "expected_version"}).items()
        if value is not None
    }
    if not changes:
        raise InvalidInput("tone", "or another part of the brand voice must say what to change")
    voice, version = await Voices(context(call)).set(
        call.caller.subject, params.website_id, changes, params.expected_version
    )
    view = VoiceView.of(voice)
    return ToolResult("\n".join(voice_lines(view, version)), VoiceResult(voice=view, version=version))


TOOLS: Final = (set_brand_voice,)
