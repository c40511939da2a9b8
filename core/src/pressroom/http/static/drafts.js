// Drafts: what people write is kept in their browser until it is saved, each tab's apart from those of other tabs.

const MAX_DRAFT_AGE_MS = 60 * 86_400_000;
const ANSWER_MS = 200;
const MAX_OFFERS = 5;
const SENT = "pressroom draft that was sent";

// A browser may forbid a page to keep anything, or have no room; the text then lives as long as the page.
const drafts = {
  read(key) {
    try {
      return JSON.parse(localStorage.getItem(key));
    } catch {
      return null;
    }
  },
  write(key, draft) {
    try {
      localStorage.setItem(key, JSON.stringify(draft));
      return true;
    } catch {
      return false;
    }
  },
  remove(key) {
    try {
      localStorage.removeItem(key);
    } catch {
      // There is nothing to remove.
    }
  },
  keys(prefix) {
    try {
      return Object.keys(localStorage).filter((key) => key === prefix || key.startsWith(`${prefix} `));
    } catch {
      return [];
    }
  },
};

// What was sent from this tab, and has arrived, is no draft any more.
function forgetSent(hasArrived) {
  try {
    const sent = sessionStorage.getItem(SENT);
    if (sent && hasArrived) drafts.remove(sent);
    sessionStorage.removeItem(SENT);
  } catch {
    // Drafts are kept at most once too often.
  }
}

// The place of a tab's draft. Pages in other tabs with a form of the same name are asked which drafts are theirs.
class DraftPlace {
  constructor(name) {
    this.prefix = `pressroom draft ${name}`;
    this.page = newId();
    this.taken = new Set();
    try {
      this.id = sessionStorage.getItem(this.prefix);
    } catch {
      // Then each page is a tab of its own.
    }
    if (!this.id) this.renew();
    this.listen();
    addEventListener("pagehide", () => this.channel?.close());
    addEventListener("pageshow", ({ persisted }) => persisted && this.listen());
  }

  get key() {
    return `${this.prefix} ${this.id}`;
  }

  // Begins another draft: the one from before stays where it is.
  renew() {
    this.id = newId();
    try {
      sessionStorage.setItem(this.prefix, this.id);
    } catch {
      // See above.
    }
  }

  listen() {
    if (!("BroadcastChannel" in window)) return;
    this.channel = new BroadcastChannel(this.prefix);
    this.channel.addEventListener("message", ({ data }) => {
      if (data.asks) this.channel.postMessage({ to: data.asks, key: this.key });
      else if (data.to === this.page) {
        this.taken.add(data.key);
        // A duplicated tab begins with what the first one had.
        if (data.key === this.key) this.renew();
      }
    });
  }

  // The drafts of tabs that are gone, the newest first
  async left() {
    this.channel?.postMessage({ asks: this.page });
    await new Promise((resolve) => setTimeout(resolve, ANSWER_MS));
    const found = [];
    for (const key of drafts.keys(this.prefix)) {
      const draft = drafts.read(key);
      if (key === this.key || this.taken.has(key)) continue;
      if (!draft?.values || Date.now() - draft.at > MAX_DRAFT_AGE_MS) drafts.remove(key);
      else found.push({ key, draft });
    }
    return found.sort((one, other) => other.draft.at - one.draft.at).slice(0, MAX_OFFERS);
  }
}

function newId() {
  return Math.random().toString(36).slice(2, 12);
}

// What a draft is called where it is offered: its title, else how it begins
function draftName({ values }) {
  const text = (values.title || values.body || "").trim().replace(/\s+/g, " ");
  return text.length > 60 ? `${text.slice(0, 59)}…` : text || "Untitled";
}

function timeOf(draft) {
  return new Date(draft.at).toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
}
