"""Text analysis of a document: language detection, and sentences and words with their positions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, Final

from pressroom_content.language import (
    ORDINAL_LANGUAGES,
    LanguagePack,
    is_unspaced,
    lowered,
    split_sentences,
    split_words,
)

from pressroom_seo.document import Block, BlockKind, Document

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier


_SAMPLE: Final = 3000
"""Number of characters used for language detection; more takes longer without improving the result."""

_MIN_CONFIDENCE: Final = 0.8
"""Minimum confidence of a detection; short and mixed texts stay below it."""

_MIN_LENGTH: Final = 120
"""Minimum number of characters for detecting the language of an ASCII text."""


@dataclass(frozen=True, slots=True)
class Detection:
    """A detected language. `language` is a primary subtag; `confidence` is 0 to 1."""

    language: str
    confidence: float


def detect_language(text: str) -> Detection | None:
    """Detect the language of a text; `None` if it is too short or too mixed."""
    sample = text[:_SAMPLE].strip()
    if len(sample) < _MIN_LENGTH and sample.isascii():
        return None
    code, confidence = _identifier().classify(sample)
    if confidence < _MIN_CONFIDENCE or code == "zxx" or not code:
        return None
    return Detection(str(code), round(float(confidence), 3))


def load() -> None:
    """Load the language model in advance."""
    _identifier()


@cache
def _identifier() -> LanguageIdentifier:
    # Load lazily and cache: the model takes about a second to load.
    from py3langid.langid import MODEL_FILE, LanguageIdentifier  # noqa: PLC0415

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


MAX_TEXT: Final = 600_000
MAX_WORDS: Final = 100_000
MAX_SENTENCES: Final = 20_000
"""Maximum number of characters, words and sentences to analyse: those of a book, in a second or two."""

_PROSE = frozenset({BlockKind.PARAGRAPH, BlockKind.QUOTE})
_SPOKEN = _PROSE | {BlockKind.LIST_ITEM}
_RUNNING = _SPOKEN | {BlockKind.HEADING}


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence.

    `words` are in lower case; `block` is the index of its block in the document; `number` counts the sentences of the
    block from 1; `offset` is the number of words before it in the document.
    """

    text: str
    words: tuple[str, ...]
    block: int
    number: int
    offset: int


class TextAnalysis:
    """The sentences of a document, including headings and table cells, excluding code.

    `cut` is whether the text exceeds the limits.
    """

    def __init__(self, document: Document, pack: LanguagePack | None, language: str) -> None:
        self.document = document
        self.language = language
        self.pack = pack
        self.sentences: list[Sentence] = []
        self.block_words: list[int] = [0] * len(document.blocks)
        self.words = 0
        self.characters = 0
        self.cut = False
        for index, block in enumerate(document.blocks):
            if block.kind is BlockKind.CODE:
                continue
            self._read(index, block)
            if self.cut:
                break

    def _read(self, index: int, block: Block) -> None:
        remaining = MAX_TEXT - self.characters
        self.characters += min(remaining, len(block.text))
        self.cut = len(block.text) > remaining
        for number, sentence in enumerate(self._split(block, block.text[:remaining]), 1):
            words = tuple(lowered(split_words(sentence), self.language))
            if words:
                self.sentences.append(Sentence(sentence, words, index, number, self.words))
                self.words += len(words)
                self.block_words[index] += len(words)
            if len(self.sentences) >= MAX_SENTENCES or self.words >= MAX_WORDS:
                self.cut = True
                return

    def _split(self, block: Block, text: str) -> list[str]:
        if block.kind is BlockKind.HEADING:
            return [text.replace("\n", " ")]
        pack = self.pack
        return split_sentences(
            text,
            pack.abbreviations if pack else (),
            pack.function_words if pack else (),
            ordinals=self.language in ORDINAL_LANGUAGES,
        )

    @cached_property
    def prose(self) -> list[Sentence]:
        """The sentences of paragraphs and quotes."""
        return [sentence for sentence in self.sentences if self.document.blocks[sentence.block].kind in _PROSE]

    @cached_property
    def spoken(self) -> list[Sentence]:
        """The sentences of paragraphs, quotes and list items."""
        return [sentence for sentence in self.sentences if self.document.blocks[sentence.block].kind in _SPOKEN]

    @cached_property
    def running(self) -> list[Sentence]:
        """The sentences of paragraphs, quotes, list items and headings."""
        return [sentence for sentence in self.sentences if self.document.blocks[sentence.block].kind in _RUNNING]

    @cached_property
    def first_of_block(self) -> dict[int, int]:
        """Index in `sentences` of each block's first sentence, for blocks that have any."""
        return {sentence.block: index for index, sentence in reversed(list(enumerate(self.sentences)))}

    @cached_property
    def first_paragraph(self) -> list[Sentence]:
        """The sentences of the first paragraph."""
        prose = self.prose
        return [sentence for sentence in prose if sentence.block == prose[0].block] if prose else []

    @cached_property
    def unspaced(self) -> bool:
        """Whether most of the text is in a script without spaces between words, such as Chinese or Thai."""
        sample = "".join(sentence.text for sentence in self.sentences[:40])[:2000]
        letters = [letter for letter in sample if letter.isalnum()]
        return bool(letters) and 2 * sum(map(is_unspaced, letters)) > len(letters)

    def place(self, sentence: Sentence) -> str:
        """Describe the position of a sentence, such as `paragraph 3, sentence 2, under “Baking”`."""
        return self.block_position(sentence.block, sentence.number)

    def block_position(self, block: int, sentence: int = 0) -> str:
        """Describe the position of a block, or of a sentence in it."""
        text_block = self.document.blocks[block]
        description = f"{text_block.kind} {text_block.number}"
        if sentence:
            description += f", sentence {sentence}"
        return f"{description}, under “{text_block.section[:60]}”" if text_block.section else description
