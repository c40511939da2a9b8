// Judges the papers on standard input with the published analysis of Yoast SEO, and prints its verdicts and measures.
// The first argument is the folder node_modules that it is installed in.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(`${process.argv[2]}/`);

function judge({ name, language, text, ...attributes }) {
  const { Paper, assessments, assessors, interpreters, languageProcessing } = require("yoastseo");
  const { default: Researcher } = require(`yoastseo/build/languageProcessing/languages/${language}/Researcher`);
  const paper = new Paper(text, attributes);
  const researcher = new Researcher(paper);
  for (const [research, run] of Object.entries(languageProcessing.researches)) {
    researcher.addResearch(research, run);
  }

  const verdicts = {};
  const note = (identifier, result) => {
    if (result.hasScore()) verdicts[identifier] = interpreters.scoreToRating(result.getScore());
  };
  for (const Assessor of [assessors.SEOAssessor, assessors.ContentAssessor]) {
    const assessor = new Assessor(researcher, {});
    assessor.assess(paper);
    for (const result of assessor.getValidResults()) note(result.getIdentifier(), result);
  }
  // What Yoast SEO Premium adds to the two assessors of the package.
  for (const assessment of [
    new assessments.seo.KeyphraseDistributionAssessment(),
    new assessments.seo.TextTitleAssessment(),
    new assessments.readability.TextAlignmentAssessment(),
  ]) {
    if (assessment.isApplicable(paper, researcher)) note(assessment.identifier, assessment.getResult(paper, researcher));
  }

  const transitions = researcher.getResearch("findTransitionWords");
  const passives = researcher.getResearch("getPassiveVoiceResult");
  const measures = {
    words: researcher.getResearch("wordCountInText").count,
    uses: researcher.getResearch("getKeyphraseCount").count,
    sentences: transitions.totalSentences,
    transitions: transitions.transitionWordSentences,
    passives: passives.passives.length,
    passive_sentences: passives.total,
    reading_ease: researcher.getResearch("getFleschReadingScore").score,
  };
  return { name, verdicts, measures };
}

// Most of the time goes into transliterating the same keyphrases and word forms again, with hundreds of patterns each.
function rememberTransliterations() {
  const transliteration = require("yoastseo/build/languageProcessing/helpers/transliterate/transliterateWPstyle");
  const transliterate = transliteration.default;
  const known = new Map();
  transliteration.default = (text, locale) => {
    const key = `${locale} ${text}`;
    if (!known.has(key)) known.set(key, transliterate(text, locale));
    return known.get(key);
  };
}

// The package remembers the function words of the language that it was first asked about, so each language gets it anew.
const papers = JSON.parse(readFileSync(0, "utf8"));
const judged = [];
for (const language of new Set(papers.map((paper) => paper.language))) {
  for (const file of Object.keys(require.cache)) delete require.cache[file];
  rememberTransliterations();
  judged.push(...papers.filter((paper) => paper.language === language).map(judge));
}
process.stdout.write(JSON.stringify(judged));
