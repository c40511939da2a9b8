// Reads {modules, themes, samples: [{language, code}]} from standard input; writes, for each sample and theme, the
// pieces of the code with their colours, line by line.
import { text as readAll } from "node:stream/consumers";
import { pathToFileURL } from "node:url";

const { modules, themes, samples } = JSON.parse(await readAll(process.stdin));
const { createHighlighter } = await import(pathToFileURL(`${modules}/shiki/dist/index.mjs`));
const highlighter = await createHighlighter({ themes, langs: samples.map(({ language }) => language) });
const found = samples.map(({ language, code }) =>
  Object.fromEntries(
    themes.map((theme) => {
      const lines = highlighter.codeToTokensBase(code, { lang: language, theme });
      return [theme, lines.map((line) => line.map(({ content, color }) => [content, color.toLowerCase()]))];
    }),
  ),
);
process.stdout.write(JSON.stringify(found));
