// Draws the same image of code with shiki, satori and resvg: window, shadow, buttons, title and line numbers. Reads
// {modules, code, language, theme, width, rounds} from standard input; writes the CPU milliseconds of each round.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { text as readAll } from "node:stream/consumers";
import { pathToFileURL } from "node:url";

const { modules, code, language, theme, width, rounds } = JSON.parse(await readAll(process.stdin));
const require = createRequire(pathToFileURL(`${modules}/`));
const { createHighlighter } = await import(pathToFileURL(`${modules}/shiki/dist/index.mjs`));
const satori = (await import(pathToFileURL(`${modules}/satori/dist/index.js`))).default;
const { Resvg } = require("@resvg/resvg-js");

const highlighter = await createHighlighter({ themes: [theme], langs: [language] });
const font = `${modules}/@fontsource/jetbrains-mono/files/jetbrains-mono-latin-400-normal.woff`;
const fonts = [{ name: "mono", data: readFileSync(font), weight: 400, style: "normal" }];
const box = (style, children) => ({ type: "div", props: { style: { display: "flex", ...style }, children } });

async function draw() {
  const { tokens, bg } = highlighter.codeToTokens(code, { lang: language, theme });
  const lines = tokens.map((line, index) =>
    box({ height: 24 }, [
      box({ width: 40, color: "#51597d" }, String(index + 1).padStart(2)),
      ...line.map(({ content, color }) => box({ color, whiteSpace: "pre" }, content)),
    ]),
  );
  const buttons = ["#ff5f57", "#febc2e", "#28c840"].map((backgroundColor) =>
    box({ width: 12, height: 12, borderRadius: 6, marginRight: 8, backgroundColor }),
  );
  const bar = box({ height: 44, padding: "16px 20px", color: "#7f86a5", fontSize: 13 }, [...buttons, "example.ts"]);
  const code_ = box({ flexDirection: "column", padding: "0 24px 22px", fontSize: 15 }, lines);
  const boxShadow = "0 14px 45px rgba(0, 0, 0, 0.45)";
  const window_ = box({ flexDirection: "column", backgroundColor: bg, borderRadius: 12, boxShadow }, [bar, code_]);
  const page = box(
    { padding: 48, width, flexDirection: "column", backgroundImage: "linear-gradient(135deg, #5b6ee1, #b26ff0)" },
    [window_],
  );
  const svg = await satori(page, { width, fonts });
  return new Resvg(svg).render().asPng();
}

const figures = [];
for (let round = 0; round <= rounds; round += 1) {
  const before = process.cpuUsage();
  const png = await draw();
  const { user, system } = process.cpuUsage(before);
  if (png.length < 1000) throw new Error("no image");
  if (round > 0) figures.push((user + system) / 1000);
}
process.stdout.write(JSON.stringify(figures));
