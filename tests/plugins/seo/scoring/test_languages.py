"""Real articles in seven languages: the score reacts as an editor would expect."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Final, NamedTuple

import pytest
from pressroom_seo.scoring import Author, ScoringArticle, ScoringReport, score
from support.seo_articles import GOOD

TEXTS: Final = Path(__file__).parent / "texts"


class Sample(NamedTuple):
    """An article's metadata, and sentences that degrade the article."""

    keyphrase: str
    title: str
    slug: str
    description: str
    stuffing: str
    passive: str


SAMPLES: Final = {
    "de": Sample(
        "Wärmepumpe im Altbau",
        "Wärmepumpe im Altbau: Kosten, Förderung und Tipps",
        "waermepumpe-im-altbau",
        "Eine Wärmepumpe im Altbau lohnt sich öfter als gedacht: was der Umbau kostet, wie Sie Ihr Haus prüfen und "
        "welche Fehler Sie vermeiden.",
        "Die Wärmepumpe im Altbau ist eine gute Wärmepumpe im Altbau.",
        "Das Haus wird geprüft. Die Rechnung wurde gelesen. Der Strom wird gezählt. Die Räume werden geheizt.",
    ),
    "fr": Sample(
        "composteur d'appartement",
        "Composteur d'appartement : le choisir et s'en servir",
        "composteur-appartement",
        "Choisir un composteur d'appartement, le remplir et l'entretenir sans odeur : nos conseils simples pour "
        "transformer vos épluchures en engrais.",
        "Le composteur d'appartement est un bon composteur d'appartement.",
        "La terre est nourrie. Les restes sont coupés. Le carton est déchiré. Les vers sont nourris.",
    ),
    "es": Sample(
        "huerto urbano",
        "Huerto urbano en el balcón: guía para empezar",
        "huerto-urbano-balcon",
        "Monta un huerto urbano en el balcón: cuánta luz necesita, qué macetas elegir, qué plantar primero y cómo "
        "regar sin atraer plagas.",
        "El huerto urbano es un buen huerto urbano.",
        "La tierra fue mezclada. Las plantas son regadas. El agua fue guardada. Las hojas son lavadas.",
    ),
    "it": Sample(
        "pasta fatta in casa",
        "Pasta fatta in casa: dosi, passaggi ed errori",
        "pasta-fatta-in-casa",
        "Pasta fatta in casa con farina e uova: le dosi per persona, i passaggi dell'impasto, i tempi di cottura e "
        "gli errori da evitare.",
        "La pasta fatta in casa è una buona pasta fatta in casa.",
        "La farina viene versata. Le uova vengono rotte. L'impasto viene coperto. La sfoglia viene stesa.",
    ),
    "pt": Sample(
        "reserva de emergência",
        "Reserva de emergência: quanto guardar e onde",
        "reserva-de-emergencia",
        "Reserva de emergência: saiba quanto guardar, onde deixar o dinheiro e como começar com pouco, mesmo que o "
        "salário seja apertado.",
        "A reserva de emergência é uma boa reserva de emergência.",
        "O dinheiro foi guardado. As contas são pagas. O valor foi somado. A lista é escrita.",
    ),
    "nl": Sample(
        "elektrische fiets kopen",
        "Elektrische fiets kopen: motor, accu en prijs",
        "elektrische-fiets-kopen",
        "Een elektrische fiets kopen? Lees welke motor bij je past, hoe groot de accu moet zijn en wat het onderhoud "
        "per jaar ongeveer kost.",
        "Een elektrische fiets kopen is een elektrische fiets kopen.",
        "De motor wordt getest. De accu wordt geladen. De banden werden vervangen. De ketting wordt gesmeerd.",
    ),
}
LONG: Final = "sourdough-bread.md"


def article(code: str) -> ScoringArticle:
    """Return the sample article of a language."""
    sample = SAMPLES[code]
    return ScoringArticle(
        body=(TEXTS / f"{code}.md").read_text("utf-8"),
        title=sample.title,
        slug=sample.slug,
        description=sample.description,
        keyphrase=sample.keyphrase,
        language=code,
        url=f"https://www.example.com/{sample.slug}",
        authors=(Author("Ada"),),
        published=date(2026, 1, 5),
        modified=date(2026, 2, 1),
    )


def lost(before: ScoringReport, after: ScoringReport) -> set[str]:
    """Return the checks that have fewer points than before."""
    points = {check.id: check.points or 0 for check in before.checks if check.points is not None}
    return {check.id for check in after.checks if check.points is not None and check.points < points.get(check.id, 0)}


@pytest.mark.parametrize("code", SAMPLES)
def test_a_good_article_scores_well_in_its_language(code: str) -> None:
    report = score(article(code))
    assert report.score >= 90
    assert report.gates == ()
    assert report.ruleset == f"seo-{code}@3"
    by_id = {check.id: check for check in report.checks}
    for name in ("passive_voice", "transition_words", "sentence_beginnings", "reading_ease", "word_complexity"):
        assert by_id[name].status == "good", by_id[name].message
    for name in ("keyphrase_in_title", "keyphrase_in_intro", "keyphrase_in_slug", "keyphrase_density", "answer_first"):
        assert by_id[name].status == "good", by_id[name].message
    assert by_id["language"].message == "The language tag fits the text."


@pytest.mark.parametrize("code", SAMPLES)
def test_the_language_of_a_real_article_is_detected(code: str) -> None:
    assert score(replace(article(code), language="")).language == code


@pytest.mark.parametrize("code", SAMPLES)
def test_keyphrase_stuffing_and_thin_text_cap_the_score(code: str) -> None:
    good = article(code)
    stuffed = score(replace(good, body=f"{good.body}\n\n{' '.join([SAMPLES[code].stuffing] * 14)}"))
    assert [gate.id for gate in stuffed.gates] == ["stuffing"]
    assert stuffed.score == 50
    thin = score(replace(good, body="\n\n".join(good.body.split("\n\n")[:3])))
    assert thin.score == 40


@pytest.mark.parametrize("code", SAMPLES)
def test_passive_prose_fails_its_check_and_shows_the_sentences(code: str) -> None:
    good = article(code)
    before = score(good)
    after = score(replace(good, body=f"{good.body}\n\n{SAMPLES[code].passive} {SAMPLES[code].passive}"))
    assert lost(before, after) == {"passive_voice"}
    assert (after.groups["readability"].score or 0) < (before.groups["readability"].score or 0)
    evidence = next(check.evidence for check in after.checks if check.id == "passive_voice")
    # The article itself may contain one, which comes first.
    assert SAMPLES[code].passive.split(". ")[0] in {piece.text.rstrip(".") for piece in evidence}


@pytest.mark.parametrize("code", SAMPLES)
def test_a_missing_description_and_title_cost_the_weight_of_their_checks(code: str) -> None:
    good = article(code)
    before = score(good)
    bare = score(replace(good, description=""))
    assert lost(before, bare) == {"meta_description_length", "keyphrase_in_meta"}
    total_weight = sum(check.weight for check in before.checks if check.points is not None)
    assert before.score - bare.score == pytest.approx(100 * 5 / total_weight, abs=1)
    assert score(replace(good, title="")).score == 20


@pytest.mark.parametrize("code", SAMPLES)
def test_one_long_sentence_reads_worse(code: str) -> None:
    good = article(code)
    lines = (line for line in good.body.split("\n") if not line.startswith(("#", "-", "!")))
    breath = score(replace(good, body=" ".join(lines).replace(". ", ", ")))
    assert {"sentence_length", "paragraph_length", "reading_ease", "intro_length"} <= lost(score(good), breath)


@pytest.mark.parametrize("code", SAMPLES)
def test_a_wrong_language_tag_is_detected(code: str) -> None:
    report = score(replace(article(code), language="en"))
    fault = next(check for check in report.checks if check.id == "language")
    assert fault.status == "bad"
    assert f"“{code}”" in fault.message


def long_body() -> str:
    """Return a text of at least 1,500 words, divided as an editor would."""
    return (TEXTS / LONG).read_text("utf-8")


def test_a_long_article_is_scored_completely() -> None:
    body = long_body()
    long = replace(
        GOOD,
        body=body,
        title="Sourdough bread at home: a complete guide",
        slug="sourdough-bread",
        keyphrase="sourdough bread",
        description="Bake sourdough bread at home without a recipe book: how to plan the day, mix and fold the dough, "
        "shape the loaf and read the crumb.",
    )
    report = score(long, "cornerstone")
    assert report.words >= 1500
    assert report.score >= 95
    flat = score(replace(long, body=body.replace("\n## ", "\n")), "cornerstone")
    assert {"subheading_distribution"} <= lost(report, flat)
    unlinked = score(replace(long, body=body.replace("](/", "](#")), "cornerstone")
    assert lost(report, unlinked) == {"internal_links"}
