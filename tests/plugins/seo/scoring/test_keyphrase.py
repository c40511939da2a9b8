"""Keyphrase matching: inflected, reordered, with synonyms, in any script."""

from __future__ import annotations

import pytest
from pressroom_content.language import language_pack, lowered, split_words
from pressroom_seo.scoring.keyphrase import Keyphrase


def phrase(text: str, language: str = "en") -> Keyphrase:
    return Keyphrase(text, language_pack(language), language)


def words(text: str) -> list[str]:
    return lowered(split_words(text))


@pytest.mark.parametrize(
    ("text", "sentence", "language", "uses", "exact"),
    [
        ("sourdough starter", "A sourdough starter and another Sourdough Starter.", "en", 2, 2),
        ("sourdough starter", "Starters made of sourdough.", "en", 1, 0),
        ("sourdough starter", "The sourdough’s starter is old.", "en", 1, 1),  # noqa: RUF001
        ("open-source licence", "An open source licence.", "en", 1, 1),
        ("open source", "An open-source tool.", "en", 1, 1),
        ("sourdough starter", "Only sourdough here.", "en", 0, 0),
        ("bake the bread", "Baking breads", "en", 1, 0),
        ("“bake the bread”", "We bake the bread.", "en", 1, 1),
        ("“bake the bread”", "The bread we bake.", "en", 0, 0),
        ("bread bread", "Bread and bread.", "en", 1, 1),
        ("café crème", "Un CAFÉ crème.", "fr", 1, 1),
        ("eau chaude", "De l'eau chaude.", "fr", 1, 1),
        ("Brot backen", "Beim Backen des Brotes.", "de", 1, 0),
        ("日本語", "これは日本語です。日本語。", "ja", 2, 2),
        ("ภาษาไทย", "ฉันรักภาษาไทย", "th", 1, 1),
        ("хлеб", "Вкус хлеба.", "ru", 1, 0),
        ("c++", "I write C++ code.", "en", 1, 1),
        ("e-mail marketing", "Email marketing.", "en", 1, 0),
        ("ecommerce", "An e-commerce shop.", "en", 1, 1),
        ("write a book", "She wrote books.", "en", 1, 0),
        ("child care", "Children need care.", "en", 1, 0),
        ("table saw", "You see the table.", "en", 0, 0),
        ("Rasenmäher Test", "Der Rasenmähertest.", "de", 1, 0),
        ("Rasenmäher Test", "Ein Rasenmäher, ein Testament.", "de", 0, 0),
        ("Wärmepumpe Kosten", "Die Wärmepumpenkosten, und Kosten der Wärmepumpe.", "de", 2, 1),
        ("Wärmepumpenkosten", "Die Wärmepumpen-Kosten.", "de", 1, 1),
        ("Wärmepumpe", "Waermepumpen.", "de", 1, 0),
        ("Haus kaufen", "Der Hauskauf: Häuser werden gekauft, und sie kauft ein Haus.", "de", 3, 0),
        ("Obst einkaufen", "Wir haben Obst eingekauft, ohne Obst einzukaufen.", "de", 2, 0),
        ("Buch schreiben", "Er schrieb Bücher.", "de", 1, 0),
        ("Altbau", "In Altbauten.", "de", 1, 0),
        ("bel appartement", "De beaux appartements.", "fr", 1, 0),
        ("papel de parede", "Papéis de parede.", "pt", 1, 0),
        ("huis verkopen", "Huizen verkocht.", "nl", 1, 0),
        ("hypotheek rente", "De hypotheekrente.", "nl", 1, 0),
        ("gebakken brood", "Brood bakken: gebakken brood.", "nl", 2, 1),
        ("الخبز العربي", "الخبز العربي سهل التحضير.", "ar", 1, 1),
        ("membaca buku", "Cara membaca buku.", "id", 1, 1),
        ("хлеб", "Укус хлеба.", "sr", 1, 0),
        ("istanbul gezisi", "İstanbul gezisi gelecek.", "tr", 1, 1),
        ("Äpfel", "Aepfel sind gesund.", "de", 1, 0),
        ("casa vacanza", "Le case vacanze.", "it", 1, 0),
        ("coche eléctrico", "Los coches eléctricos.", "es", 1, 0),
    ],
)  # fmt: skip
def test_uses_are_counted(text: str, sentence: str, language: str, uses: int, exact: int) -> None:
    count = phrase(text, language).uses(words(sentence))
    assert (count.all, count.exact) == (uses, exact)


def test_function_words_count_only_if_there_are_no_others() -> None:
    assert phrase("how to bake the bread").content == ["bake", "bread"]
    assert phrase("what is it").content == ["what", "is", "it"]
    assert phrase("what is it").only_function_words
    assert not phrase("  ?! ")


def test_two_thirds_of_a_long_phrase_match_a_sentence() -> None:
    long = phrase("whole rye sourdough")
    assert long.mentioned(words("A rye sourdough."))
    assert not long.mentioned(words("A sourdough."))
    assert not phrase("rye sourdough").mentioned(words("A sourdough."))


def test_inflected_forms_of_a_phrase_are_the_same() -> None:
    assert phrase("sourdough starter").same_as("the Starters of Sourdough")
    assert not phrase("sourdough starter").same_as("sourdough starter guide")
    assert not phrase("sourdough starter").same_as("")
