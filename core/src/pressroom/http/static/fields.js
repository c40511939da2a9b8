// Form fields: converts their texts to API values, by the same rules as the server's `input_from_form`.

class BadField extends Error {
  constructor(field, message) {
    super(message);
    this.field = field;
  }
}

class Field {
  constructor(box) {
    this.box = box;
    this.spec = JSON.parse(box.dataset.field);
    this.controls = $$(`[name="${this.spec.name}"]:not([type=hidden], [type=file])`, box);
    this.control = this.controls[0];
    this.error = $(".field-error", box);
    this.target = box.id ? box : this.control;
    this.mode = box.closest("[data-mode]")?.dataset.mode;
    this.cases = box.dataset.cases?.split(" ");
    this.uploads = "upload" in ($(".upload", box)?.dataset ?? {});
    if (box.classList.contains("takes-only-files")) this.target = $("input[type=file]", box);
    if ("code" in (this.control.dataset ?? {})) this.editor = new Editor(this.control);
  }

  get text() {
    if (this.control.type === "checkbox") return String(this.control.checked);
    if (this.control.type === "radio") return this.controls.find((radio) => radio.checked)?.value ?? "";
    return this.control.value;
  }

  set text(text) {
    if (this.control.type === "checkbox") this.control.checked = text === "true";
    else if (this.control.type === "radio") for (const radio of this.controls) radio.checked = radio.value === text;
    else this.control.value = text;
    this.control.dispatchEvent(new Event("input", { bubbles: true }));
  }

  reset() {
    const { default: value = "" } = this.spec;
    this.text = Array.isArray(value) ? value.join("\n") : typeof value === "object" ? JSON.stringify(value, null, 2) : String(value);
    // Without an empty option, select the first one.
    if (this.control.tagName === "SELECT" && this.control.selectedIndex < 0) this.control.selectedIndex = 0;
    if (this.mode !== undefined && this.control.type === "radio" && !this.controls.some((radio) => radio.checked)) this.control.checked = true;
  }

  // The value for the API, or undefined if the parameter is omitted.
  get value() {
    const { text } = this;
    const value = this.parse(text);
    if (value === undefined || this.spec.required) return value;
    const isDefault = this.spec.default === undefined ? value === false : same(value, this.spec.default);
    return isDefault ? undefined : value;
  }

  parse(text) {
    const { kind, choices, empty } = this.spec;
    if (kind === "choice") return text === "" ? undefined : (choices.find((choice) => String(choice) === text) ?? text);
    if (kind === "boolean") return text === "true";
    if (kind === "number") return text.trim() === "" ? undefined : Number(text);
    if (kind === "object") return this.parseObject(text);
    if (kind === "list") return this.parseList(text);
    return text || empty ? text : undefined;
  }

  // Lists have one item per line.
  parseList(text) {
    const items = text.split("\n").map((line) => line.trim()).filter(Boolean);
    return items.length || this.spec.default ? items : undefined;
  }

  parseObject(text) {
    if (!text.trim()) return undefined;
    let value;
    try {
      value = JSON.parse(text);
    } catch (error) {
      throw new BadField(this, `Must be JSON (${error.message})`);
    }
    if (value === null || typeof value !== "object" || Array.isArray(value)) {
      throw new BadField(this, 'Must be a JSON object, such as {"title": "Hello"}');
    }
    return value;
  }

  // Shows the label for a value of the form's switch, which is given by its number.
  relabel(number) {
    const { label, labels } = this.spec;
    if (labels) $("[data-label]", this.box).textContent = labels[number] ?? label;
  }

  show(problem) {
    this.error.textContent = problem;
    this.error.hidden = !problem;
    const section = problem && this.box.closest("details");
    if (section) section.open = true;
    const described = (this.target.getAttribute("aria-describedby") ?? "").split(" ").filter((id) => id && id !== this.error.id);
    if (problem) described.push(this.error.id);
    if (!described.length) this.target.removeAttribute("aria-describedby");
    else this.target.setAttribute("aria-describedby", described.join(" "));
    for (const control of this.controls) {
      if (problem) control.setAttribute("aria-invalid", "true");
      else control.removeAttribute("aria-invalid");
    }
    if (!this.editor) return;
    $(".excerpt", this.box)?.remove();
    const link = this.editor.point(problem);
    if (link) this.error.append(" ", link);
  }
}

// An object parameter whose members have their own fields. Errors about the object itself appear at the head of the group.
class Group {
  constructor(box) {
    this.target = box;
    this.name = box.dataset.group;
    this.error = $(":scope > .field-error", box);
  }

  show(problem) {
    this.error.textContent = problem;
    this.error.hidden = !problem;
  }
}

function same(one, other) {
  return one === other || (typeof one === "object" && JSON.stringify(one) === JSON.stringify(other));
}

// Helpers beside fields: sliders for numbers, pickers for colours, and character counts for texts.

function connectSlider(control, slider) {
  const follow = () => (slider.value = control.value);
  slider.hidden = false;
  slider.addEventListener("input", () => {
    control.value = slider.value;
    control.dispatchEvent(new Event("input", { bubbles: true }));
  });
  control.addEventListener("input", follow);
  follow();
}

function connectSwatch(control, swatch) {
  const follow = () => {
    const digits = /^#?([0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})$/i.exec(control.value.trim())?.[1];
    if (digits) swatch.value = "#" + (digits.length < 6 ? digits.replace(/./g, "$&$&") : digits).slice(0, 6);
  };
  swatch.hidden = false;
  swatch.addEventListener("input", () => {
    control.value = swatch.value;
    control.dispatchEvent(new Event("input", { bubbles: true }));
  });
  control.addEventListener("input", follow);
  follow();
}

function connectCounter(control, counter) {
  const limit = Number(counter.dataset.count);
  control.addEventListener("input", () => {
    const length = [...control.value].length;
    counter.textContent = length > limit * 0.8 ? `${length.toLocaleString("en")} of ${limit.toLocaleString("en")}` : "";
  });
}

