"""Checks of a text against a writing guide, with deterministic rules. Terms are found in a single pass.

It includes the words that British and American English spell differently.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import accumulate
from types import MappingProxyType
from typing import Final, Literal

from icu4py.breakers import SentenceBreaker, WordBreaker

from pressroom_content.articles.analysis import plain_text
from pressroom_content.articles.fields import Draft
from pressroom_content.contract import VoiceFinding, VoiceRule
from pressroom_content.language import count_words, is_unspaced, words_of
from pressroom_content.language.segmentation import UNSPACED
from pressroom_content.text_index.corpus import language_of
from pressroom_content.voice.store import Voice, reading_ease

_TOKEN = re.compile(rf"{UNSPACED.pattern}|(?:(?!{UNSPACED.pattern})\w)+|[^\w\s]")
_MAX_TOKENS: Final = 100
"""Maximum number of tokens in a term, which limits the work for each word of a text."""


@dataclass(slots=True)
class _Node:
    """A node in the tree of terms. `value` is the value of the term that ends here, or `None`."""

    following: dict[tuple[str, bool], _Node] = field(default_factory=dict)
    value: str | None = None


class Terms:
    """Terms to find as whole words, ignoring case, with any white space where the term has some.

    `values` maps each term to its value. Terms of more than 100 words and marks are never found.
    """

    def __init__(self, values: Mapping[str, str]) -> None:
        self._root = _Node()
        for term, value in values.items():
            tokens = list(_tokens(term))
            if not 0 < len(tokens) <= _MAX_TOKENS:
                continue
            node = self._root
            for number, (word, _, _, spaced) in enumerate(tokens):
                node = node.following.setdefault((word, spaced and number > 0), _Node())
            node.value = value

    def found_in(self, text: str) -> Iterator[tuple[int, str, str]]:
        """Yield the position of each term, in characters from 0, the term as written there, and its value.

        If several start at the same position, the longest is found; matches do not overlap.
        """
        tokens = list(_tokens(text))
        boundaries = _unspaced_boundaries(text)
        done = 0
        for number, (_, start, _, _) in enumerate(tokens):
            if start < done or (_is_word_character(text[start - 1 : start]) and start not in boundaries):
                continue
            node, end, value = self._root, 0, ""
            for at in range(number, min(number + _MAX_TOKENS, len(tokens))):
                word, _, stop, gap = tokens[at]
                following = node.following.get((word, gap and at > number))
                if following is None:
                    break
                node = following
                if node.value is not None and (not _is_word_character(text[stop : stop + 1]) or stop in boundaries):
                    end, value = stop, node.value
            if end:
                yield start, text[start:end], value
                done = end


def _tokens(text: str) -> Iterator[tuple[str, int, int, bool]]:
    """Yield the words and marks of a text in lower case, with start and end, and whether white space precedes them."""
    end = 0
    for match in _TOKEN.finditer(text):
        yield match[0].lower(), match.start(), match.end(), match.start() > end
        end = match.end()


def _unspaced_boundaries(text: str) -> frozenset[int]:
    """Return the positions between two words at which a script without spaces between words begins or ends a word."""
    if not is_unspaced(text):
        return frozenset()
    ends = list(accumulate(map(len, WordBreaker(text, "en"))))
    return frozenset(end for end in ends if is_unspaced(text[end - 1 : end + 1]))


def _is_word_character(character: str) -> bool:
    return character.isalnum() or character == "_"


MAX_SENTENCE_WORDS: Final = 30
MEAN_SENTENCE: Final = 20.0
MIN_EASE: Final = 50.0
"""Targets: words in a sentence, words in a sentence on average, and Flesch's reading ease, from 0 to 100."""

MAX_FINDINGS_PER_RULE: Final = 50

_MIN_WORDS: Final = 50
"""Minimum number of words for which averages are meaningful."""

_AROUND: Final = 30
_WORD = re.compile(r"[^\W\d_]+")
_URL = re.compile(r"https?://\S*[^\s.,;:!?)\]'\"]")


def check_draft(draft: Draft, voice: Voice) -> list[VoiceFinding]:
    """Return the findings of `check` for the title and text of an article, without code and URLs.

    Raises `InvalidInput`.
    """
    text = _URL.sub("…", plain_text(draft, with_code=False))
    return check(f"{draft.title}\n\n{text}".strip(), voice, draft.language)


def check(text: str, voice: Voice, language: str = "") -> list[VoiceFinding]:
    """Return the findings in a text, grouped by rule, each group in the order of the text.

    Spelling variants are only checked in English, and reading ease in languages with a formula. An empty `language`
    counts as English.
    """
    checked = _Text(text)
    english = language_of(language) == "en"
    findings = [*_bounded(_banned(checked, voice)), *_bounded(_glossary(checked, voice))]
    if english:
        findings += _bounded(_spelling(checked, voice))
    findings += _bounded(_long_sentences(checked))
    findings += _averages(checked, language_of(language))
    return findings


class _Text:
    """A text with the positions of its sentences and lines."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def sentences(self) -> list[tuple[int, str]]:
        """The sentences with their positions. A line break ends a sentence."""
        sentences: list[tuple[int, str]] = []
        start = 0
        for line in self.text.splitlines(keepends=True):
            position = start
            for sentence in SentenceBreaker(line, "en"):
                sentences.append((position, sentence))
                position += len(sentence)
            start += len(line)
        return [(position, sentence) for position, sentence in sentences if sentence.strip()]

    @cached_property
    def _lines(self) -> list[int]:
        return [0, *(match.end() for match in re.finditer("\n", self.text))]

    def finding(
        self,
        rule: VoiceRule,
        position: int,
        excerpt: str,
        message: str,
        fix: str,
        severity: Literal["error", "warning"] = "error",
    ) -> VoiceFinding:
        """Return a finding at a position."""
        start, end = max(0, position - _AROUND), position + len(excerpt) + _AROUND
        return VoiceFinding(
            rule=rule,
            severity=severity,
            message=message,
            fix=fix,
            found=excerpt,
            context=" ".join(self.text[start:end].split()),
            position=position,
            line=bisect_right(self._lines, position),
        )


def _bounded(findings: Iterator[VoiceFinding]) -> Iterator[VoiceFinding]:
    for number, finding in enumerate(findings):
        if number == MAX_FINDINGS_PER_RULE:
            return
        yield finding


def _banned(text: _Text, voice: Voice) -> Iterator[VoiceFinding]:
    for position, occurrence, _ in Terms(dict.fromkeys(voice.banned_terms, "")).found_in(text.text):
        message = f"“{occurrence}” is a banned term"
        yield text.finding("banned_term", position, occurrence, message, "Reword it.")


def _glossary(text: _Text, voice: Voice) -> Iterator[VoiceFinding]:
    spellings = {
        spelling: term for term, instead_of in voice.glossary.items() for spelling in (*instead_of.split(","), term)
    }
    for position, occurrence, term in Terms(spellings).found_in(text.text):
        if occurrence == term or (occurrence[1:] == term[1:] and _begins_sentence(text.text, position)):
            continue
        message = f"“{occurrence}” is written “{term}”"
        yield text.finding("glossary", position, occurrence, message, f"Write “{term}”.")


def _spelling(text: _Text, voice: Voice) -> Iterator[VoiceFinding]:
    if voice.spelling == "any":
        return
    corrections = other_spellings(voice.spelling)
    for match in _WORD.finditer(text.text):
        correction = corrections.get(match[0].lower())
        if correction is not None:
            correction = (
                correction.upper()
                if match[0].isupper()
                else correction.capitalize()
                if match[0][0].isupper()
                else correction
            )
            message = f"“{match[0]}” is not the spelling of {voice.spelling}"
            yield text.finding("spelling", match.start(), match[0], message, f"Write “{correction}”.")


def _long_sentences(text: _Text) -> Iterator[VoiceFinding]:
    for position, sentence in text.sentences:
        words = count_words(sentence)
        if words > MAX_SENTENCE_WORDS:
            message = f"this sentence has {words} words; the target is at most {MAX_SENTENCE_WORDS}"
            excerpt = sentence.strip()[:200]
            yield text.finding("sentence_length", position, excerpt, message, "Split it in two.", "warning")


def _averages(text: _Text, language: str) -> Iterator[VoiceFinding]:
    words = list(words_of(text.text))
    sentences = len(text.sentences)
    if len(words) < _MIN_WORDS or not sentences:
        return
    mean = len(words) / sentences
    if mean > MEAN_SENTENCE:
        message = f"sentences have {mean:.1f} words on average; the target is at most {MEAN_SENTENCE:g}"
        yield VoiceFinding("sentence_length", "warning", message, "Make the longest ones shorter.")
    ease = reading_ease(words, sentences, language)
    if ease is not None and ease < MIN_EASE:
        message = f"the reading ease is {ease:.0f} of 100; the target is at least {MIN_EASE:.0f}"
        yield VoiceFinding("reading_ease", "warning", message, "Use shorter words and shorter sentences.")


def _begins_sentence(text: str, position: int) -> bool:
    before = text[max(0, position - _AROUND) : position].rstrip(" \"'“\u2018(")
    return before[-1] in ".!?\n:" if before else position <= _AROUND


_ENDINGS: Final = {
    "": ("",),
    "s": ("", "s"),
    "verb": ("", "s", "ed", "ing"),
    "e": ("e", "es", "ed", "ing"),
    "er": ("e", "es", "ed", "ing", "er", "ers"),
    "our": ("", "s", "ed", "ing", "ful", "less", "able", "ite", "ites"),
    "ll": ("ed", "ing", "er", "ers"),
    "isation": ("e", "es", "ed", "ing", "er", "ers", "ation", "ations"),
}

_PAIRS: Final[tuple[tuple[str, str], ...]] = (
    (
        "our",
        (
            "colour/color favour/favor flavour/flavor harbour/harbor honour/honor humour/humor labour/labor "
            "neighbour/neighbor behaviour/behavior endeavour/endeavor odour/odor rumour/rumor savour/savor "
            "splendour/splendor vapour/vapor vigour/vigor armour/armor parlour/parlor candour/candor clamour/clamor"
        ),
    ),
    (
        "",
        (
            "favourite/favorite favourites/favorites neighbourhood/neighborhood neighbourhoods/neighborhoods "
            "behavioural/behavioral colourful/colorful honourable/honorable savoury/savory "
            "grey/gray greyer/grayer moustache/mustache cosy/cozy cosier/cozier sceptic/skeptic sceptical/skeptical "
            "scepticism/skepticism jewellery/jewelry aluminium/aluminum tyre/tire tyres/tires kerb/curb kerbs/curbs "
            "pyjamas/pajamas sulphur/sulfur mould/mold moulds/molds mouldy/moldy moult/molt plough/plow ploughs/plows "
            "ploughed/plowed artefact/artifact artefacts/artifacts cheque/check cheques/checks maths/math mum/mom "
            "fulfil/fulfill fulfils/fulfills enrol/enroll enrols/enrolls enrolment/enrollment instalment/installment "
            "instalments/installments skilful/skillful wilful/willful fulfilment/fulfillment defence/defense "
            "defences/defenses offence/offense offences/offenses pretence/pretense licence/license licences/licenses "
            "ageing/aging acknowledgement/acknowledgment manoeuvre/maneuver manoeuvres/maneuvers "
            "manoeuvred/maneuvered manoeuvring/maneuvering anaemia/anemia anaesthetic/anesthetic "
            "anaesthetics/anesthetics diarrhoea/diarrhea foetus/fetus paediatric/pediatric "
            "paediatrician/pediatrician encyclopaedia/encyclopedia oesophagus/esophagus haemorrhage/hemorrhage "
            "leukaemia/leukemia orthopaedic/orthopedic practised/practiced practising/practicing "
            "travelling/traveling travelled/traveled traveller/traveler travellers/travelers woollen/woolen "
            "marvellous/marvelous centred/centered centring/centering storey/story storeys/stories "
            "speciality/specialty specialities/specialties dreamt/dreamed learnt/learned burnt/burned"
        ),
    ),
    (
        "s",
        (
            "centre/center metre/meter litre/liter theatre/theater fibre/fiber sabre/saber spectre/specter "
            "kilometre/kilometer centimetre/centimeter millimetre/millimeter calibre/caliber catalogue/catalog"
        ),
    ),
    (
        "ll",
        (
            "cancell/cancel modell/model labell/label levell/level signall/signal fuell/fuel channell/channel "
            "counsell/counsel diall/dial quarrell/quarrel tunnell/tunnel equall/equal totall/total marshall/marshal"
        ),
    ),
    ("er", "analys/analyz catalys/catalyz paralys/paralyz"),
    (
        "isation",
        (
            "organis/organiz realis/realiz recognis/recogniz specialis/specializ optimis/optimiz maximis/maximiz "
            "minimis/minimiz customis/customiz personalis/personaliz prioritis/prioritiz summaris/summariz "
            "categoris/categoriz emphasis/emphasiz apologis/apologiz criticis/criticiz standardis/standardiz "
            "utilis/utiliz visualis/visualiz authoris/authoriz capitalis/capitaliz characteris/characteriz "
            "civilis/civiliz colonis/coloniz crystallis/crystalliz digitis/digitiz economis/economiz "
            "finalis/finaliz generalis/generaliz globalis/globaliz harmonis/harmoniz hospitalis/hospitaliz "
            "initialis/initializ legalis/legaliz localis/localiz memoris/memoriz mobilis/mobiliz "
            "modernis/moderniz monetis/monetiz normalis/normaliz penalis/penaliz popularis/populariz "
            "privatis/privatiz publicis/publiciz socialis/socializ stabilis/stabiliz stylis/styliz "
            "symbolis/symboliz synchronis/synchroniz synthesis/synthesiz tokenis/tokeniz victimis/victimiz "
            "industrialis/industrializ materialis/materializ neutralis/neutraliz revolutionis/revolutioniz"
        ),
    ),
)

_BOTH: Final = frozenset(
    {
        "burned", "check", "checks", "curb", "curbs", "dreamed", "emphasis", "learned", "license", "licenses", "meter",
        "meters", "stories", "story", "synthesis", "tire", "tires",
    }
)  # fmt: skip
"""Words that exist in both variants, with another meaning."""


@cache
def other_spellings(variant: Literal["en-GB", "en-US"]) -> Mapping[str, str]:
    """Return a mapping from words in the spelling of the other variant, in lower case, to the spelling of this one."""
    british_first = variant == "en-US"
    spellings: dict[str, str] = {}
    for british, american in _all_pairs():
        other, preferred = (british, american) if british_first else (american, british)
        if other != preferred and other not in _BOTH:
            spellings.setdefault(other, preferred)
    for preferred in list(spellings.values()):
        spellings.pop(preferred, None)
    return MappingProxyType(spellings)


def _all_pairs() -> Iterator[tuple[str, str]]:
    for endings, pairs in _PAIRS:
        for pair in pairs.split():
            british, american = pair.split("/")
            for ending in _ENDINGS[endings]:
                yield british + ending, american + ending
