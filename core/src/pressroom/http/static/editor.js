// Code fields: line numbers, syntax highlighting for HTML, and marks at the places that messages refer to.

// Returns the [start, end] of the part of a text that a message refers to, by the same rules as the server's `find_range`,
// or undefined if it can't be located.

function findPlace(text, message) {
  return numberedPlace(text, message) ?? quotedPlace(text, message) ?? namedPlace(text, message);
}

function numberedPlace(text, message) {
  const match = /\bline (\d{1,6})(?:, column (\d{1,6}))?/.exec(message);
  const lines = text.split("\n");
  const line = match && lines[match[1] - 1];
  if (line === undefined || line === null) return undefined;
  const at = Math.min(Math.max((match[2] ?? 1) - 1, 0), line.length);
  const start = lines.slice(0, match[1] - 1).reduce((sum, line) => sum + line.length + 1, 0) + at;
  const quoted = quotedPlace(text.slice(start), message.slice(match.index + match[0].length));
  if (quoted?.[0] === 0) return [start, start + quoted[1]];
  const word = match[2] && /^\s*[^\s<>"']+/.exec(line.slice(at).replace(/^[<"']/, "x"));
  const length = word ? word[0].length : line.length - at;
  return [start, start + Math.max(length, Math.min(1, line.length - at))];
}

function quotedPlace(text, message) {
  for (const [, name, quoted] of message.matchAll(/(?:([\w-]+): [^"]*?)?"([^"]{2,})"/g)) {
    const words = quoted.replace(/…+$/, "").trim().split(/\s+/).filter(Boolean).map(literal).join("\\s+");
    if (!words) continue;
    const patterns = name ? [`\\b${literal(name)}\\s*:\\s*(?:${words})`, words] : [words];
    for (const pattern of patterns) {
      const match = new RegExp(pattern, "i").exec(text);
      if (match) return [match.index, match.index + match[0].length];
    }
  }
  return undefined;
}

function namedPlace(text, message) {
  const name = /\b(?:property|attribute) ([\w-]+)/.exec(message)?.[1];
  const match = name && new RegExp(`(?<![\\w-])${literal(name)}\\s*[:=]`, "i").exec(text);
  return match ? [match.index, match.index + match[0].length - 1] : undefined;
}

function literal(text) {
  return text.replace(/[.*+?^${}()|[\]\\-]/g, "\\$&");
}

// The parts of HTML, for highlighting. A part that is misclassified only gets the wrong colour.
const HTML_PARTS = /(?<comment><!--[^]*?(?:-->|$))|(?<tag><\/?[a-z][\w-]*|\/?>)|(?<string>"[^"]*"?|'[^']*'?)|(?<name>[a-z][\w-]*(?=\s*=))|[\w-]+|[^<>"'\w/-]+|[^]/giy;

function htmlParts(text) {
  const parts = [];
  let inside = false;
  for (const { 0: part, groups } of text.matchAll(HTML_PARTS)) {
    let kind = Object.keys(groups).find((name) => groups[name] !== undefined) ?? "";
    if (kind === "tag") inside = !part.endsWith(">");
    else if (kind !== "comment" && !inside) kind = "";
    if (kind === "string" && part.includes(":")) parts.push(...styleParts(part));
    else if (kind === "" && parts.at(-1)?.[0] === "") parts.at(-1)[1] += part;
    else parts.push([kind, part]);
  }
  return parts;
}

function styleParts(text) {
  return text.split(/((?=[\w-])(?<=["';]\s*)[\w-]+(?=\s*:(?!\/\/)))/).map((part, index) => [index % 2 ? "property" : "string", part]);
}

class Editor {
  constructor(area) {
    this.area = area;
    this.colours = area.dataset.code === "text/html" ? htmlParts : (text) => [["", text]];
    this.marks = [];
    this.under = element("div");
    this.under.className = "code-under";
    this.under.setAttribute("aria-hidden", "true");
    const inner = element("div", this.under);
    inner.className = "code-inner";
    this.box = element("div", inner);
    this.box.className = "code-editor";
    area.before(this.box);
    inner.append(area);
    area.addEventListener("input", () => {
      this.marks = [];
      this.draw();
    });
    this.draw();
  }

  // Marks the place that a message refers to and returns a button that selects it, or undefined if there is no such place.
  point(message, kind = "wrong") {
    if (kind === "wrong") this.marks = [];
    const place = message && findPlace(this.area.value, message);
    if (place) this.marks.push([...place, kind]);
    this.draw();
    if (!place) return undefined;
    const before = this.area.value.slice(0, place[0]);
    const line = before.split("\n").length;
    const button = element("button", `Line ${line}, column ${before.length - before.lastIndexOf("\n")}`);
    button.type = "button";
    button.className = "place";
    button.addEventListener("click", () => this.select(place));
    return button;
  }

  select([start, end]) {
    this.area.focus({ preventScroll: true });
    this.area.setSelectionRange(start, end);
    $("mark", this.under)?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  draw() {
    const text = this.area.value;
    const lines = [element("div")];
    let at = 0;
    for (const [kind, part] of this.colours(text)) {
      for (const [index, piece] of part.split("\n").entries()) {
        if (index) {
          lines.push(element("div"));
          at += 1;
        }
        lines.at(-1).append(...this.drawn(kind, piece, at));
        at += piece.length;
      }
    }
    for (const line of lines) if (!line.textContent) line.append("\u200b");
    this.flagged(text, lines);
    this.under.replaceChildren(...lines);
    this.under.parentElement.style.setProperty("--digits", String(lines.length).length);
  }

  // Returns the nodes of a piece of a line that starts at offset `at`, split at the edges of marks.
  drawn(kind, piece, at) {
    const edges = new Set([0, piece.length]);
    for (const edge of this.marks.flatMap(([start, end]) => [start - at, end - at])) {
      if (edge > 0 && edge < piece.length) edges.add(edge);
    }
    const cuts = [...edges].sort((first, second) => first - second);
    return cuts.slice(1).map((end, index) => {
      const start = cuts[index];
      const node = element("span", piece.slice(start, end));
      if (kind) node.className = `is-${kind}`;
      const mark = this.marks.find(([from, to]) => from <= at + start && to >= at + end);
      if (!mark) return node;
      const marked = element("mark", node);
      marked.className = `is-${mark[2]}`;
      return marked;
    });
  }

  flagged(text, lines) {
    for (const [start, , kind] of this.marks) lines[text.slice(0, start).split("\n").length - 1]?.classList.add(`has-${kind}`);
  }
}

