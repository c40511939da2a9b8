"""Words that are spelled differently in British and in American English."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from types import MappingProxyType
from typing import Final, Literal

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
"""Words that are right in both, in another sense."""


@cache
def other_spellings(variant: Literal["en-GB", "en-US"]) -> Mapping[str, str]:
    """Return the words of the other variant, in lower case, and how they are spelled in this one."""
    british_first = variant == "en-US"
    found: dict[str, str] = {}
    for british, american in _all_pairs():
        other, own = (british, american) if british_first else (american, british)
        if other != own and other not in _BOTH:
            found.setdefault(other, own)
    for own in list(found.values()):
        found.pop(own, None)
    return MappingProxyType(found)


def _all_pairs() -> Iterator[tuple[str, str]]:
    for endings, pairs in _PAIRS:
        for pair in pairs.split():
            british, american = pair.split("/")
            for ending in _ENDINGS[endings]:
                yield british + ending, american + ending
