"""Language data: syllables, passives, transitions, stems, sentences and words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pressroom_content.language import (
    SUPPORTED,
    LanguagePack,
    PhraseSet,
    common_words,
    find_passive,
    find_transition,
    fold,
    language_pack,
    lowered,
    primary_subtag,
    same_language,
    split_sentences,
    split_words,
    stem,
)
from pressroom_seo.scoring.text import detect_language

SYLLABLES = {
    "en": "the:1 table:2 little:2 makes:1 boxes:2 baked:1 wanted:2 completely:3 safety:2 society:4 movement:2 social:2 "
    "media:3 million:2 various:3 previous:3 science:2 quiet:2 experience:4 idea:3 create:2 react:2 video:3 museum:3 "
    "actual:3 language:2 evaluate:4 continuous:4 poem:2 going:2 studying:3 easier:3 player:2 tourism:3 algorithm:4 "
    "didn't:2 eye:1 beautiful:3 information:4 university:5 business:2 temperature:4 fermentation:4 readable:3 lion:2",
    "de": "haus:1 brot:1 sauerteig:3 familie:4 europa:3 bäume:2 leise:2 universität:5 geschwindigkeitsbegrenzung:7",
    "fr": "eau:1 farine:2 petite:2 grande:1 nation:2 bien:1 oiseau:2 crier:2 musée:2 question:2 information:4",
    "es": "agua:2 guerra:2 queso:2 ciudad:2 país:2 teatro:3 ayuda:3 información:4 murciélago:4 rey:1",
    "it": "ciao:1 acqua:2 scuola:2 chiesa:2 paese:3 teatro:3 famiglia:3 informazione:5 più:1",
    "pt": "pão:1 água:2 guerra:2 país:2 história:3 coração:3 leite:2 desenvolvimento:6",
    "nl": "nieuw:1 eeuw:1 mooi:1 ideeën:3 reünie:3 universiteit:5 ontwikkeling:4 geschiedenis:4",
}
PASSIVE = {
    "en": [
        "The bread was quickly eaten.",
        "It has been made by hand.",
        "They're often built of wood.",
        "Mistakes were made.",
        "The dough isn't baked yet.",
        "The loaf is being sliced.",
    ],
    "de": [
        "Das Brot wurde gestern gebacken.",
        "Der Teig wird am Abend noch einmal geknetet.",
        "Es ist verboten worden.",
        "Wir wissen, dass das Haus gebaut wird.",
        "Die Daten werden automatisch kopiert.",
        "Der Brief wird geschrieben.",
    ],
    "fr": [
        "Le pain a été mangé.",
        "La porte est souvent ouverte par Anne.",
        "Il n'est pas construit.",
        "Les œufs sont cassés.",
    ],
    "es": ["El pan fue comido.", "Las puertas son abiertas por ella.", "La casa ha sido rápidamente construida."],
    "it": [
        "Il pane è stato mangiato.",
        "La pasta viene cotta.",
        "Le case furono costruite da lui.",
        "Sono corretti da lei.",
    ],
    "pt": ["O pão foi comido.", "As portas são abertas por ela.", "A casa tem sido muito bem construída."],
    "nl": [
        "Het brood werd gisteren gebakken.",
        "Het huis wordt gebouwd.",
        "We zien dat het deeg wordt gekneed.",
        "Het boek is door haar geschreven.",
    ],
}
ACTIVE = {
    "en": [
        "She is tired and hungry.",
        "You need bread.",
        "He was interested in yeast.",
        "We are one hundred.",
        "It is red.",
        "They have eaten the bread.",
        "I was there, and she baked bread.",
        "It is a well known fact.",
        "I was surprised and excited.",
    ],
    "de": [
        "Wir werden morgen gehen.",
        "Er wird Arzt.",
        "Sie hat das Brot gebacken.",
        "Es wird gegen Abend kalt.",
        "Das würde ich gern geben.",
        "Die Gebäude werden alt.",
    ],
    "fr": [
        "Elle est allée au marché.",
        "Il s'est levé tôt.",
        "Ils sont arrivés hier.",
        "C'est une bonne idée.",
        "Il a mangé.",
        "Le café est salé.",
    ],
    "es": ["Es una ciudad grande.", "Ella ha comido pan.", "Son adecuados.", "Está cerrado."],
    "it": ["È andato al mercato.", "Si è alzato presto.", "Ha mangiato il pane.", "Sono tutti qui."],
    "pt": ["É uma cidade grande.", "Ela tinha comido pão.", "Foi rápido.", "São adequados."],
    "nl": [
        "Hij heeft het brood gebakken.",
        "Het wordt gewoon koud.",
        "Er is geen brood.",
        "Ze worden oud.",
        "Hij is door het bos gegaan.",
    ],
}
TRANSITIONS = {
    "en": "On the other hand, it is cheap.",
    "de": "Darüber hinaus ist es billig.",
    "fr": "Par conséquent, il est bon.",
    "es": "Sin embargo, es bueno.",
    "it": "D'altra parte, è buono.",
    "pt": "Além disso, é bom.",
    "nl": "Bovendien is het goed.",
}
TIED = {
    "en": [
        "Next, add the salt.",
        "First mix the flour.",
        "First of all, it is cheap.",
        "Once you have made five loaves, you know.",
        "Still, it works.",
        "It was late, so he left.",
        "They are big, yet they stick.",
        "Carrots grow well in it too.",
        "People came back too, and the porter knew them.",
        "Photographs help as well.",
        "He left, and so did she.",
    ],
    "de": ["Erst mahlen Sie das Korn.", "Zunächst schreiben Sie an die Firma."],
    "es": [
        "Primero pela el ajo.",
        "Si llueve, quédate en casa.",
        "Encima, es caro.",
        "Una vez que hierva, baja el fuego.",
    ],
    "fr": ["Or il pleut.", "Seulement, il est trop tard.", "Quand même, il est bon."],
    "it": ["Prima lava le mani.", "Dopo, copri la pentola.", "Appena bolle, spegni."],
    "pt": ["Primeiro lave o arroz.", "Depois, aumente o valor.", "Antes que chova, feche a janela."],
    "nl": ["Kijk eerst naar de lucht en kies dan de weg."],
}
UNTIED = {
    "en": [
        "The next street has his name.",
        "Next week it rains.",
        "The building was once a prison.",
        "Once a prison, it is a hotel today.",
        "They were the first to ask.",
        "First impressions count.",
        "Second thoughts came at night.",
        "Without steam it would set too early.",
        "The crumb is still warm.",
        "It is not ready yet.",
        "He ate so many of them.",
        "So many people came.",
        "She speaks as well in German.",
    ],
    "de": [
        "Der erste Weg beginnt am Bach.",
        "Sie holt etwa drei Viertel davon.",
        "Köhler zeigen, wie man früher lebte.",
    ],
    "es": ["La siguiente parada es una plaza.", "Riega una vez por semana.", "Está encima de la mesa."],
    "fr": ["Une bague en or coûte cher.", "Il y a seulement deux trains.", "Quand pars-tu ?"],
    "it": ["La prima volta fu bella.", "Prima classe e due vagoni.", "Dopo il fiume c'è un ponte.", "Cambia davvero."],
    "pt": [
        "O primeiro café é forte.",
        "Primeiro andar à esquerda.",
        "Quando usar a reserva?",
        "Traz calma antes de trazer juros.",
    ],
    "nl": ["Deze is groter dan die.", "De volgende straat is van hem.", "Hij komt soms."],
}


def pack(code: str) -> LanguagePack:
    loaded = language_pack(code)
    assert loaded is not None
    return loaded


def passive_in(sentence: str, code: str) -> str | None:
    return find_passive(sentence, lowered(split_words(sentence)), pack(code))


@pytest.mark.parametrize("code", SUPPORTED)
def test_syllables_are_counted_as_in_a_dictionary(code: str) -> None:
    for entry in SYLLABLES[code].split():
        word, _, number = entry.rpartition(":")
        assert (word, pack(code).syllables.count(word)) == (word, int(number))


@pytest.mark.parametrize(
    ("code", "sentence"), [(code, sentence) for code, sentences in PASSIVE.items() for sentence in sentences]
)
def test_a_passive_sentence_is_detected(code: str, sentence: str) -> None:
    assert passive_in(sentence, code)


@pytest.mark.parametrize(
    ("code", "sentence"), [(code, sentence) for code, sentences in ACTIVE.items() for sentence in sentences]
)
def test_an_active_sentence_is_not_flagged(code: str, sentence: str) -> None:
    assert passive_in(sentence, code) is None


def transition_in(sentence: str, code: str) -> str | None:
    return find_transition(sentence, lowered(split_words(sentence)), pack(code))


@pytest.mark.parametrize("code", SUPPORTED)
def test_transition_words_are_detected_and_plain_sentences_have_none(code: str) -> None:
    assert transition_in(TRANSITIONS[code], code)
    assert transition_in("Bread, pan, brot, pain.", code) is None


@pytest.mark.parametrize(
    ("code", "sentence"), [(code, sentence) for code, sentences in TIED.items() for sentence in sentences]
)
def test_a_word_in_the_position_of_a_transition_is_one(code: str, sentence: str) -> None:
    assert transition_in(sentence, code)


@pytest.mark.parametrize(
    ("code", "sentence"), [(code, sentence) for code, sentences in UNTIED.items() for sentence in sentences]
)
def test_the_same_word_elsewhere_is_not_a_transition(code: str, sentence: str) -> None:
    assert transition_in(sentence, code) is None


def test_pairs_only_count_in_order() -> None:
    phrases = PhraseSet(["as a result"], ["not only ... but"])
    assert phrases.find(["not", "only", "cheap", "but", "good"]) == "not only … but"
    assert phrases.find(["but", "not", "only", "good"]) is None
    assert phrases.find_all(["as", "a", "result", "of", "it", "as", "a", "result"]) == ["as a result", "as a result"]
    assert phrases.is_one(["as", "a", "result"])
    assert not phrases.is_one(["as", "a"])


@given(st.sampled_from(SUPPORTED), st.text(max_size=80))
def test_any_word_has_a_syllable_at_least(code: str, word: str) -> None:
    assert 1 <= pack(code).syllables.count(word.lower()) <= max(1, len(word) + 3)


def test_regions_and_case_do_not_matter() -> None:
    assert language_pack("de-AT") is language_pack("DE")
    assert language_pack("sv") is None
    assert language_pack("") is None
    assert primary_subtag("pt_BR") == "pt"
    assert same_language("nb", "no")
    assert not same_language("de", "en")


@pytest.mark.parametrize(
    ("one", "other", "language"),
    [
        ("running", "runs", "en"),
        ("starters", "starter", "en"),
        ("häuser", "haus", "de"),
        ("maisons", "maison", "fr"),
        ("casas", "casa", "es"),
        ("broden", "brood", "nl"),
    ],
)
def test_inflected_forms_have_one_stem(one: str, other: str, language: str) -> None:
    assert fold(stem(one, language)) == fold(stem(other, language))


def test_urls_are_compared_without_accents() -> None:
    assert fold("Größe") == "grosse"
    assert fold("Crème brûlée") == "creme brulee"
    assert fold("naïve’s") == "naive's"  # noqa: RUF001


@pytest.mark.parametrize(
    ("text", "language"),
    [
        (
            "This is a plain English text about bread, flour and water, and it goes on for a while. " * 2,
            "en",
        ),
        (
            "Dies ist ein deutscher Text über Brot, Mehl und Wasser, der eine Weile so weitergeht. " * 2,
            "de",
        ),
        ("今日は天気がいいので、パンを焼きます。小麦粉と水と塩だけで作ることができます。", "ja"),
    ],
)
def test_the_language_of_a_text_is_detected(text: str, language: str) -> None:
    detected = detect_language(text)
    assert detected is not None
    assert detected.language == language


def test_short_text_has_no_language() -> None:
    assert detect_language("Bread.") is None


@pytest.mark.parametrize(
    ("language", "text", "sentences"),
    [
        ("en", "Dr. Smith paid $3.50. He left.", ["Dr. Smith paid $3.50.", "He left."]),
        ("en", "Use rye, e.g. Whole rye. Good.", ["Use rye, e.g. Whole rye.", "Good."]),
        ("en", "By J. R. R. Tolkien. It is long.", ["By J. R. R. Tolkien.", "It is long."]),
        ("en", "Flour, salt, etc. The rest is water.", ["Flour, salt, etc.", "The rest is water."]),
        ("en", "“Why?” he asked. “No!” “Yes.”", ["“Why?” he asked.", "“No!”", "“Yes.”"]),
        ("en", "Wait... what? Really?!", ["Wait... what?", "Really?!"]),
        ("en", "See example.com for more. Done", ["See example.com for more.", "Done"]),
        ("en", "In 2024. Then it ended.", ["In 2024.", "Then it ended."]),
        ("en", "1. Mix flour. 2. Wait.", ["1. Mix flour.", "2. Wait."]),
        ("en", "One line\nAnother line", ["One line", "Another line"]),
        ("de", "Am 3. Mai kam Prof. Klein. Er blieb.", ["Am 3. Mai kam Prof. Klein.", "Er blieb."]),
        ("de", "Mehl, z. B. Roggen. Gut.", ["Mehl, z. B. Roggen.", "Gut."]),
        ("es", "Hola. ¿Qué tal? ¡Bien!", ["Hola.", "¿Qué tal?", "¡Bien!"]),
        ("fr", "M. Dupont arrive. Il mange.", ["M. Dupont arrive.", "Il mange."]),
        ("ja", "今日は。明日は？「はい。」", ["今日は。", "明日は？", "「はい。」"]),  # noqa: RUF001
        ("hi", "यह रोटी है। यह पानी है।", ["यह रोटी है।", "यह पानी है।"]),
    ],
)
def test_sentences_end_where_readers_expect_it(language: str, text: str, sentences: list[str]) -> None:
    loaded = language_pack(language)
    abbreviations, starters = (loaded.abbreviations, loaded.function_words) if loaded else ((), ())
    assert split_sentences(text, abbreviations, starters, ordinals=language == "de") == sentences


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("A well-known fact: it's 3.14, or 1,000!", ["A", "well-known", "fact", "it's", "3.14", "or", "1,000"]),
        ("L’eau – c'est bon", ["L’eau", "c'est", "bon"]),  # noqa: RUF001
        ("Größe und Straße", ["Größe", "und", "Straße"]),
        ("Хлеб и вода", ["Хлеб", "и", "вода"]),
        ("नमस्ते दुनिया", ["नमस्ते", "दुनिया"]),
        ("ฉันรักภาษาไทย", ["ฉัน", "รัก", "ภาษา", "ไทย"]),
        ("今日は天気がいい", ["今日", "は", "天気", "が", "いい"]),
        ("مرحبا بالعالم", ["مرحبا", "بالعالم"]),
        ("– … !", []),  # noqa: RUF001
    ],
)
def test_words_are_counted_in_every_script(text: str, words: list[str]) -> None:
    assert split_words(text) == words


def test_only_the_files_name_the_languages() -> None:
    assert SUPPORTED == ("de", "en", "es", "fr", "it", "nl", "pt")
    assert all(len(common_words(code)) >= 70 for code in SUPPORTED)
    assert common_words("xx") == frozenset()
