// File fields: a file that is chosen, dropped or pasted becomes the field's text, as a `data:` URL.

const $ = (selector, root) => root.querySelector(selector);
const MAX_EDGES = [2048, 1024, 512, 256, 128];

class Refused extends Error {}

// Connects the file fields. An image that is pasted, or dropped onto the canvas, goes into the first one.
export function connectUploads(fields, canvas) {
  const [first] = fields.map((field) => new Upload(field));
  if (canvas) first.acceptDrops(canvas);
  document.addEventListener("paste", (event) => {
    const file = [...(event.clipboardData?.files ?? [])].find(({ type }) => type.startsWith("image/"));
    if (!file) return;
    event.preventDefault();
    first.take(file);
  });
}

class Upload {
  constructor(field) {
    this.field = field;
    this.box = $(".upload", field.box);
    this.picker = $("input[type=file]", this.box);
    this.text = $(".upload-text", this.box);
    this.prompt = [...this.text.childNodes];
    this.remove = $("[data-remove]", this.box);
    this.types = this.picker.accept.split(",");
    for (const plain of this.box.querySelectorAll(".upload-plain")) plain.remove();
    // Choosing a file doesn't change the form's input; the `data:` URL does, with an event of its own.
    this.picker.addEventListener("input", (event) => event.stopPropagation());
    this.picker.addEventListener("change", () => this.take(this.picker.files[0]));
    this.remove.addEventListener("click", () => {
      this.field.text = "";
      this.picker.value = "";
      this.picker.focus();
    });
    this.acceptDrops(field.box);
    field.control.addEventListener("input", () => this.follow());
    this.follow();
  }

  acceptDrops(box) {
    box.addEventListener("dragover", (event) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      box.classList.add("is-dropping");
    });
    for (const name of ["dragleave", "drop"]) box.addEventListener(name, () => box.classList.remove("is-dropping"));
    box.addEventListener("drop", (event) => {
      const file = event.dataTransfer?.files[0];
      if (!file) return;
      event.preventDefault();
      this.take(file);
    });
  }

  async take(file) {
    if (!file) return;
    try {
      this.field.text = await this.read(file);
      this.text.textContent = file.name;
      const section = this.field.box.closest("details");
      if (section) section.open = true;
    } catch (error) {
      this.field.show(error instanceof Refused ? error.message : `${file.name} isn't an image that this browser can open.`);
      this.field.target.focus();
    }
  }

  get maxBytes() {
    return Math.floor(((this.field.spec.max ?? 200_000) - 64) * 0.75);
  }

  // Returns the file as a `data:` URL: unchanged if it's acceptable, else converted and scaled down to fit.
  async read(file) {
    const known = this.types.includes(file.type);
    if (file.type === "image/svg+xml" && known) {
      if (file.size > this.maxBytes) throw new Refused(`${file.name} has ${kilobytes(file.size)}; an SVG may have ${kilobytes(this.maxBytes)}.`);
      return dataUrl(file);
    }
    const image = await pixelsOf(file);
    const [width, height] = [image.naturalWidth ?? image.width, image.naturalHeight ?? image.height];
    if (known && file.size <= this.maxBytes && Math.max(width, height) <= MAX_EDGES[0]) return dataUrl(file);
    for (const edge of MAX_EDGES) {
      const smaller = await this.smaller(image, Math.min(1, edge / Math.max(width, height)), width, height);
      if (smaller && smaller.size <= this.maxBytes) return dataUrl(smaller);
    }
    throw new Refused(`${file.name} is too large; choose an image with fewer pixels.`);
  }

  async smaller(image, share, width, height) {
    const canvas = document.createElement("canvas");
    canvas.width = Math.max(1, Math.round(width * share));
    canvas.height = Math.max(1, Math.round(height * share));
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    const type = ["image/webp", "image/png"].find((candidate) => this.types.includes(candidate)) ?? this.types[0];
    return new Promise((resolve) => canvas.toBlob(resolve, type, 0.9));
  }

  // Shows the image that the field contains.
  follow() {
    const { text } = this.field;
    const holds = text.startsWith("data:");
    $("img", this.box)?.remove();
    this.field.box.classList.toggle("has-file", holds);
    this.remove.hidden = !holds;
    if (!holds) {
      this.text.replaceChildren(...this.prompt);
      return;
    }
    const image = document.createElement("img");
    image.alt = "";
    image.src = text;
    this.text.before(image);
    this.text.textContent = `${/^data:image\/([a-z]+)/i.exec(text)?.[1].toUpperCase() ?? "Image"}, ${kilobytes(text.length * 0.75)}`;
  }
}

function kilobytes(bytes) {
  return `${Math.max(1, Math.round(bytes / 1000)).toLocaleString("en")} kB`;
}

function dataUrl(blob) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener("load", () => resolve(reader.result));
    reader.addEventListener("error", () => reject(reader.error));
    reader.readAsDataURL(blob);
  });
}

async function pixelsOf(file) {
  const image = new Image();
  image.src = URL.createObjectURL(file);
  try {
    await image.decode();
    return image;
  } finally {
    URL.revokeObjectURL(image.src);
  }
}
