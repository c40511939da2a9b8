"""Tools for brand voices: how a website writes."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pressroom.sdk import Annotations, Call, Integer, InvalidInput, Params, ToolResult, mcp_tool
from pydantic import BaseModel, Field

from pressroom_content.articles.analysis import plain_text
from pressroom_content.articles.fields import Draft
from pressroom_content.articles.store import Articles
from pressroom_content.contract import WebsiteId
from pressroom_content.tools.article_fields import ContentId
from pressroom_content.tools.websites import context
from pressroom_content.voice.checking import check
from pressroom_content.voice.store import Voice, Voices
from pressroom_content.websites import settings as site_settings
from pressroom_content.websites.store import Websites

MAX_TEXT_LENGTH: Final = 500_000
_SHOWN: Final = 40

Sentence = Annotated[str, Field(min_length=1, max_length=1000)]
Phrase = Annotated[str, Field(min_length=1, max_length=100)]
Sentences = Annotated[list[Sentence], Field(max_length=100)]


class VoiceView(BaseModel):
    """A writing guide."""

    tone: str = Field(description="How the texts sound.")
    audience: str = Field(description="Whom they are for.")
    dos: list[str] = Field(description="What to do.")
    donts: list[str] = Field(description="What to avoid.")
    banned_terms: list[str] = Field(description="Terms that never appear.")
    glossary: dict[str, str] = Field(
        description="How terms are written, each with what is not written for it, between commas."
    )
    spelling: str = Field(description="en-GB, en-US or any.")
    examples: list[str] = Field(description="Passages that sound right.")


class VoiceAnswer(BaseModel):
    """A writing guide and its version."""

    voice: VoiceView = Field(description="The guide.")
    version: int = Field(description="Give it to set_brand_voice as expected_version; 0: nobody has written one.")


class GetVoiceParams(Params):
    """Whose guide."""

    website_id: WebsiteId


@mcp_tool(
    name="get_brand_voice",
    title="Brand voice",
    description=(
        "Returns a website's writing guide: tone, audience, what to do and to avoid, banned terms, glossary, spelling "
        "and examples. Read it before writing or changing a text for that website, and follow it. Version 0 means that "
        "nobody has written one."
    ),
    result=VoiceAnswer,
    annotations=Annotations(read_only=True, idempotent=True),
    toolsets=("voice",),
)
async def get_brand_voice(params: GetVoiceParams, call: Call) -> ToolResult:
    """Return the guide of a website of the caller's account."""
    voice, version = await Voices(context(call)).get(call.caller.subject, params.website_id)
    return _answer(voice, version)


class SetVoiceParams(Params):
    """Changes of a guide; parts that are left out stay as they are."""

    website_id: WebsiteId
    tone: str | None = Field(default=None, max_length=4000, description="How the texts sound.")
    audience: str | None = Field(default=None, max_length=4000, description="Whom they are for.")
    dos: Sentences | None = Field(default=None, description="What to do; replaces the whole list.")
    donts: Sentences | None = Field(default=None, description="What to avoid; replaces the whole list.")
    banned_terms: Annotated[list[Phrase], Field(max_length=500)] | None = Field(
        default=None, description="Terms that never appear; replaces the whole list."
    )
    glossary: Annotated[dict[Phrase, Annotated[str, Field(max_length=500)]], Field(max_length=500)] | None = Field(
        default=None,
        description=(
            'How terms are written, each with what is not to be written for it, between commas, such as {"website": '
            '"web site, web-site"}; replaces the whole glossary.'
        ),
    )
    spelling: Literal["en-GB", "en-US", "any"] | None = Field(default=None, description="The variant of English.")
    examples: Annotated[list[Annotated[str, Field(min_length=1, max_length=4000)]], Field(max_length=20)] | None = (
        Field(default=None, description="Passages that sound right; replaces the whole list.")
    )
    expected_version: Integer | None = Field(
        default=None, ge=0, le=2**31 - 1, description="The version that was read; refused where it is another by now."
    )


@mcp_tool(
    name="set_brand_voice",
    title="Change the brand voice",
    description=(
        "Saves a website's writing guide, which connected AI clients follow and check_brand_voice checks. Parts that "
        "are left out stay as they are. Give expected_version from get_brand_voice, so that nobody's change is lost. "
        "Returns the guide and its version."
    ),
    result=VoiceAnswer,
    annotations=Annotations(idempotent=True),
    toolsets=("voice",),
)
async def set_brand_voice(params: SetVoiceParams, call: Call) -> ToolResult:
    """Change the guide of a website of the caller's account."""
    given: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in params.model_dump(exclude={"website_id", "expected_version"}).items()
        if value is not None
    }
    if not given:
        raise InvalidInput("tone", "or another part of the guide must say what to change")
    voice, version = await Voices(context(call)).set(
        call.caller.subject, params.website_id, given, params.expected_version
    )
    return _answer(voice, version)


class CheckVoiceParams(Params):
    """What is checked, and against whose guide."""

    website_id: WebsiteId
    content_id: ContentId | None = Field(default=None, description="The article to check; or give text.")
    text: str | None = Field(
        default=None,
        min_length=1,
        max_length=MAX_TEXT_LENGTH,
        description="The plain text to check; or give content_id.",
    )


class VoiceFinding(BaseModel):
    """Something that breaks the guide or misses a target."""

    rule: str = Field(description="banned_term, glossary, spelling, sentence_length or reading_ease.")
    severity: str = Field(description="error: it breaks the guide. warning: it misses a target.")
    message: str = Field(description="What is wrong.")
    fix: str = Field(description="What to do.")
    found: str = Field(description="The text in question; empty where the whole text is meant.")
    context: str = Field(description="The same with some words around it.")
    position: int | None = Field(description="Where it begins in the plain text, in characters from 0.")
    line: int | None = Field(description="In which line of the plain text, from 1.")


class VoiceCheck(BaseModel):
    """The answer of `check_brand_voice`."""

    findings: list[VoiceFinding] = Field(description="What was found, at most 50 for each rule.")
    passed: bool = Field(description="Whether nothing breaks the guide; warnings do not count.")


@mcp_tool(
    name="check_brand_voice",
    title="Check a text",
    description=(
        "Checks an article or a text against a website's writing guide: banned terms, glossary, British or American "
        "spelling, and targets for sentence length and reading ease. Use it after writing and before publishing. It "
        "follows rules and does not judge tone. Returns findings with place and fix, and passed."
    ),
    result=VoiceCheck,
    annotations=Annotations(read_only=True, idempotent=True),
    toolsets=("voice",),
)
async def check_brand_voice(params: CheckVoiceParams, call: Call) -> ToolResult:
    """Check a text of the caller's account."""
    plugin, subject = context(call), call.caller.subject
    if (params.content_id is None) == (params.text is None):
        raise InvalidInput("text", "or content_id must be given, and not both")
    website = await Websites(plugin).get(subject, params.website_id)
    voice, _ = await Voices(plugin).get(subject, website.id)
    text, language = params.text or "", site_settings.read(website.settings).language
    if params.content_id is not None:
        article = await Articles(plugin).get(subject, params.content_id)
        draft = Draft.of(article)
        body = await plugin.services.workers.run(plain_text, draft, owner=subject, what="the article")
        text, language = f"{article.title}\n\n{body}", article.language or language
    found = await plugin.services.workers.run(check, text, voice, language, owner=subject, what="the text")
    findings = [VoiceFinding(**{name: getattr(one, name) for name in VoiceFinding.model_fields}) for one in found]
    passed = all(one.severity != "error" for one in findings)
    lines = [f"{'Passed' if passed else 'Not passed'}, with {len(findings)} findings."]
    for one in findings[:_SHOWN]:
        place = f" (line {one.line}: …{one.context}…)" if one.line else ""
        lines.append(f"- {one.severity}: {one.message}{place}. {one.fix}")
    return ToolResult("\n".join(lines), VoiceCheck(findings=findings, passed=passed))


def _answer(voice: Voice, version: int) -> ToolResult:
    view = VoiceView(
        tone=voice.tone,
        audience=voice.audience,
        dos=list(voice.dos),
        donts=list(voice.donts),
        banned_terms=list(voice.banned_terms),
        glossary=dict(voice.glossary),
        spelling=voice.spelling,
        examples=list(voice.examples),
    )
    lines = [f"Version {version}." if version else "Nobody has written a guide for this website yet."]
    for name, value in view.model_dump().items():
        if value:
            shown = "; ".join(value) if isinstance(value, list) else value
            lines.append(f"{name.replace('_', ' ').capitalize()}: {shown}")
    return ToolResult("\n".join(lines), VoiceAnswer(voice=view, version=version))


TOOLS: Final = (get_brand_voice, set_brand_voice, check_brand_voice)
