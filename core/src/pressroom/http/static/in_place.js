// Typing in the image: a text field lies over the place where the image shows a parameter's text, and only its caret is
// seen. What was typed since the image was drawn is painted over it, so that letters appear at once. The page loads this
// once it knows of such a place.

// What is drawn in one column a character. The soft hyphen (U+00AD) is not seen at all.
const ONE_COLUMN = /^[\x20-\x7e\u00a1-\u00ac\u00ae-\u017f]*$/;

export class InPlace {
  constructor(canvas, fields) {
    this.fields = fields;
    this.image = canvas.querySelector("[data-canvas]");
    const [layer, changes, area] = ["div", "div", "textarea"].map((name) => document.createElement(name));
    Object.assign(this, { layer, changes, area });
    this.changes.setAttribute("aria-hidden", "true");
    this.area.setAttribute("aria-label", "Type in the image");
    for (const name of ["spellcheck", "autocomplete", "autocapitalize", "autocorrect"]) this.area.setAttribute(name, name === "spellcheck" ? "false" : "off");
    this.layer.append(changes, area);
    this.layer.className = "in-place";
    this.layer.hidden = true;
    this.area.addEventListener("input", (event) => {
      // The form hears of it from the parameter's own field.
      event.stopPropagation();
      this.field.text = this.area.value;
    });
    canvas.append(this.layer);
    new ResizeObserver(() => this.fit()).observe(this.image);
  }

  // Whether one can type in the image: not on a phone, whose style sheet hides it.
  get shown() {
    return this.layer.offsetWidth > 0;
  }

  // Follows a new image; `place` tells where it shows the text, and `input` what it was drawn from.
  place(place, input) {
    this.field = this.fields.find(({ spec }) => spec.name === place?.param);
    this.layer.hidden = !this.field;
    if (!this.field) return;
    this.at = place;
    this.drawn = String(input[place.param] ?? this.field.spec.default ?? "").replace(/\r\n?/g, "\n");
    if (this.field.control.maxLength > 0) this.area.maxLength = this.field.control.maxLength;
    const { style } = this.layer;
    style.setProperty("--ink", place.color);
    style.setProperty("--ground", place.background);
    style.font = `${place.fontSize}px/${place.rowHeight}px "${place.font}", monospace`;
    style.tabSize = place.tabColumns;
    style.width = `${place.imageWidth}px`;
    this.area.style.left = this.changes.style.left = `${place.left}px`;
    this.area.style.top = this.changes.style.top = `${place.top}px`;
    this.area.style.width = `${place.columns * place.columnWidth}px`;
    this.fit();
    this.follow();
  }

  // Lays the field over the image, at the size at which the page shows that.
  fit() {
    if (!this.at || !this.image.clientWidth) return;
    const { offsetLeft, offsetTop, clientWidth, clientHeight } = this.image;
    const scale = clientWidth / this.at.imageWidth;
    this.layer.style.transform = `translate(${offsetLeft}px, ${offsetTop}px) scale(${scale})`;
    this.layer.style.height = `${clientHeight / scale}px`;
  }

  // Follows the parameter's field.
  follow() {
    if (!this.field) return;
    const { text } = this.field;
    if (this.area.value !== text) this.area.value = text;
    const { columns, rowHeight } = this.at;
    const [now, before] = [text, this.drawn].map((code) => code.split("\n").map((line) => this.expanded(line)));
    const fits = (lines) => lines.every((line) => line.length <= columns && ONE_COLUMN.test(line));
    const exact = fits(now);
    // Where lines wrap, the browser would wrap them elsewhere: then the field shows its text while one types.
    this.layer.classList.toggle("is-opaque", !exact);
    const rows = Math.max(now.length, this.at.rows);
    this.area.style.height = `${(exact ? rows : this.at.rows) * rowHeight}px`;
    if (exact) this.area.scrollTop = this.area.scrollLeft = 0;
    this.changes.replaceChildren(...(exact ? this.differences(now, fits(before) ? before : undefined, rows) : []));
  }

  // Paints over each row what is different from the image, from the first such column on; without `before`, all of it.
  differences(now, before, rows) {
    const { columnWidth, rowHeight, columns } = this.at;
    const made = [];
    for (let row = 0; row < rows; row++) {
      const [line, old] = [now[row] ?? "", before ? (before[row] ?? "") : " ".repeat(columns)];
      if (before && line === old) continue;
      let start = 0;
      while (before && start < line.length && line[start] === old[start]) start++;
      const span = document.createElement("span");
      span.append(...this.coloured(line, start));
      span.style.left = `${start * columnWidth}px`;
      span.style.top = `${row * rowHeight}px`;
      span.style.width = `${(Math.max(line.length, old.length) - start) * columnWidth}px`;
      made.push(span);
    }
    return made;
  }

  // A line from that column on, its words in the colours that they have in the image
  coloured(line, start) {
    const { words = {} } = this.at;
    const made = [];
    for (const { 0: part, index } of line.matchAll(/[A-Za-z_$][\w$]*|\d+|\s+|[^]/g)) {
      const text = part.slice(Math.max(0, start - index));
      if (!text) continue;
      const node = document.createElement("b");
      node.textContent = text;
      if (Object.hasOwn(words, part)) node.style.color = words[part];
      made.push(node);
    }
    return made;
  }

  // A line with spaces in place of its tabs
  expanded(line) {
    let text = "";
    for (const [at, part] of line.split("\t").entries()) {
      if (at) text += " ".repeat(this.at.tabColumns - (text.length % this.at.tabColumns));
      text += part;
    }
    return text;
  }
}
