// Typing in the image: a textarea overlays a parameter's text in the image, with only its caret visible. Changes since
// the image was rendered are drawn over it, so that typed characters appear at once. The page imports this module when an
// image has editable text.

// Characters that take one column each. The soft hyphen (U+00AD) is invisible, so it's excluded.
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
      // The parameter's own field fires the event that the form handles.
      event.stopPropagation();
      this.field.text = this.area.value;
    });
    canvas.append(this.layer);
    new ResizeObserver(() => this.fit()).observe(this.image);
  }

  // Whether the user can type in the image. On touch screens, studio.css hides the overlay.
  get isOpen() {
    return this.layer.offsetWidth > 0;
  }

  // Updates the overlay for a new image. `place` is the position of the text in it, and `input` its parameters.
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

  // Aligns the overlay with the image, at the size at which the page shows it.
  fit() {
    if (!this.at || !this.image.clientWidth) return;
    const { offsetLeft, offsetTop, clientWidth, clientHeight } = this.image;
    const scale = clientWidth / this.at.imageWidth;
    this.layer.style.transform = `translate(${offsetLeft}px, ${offsetTop}px) scale(${scale})`;
    this.layer.style.height = `${clientHeight / scale}px`;
  }

  // Updates the overlay from the parameter's field.
  follow() {
    if (!this.field) return;
    const { text } = this.field;
    if (this.area.value !== text) this.area.value = text;
    const { columns, rowHeight } = this.at;
    const [now, before] = [text, this.drawn].map((code) => code.split("\n").map((line) => this.expanded(line)));
    const fits = (lines) => lines.every((line) => line.length <= columns && ONE_COLUMN.test(line));
    const exact = fits(now);
    // The browser would wrap long lines at other places than the image, so the textarea shows its own text while it has
    // the focus.
    this.layer.classList.toggle("is-opaque", !exact);
    const rows = Math.max(now.length, this.at.rows);
    this.area.style.height = `${(exact ? rows : this.at.rows) * rowHeight}px`;
    if (exact) this.area.scrollTop = this.area.scrollLeft = 0;
    this.changes.replaceChildren(...(exact ? this.differences(now, fits(before) ? before : undefined, rows) : []));
  }

  // Returns an element for each row that differs from the image, from the first different column to the end. Without
  // `before`, the elements cover all rows entirely.
  differences(now, before, rows) {
    const { columnWidth, rowHeight, columns } = this.at;
    const spans = [];
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
      spans.push(span);
    }
    return spans;
  }

  // Returns the nodes of a line from a column on, with words in the colours that they have in the image.
  coloured(line, start) {
    const { words = {} } = this.at;
    const nodes = [];
    for (const { 0: part, index } of line.matchAll(/[A-Za-z_$][\w$]*|\d+|\s+|[^]/g)) {
      const text = part.slice(Math.max(0, start - index));
      if (!text) continue;
      const node = document.createElement("b");
      node.textContent = text;
      if (Object.hasOwn(words, part)) node.style.color = words[part];
      nodes.push(node);
    }
    return nodes;
  }

  // Returns a line with its tabs replaced by spaces.
  expanded(line) {
    let text = "";
    for (const [at, part] of line.split("\t").entries()) {
      if (at) text += " ".repeat(this.at.tabColumns - (text.length % this.at.tabColumns));
      text += part;
    }
    return text;
  }
}
