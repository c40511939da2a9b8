// Draws cards with satori and resvg. Reads {modules, folder, fonts, cards, width, height, rounds} from standard input:
// `fonts` name files with family, weight and style, `cards` are trees of elements by name. Writes each card's PNG to
// the folder, and the CPU milliseconds of each warm round by card.
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { text as readAll } from "node:stream/consumers";
import { pathToFileURL } from "node:url";

const { modules, folder, fonts, cards, width, height, rounds } = JSON.parse(await readAll(process.stdin));
const require = createRequire(pathToFileURL(`${modules}/`));
const satori = (await import(pathToFileURL(`${modules}/satori/dist/index.js`))).default;
const { Resvg } = require("@resvg/resvg-js");

const loaded = fonts.map(({ file, ...font }) => ({ ...font, data: readFileSync(file) }));

async function draw(card) {
  const svg = await satori(card, { width, height, fonts: loaded });
  return new Resvg(svg, { font: { loadSystemFonts: false } }).render().asPng();
}

const figures = {};
for (const [name, card] of Object.entries(cards)) {
  writeFileSync(`${folder}/${name}.png`, await draw(card));
  figures[name] = [];
  for (let round = 0; round < rounds; round += 1) {
    const before = process.cpuUsage();
    await draw(card);
    const { user, system } = process.cpuUsage(before);
    figures[name].push((user + system) / 1000);
  }
}
process.stdout.write(JSON.stringify(figures));
