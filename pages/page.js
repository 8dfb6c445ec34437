"use strict";
// A reader's hands on a report: choose a node, search, sort a table, move through the rewrites, change the function.
const data = JSON.parse(document.getElementById("data").textContent);

function make(tag, text, attributes = {}) {
  const made = document.createElement(tag);
  made.textContent = text;
  return Object.assign(made, attributes);
}

const inside = (section, selector) => [...section.querySelectorAll(selector)];

// Do something as soon as an element is about to be seen.
function whenNear(element, act) {
  new IntersectionObserver((seen, observer) => {
    if (!seen.some((each) => each.isIntersecting)) return;
    observer.disconnect();
    act();
  }, { rootMargin: "300px" }).observe(element);
}

// --- the parts of a function
class Article {
  constructor(section, record) {
    Object.assign(this, { section, record, views: {}, nodes: {} });
    const code = section.querySelector("pre.c");
    this.code = code && numbered(code);
    if (record.trace) this.rewrites = new Rewrites(section, record);
    const by = section.querySelector("select.by");
    if (by) by.onchange = () => this.colour(by.value);
    for (const pane of inside(section, ".pane")) this.fill(pane, by ? by.value : "kind");
  }

  fill(pane, by) {
    const { side } = pane.dataset, view = () => (side === "step" ? this.rewrites.view : this.views[side]);
    for (const button of inside(pane, ".bar button")) {
      button.onclick = () => { if (view()) Number(button.dataset.by) ? view().zoom(Number(button.dataset.by)) : view().fit(); };
    }
    if (side === "step") return;
    this.nodes[side] = prepared(this.record.graphs[side], this.record.places);
    this.views[side] = new GraphView(pane.querySelector(".canvas"), { by: side === "after" ? by : "kind", onChoose: (members) => this.choose(side, members) });
    this.views[side].show(this.nodes[side]);
  }

  colour(by) {
    this.views.after.colour(by);
    for (const scale of inside(this.section, ".scale")) scale.hidden = scale.dataset.by !== by;
  }

  linesOf(side, members) {
    return members.flatMap((k) => this.record.graphs[side][k].lines || []);
  }

  // Mark these nodes, and on the other side those of the same lines; say all about them.
  choose(side, members) {
    const lines = new Set(this.linesOf(side, members));
    for (const [name, view] of Object.entries(this.views)) {
      const all = this.record.graphs[name].map((_, k) => k);
      view.mark("chosen", new Set(name === side ? members : []));
      view.mark("related", new Set(name === side ? [] : all.filter((k) => this.linesOf(name, [k]).some((line) => lines.has(line)))));
    }
    this.section.querySelector(".panel").replaceChildren(this.described(side, members));
    const kernel = members.map((k) => this.record.graphs[side][k].kernel).find(Boolean);
    if (kernel) this.showKernel(kernel, false);
  }

  described(side, members) {
    const { record } = this, list = document.createElement("dl");
    const add = (name, ...content) => {
      if (!content.length) return;
      const into = document.createElement("dd");
      into.append(...content.flatMap((c, n) => (n ? [document.createElement("br"), c] : [c])));
      list.append(make("dt", name), into);
    };
    const nodes = members.map((k) => record.graphs[side][k]);
    const all = (field) => [...new Set(nodes.flatMap((node) => node[field] || []))];
    const link = (text, place, act) => {
      const made = make("a", text, { href: place });
      made.onclick = (event) => { event.preventDefault(); act(); };
      return made;
    };
    add(members.length > 1 ? `${members.length} nodes` : "node", ...nodes.slice(0, 40).map((node) => make("code", node.title)));
    const share = shareOf({ members }, record.graphs[side]);
    if (share) add("measured time", percent(share));
    add("your lines", ...all("lines").slice(0, 40).map((n) => make("code", `${record.places[n].text}  ${record.places[n].code}`)));
    add("rules that shaped it", ...all("rules").map((rule) => link(rule, "#rewrites", () => {
      this.rewrites.gotoRule(rule);
      this.section.querySelector("section.rewrites").scrollIntoView();
    })));
    add("kernel", ...all("kernel").map((kernel) => link(`${record.computes[kernel] || ""}  ${kernel}`, "#c", () => this.showKernel(kernel, true))));
    const code = all("kernel").map((kernel) => this.code && this.code.body(kernel)).filter(Boolean).join("\n\n");
    if (code) {
      const pre = make("pre", code.slice(0, 4000));
      pre.style.overflowX = "auto";
      add("its C", pre);
    }
    return list;
  }

  showKernel(kernel, scroll) {
    const first = this.code && this.code.mark(kernel);
    if (!first) return;
    const around = first.closest(".scroll");
    around.scrollTop = first.offsetTop - around.offsetTop - 40;
    if (scroll) first.closest("section").scrollIntoView({ block: "start" });
  }

  // Mark the nodes that fit; the number of them and of the rows that stay.
  search(fits) {
    let found = 0;
    for (const [side, view] of Object.entries(this.views)) {
      const texts = this.record.graphs[side].map((node) => [node.label, node.title, node.kernel, ...(node.rules || []),
        ...(node.lines || []).map((n) => `${this.record.places[n].text} ${this.record.places[n].code}`)].join(" "));
      const hits = texts.flatMap((text, k) => (fits && fits(text) ? [k] : []));
      view.mark("found", new Set(hits));
      found += hits.length;
    }
    for (const row of inside(this.section, "table.sortable tbody tr")) {
      row.classList.toggle("hidden", Boolean(fits) && !fits(row.textContent));
      found += Boolean(fits) && fits(row.textContent);
    }
    for (const more of inside(this.section, "details.rows")) if (fits) more.open = true;
    return found;
  }

  // Show the next of the nodes that a search has found.
  revealFound() {
    for (const view of Object.values(this.views)) {
      const found = [...view.marked.found];
      if (!found.length) continue;
      view.shown = ((view.shown ?? -1) + 1) % found.length;
      view.reveal(found[view.shown]);
    }
  }
}

// --- the C
function numbered(pre) {
  const lines = pre.textContent.split("\n");
  pre.replaceChildren(...lines.map((line) => make("span", line)));
  const starts = (kernel) => lines.findIndex((line) => line.includes(kernel + "(") && !line.trimEnd().endsWith(";"));
  const ends = (from) => lines.findIndex((line, n) => n > from && line.startsWith("}"));
  const begin = lines.findIndex((line) => /^[^/].*\bk_[0-9a-f]{16}\(/.test(line) && !line.endsWith(";"));
  const around = pre.closest(".scroll");
  whenNear(around, () => { // types and helpers come before the first kernel
    if (begin > 0 && !around.scrollTop) around.scrollTop = pre.children[begin - 1].offsetTop - around.offsetTop - 8;
  });
  return {
    body(kernel) {
      const from = starts(kernel);
      return from < 0 ? "" : lines.slice(from, ends(from) + 1).join("\n");
    },
    mark(kernel) {
      const from = starts(kernel), to = ends(from);
      [...pre.children].forEach((span, n) => span.classList.toggle("here", from >= 0 && n >= from && n <= to));
      return pre.children[from];
    },
  };
}

// --- tables
function sortBy(header) {
  const table = header.closest("table");
  const column = [...header.parentElement.children].indexOf(header);
  const value = (row) => {
    const cell = row.children[column];
    return cell.dataset.value === undefined ? cell.textContent : Number(cell.dataset.value);
  };
  const rows = [...table.tBodies[0].rows];
  const numbers = rows.some((row) => typeof value(row) === "number");
  const rising = header.ariaSort ? header.ariaSort !== "ascending" : !numbers;
  for (const other of header.parentElement.children) other.removeAttribute("aria-sort");
  header.setAttribute("aria-sort", rising ? "ascending" : "descending");
  rows.sort((a, b) => {
    const [x, y] = [value(a), value(b)];
    const order = typeof x === typeof y ? (x < y ? -1 : x > y ? 1 : 0) : typeof x === "number" ? -1 : 1;
    return rising ? order : -order;
  });
  table.tBodies[0].append(...rows);
}

// --- beginning
const sections = [...document.querySelectorAll("article")];
const articles = sections.map(() => null);

// The article of a function, made when it is first seen.
function article(n) {
  sections.forEach((section, k) => { section.hidden = k !== n; });
  articles[n] = articles[n] || new Article(sections[n], data[sections[n].dataset.function]);
  return articles[n];
}

function search(words) {
  const wanted = words.trim().toLowerCase(), fits = wanted ? (text) => text.toLowerCase().includes(wanted) : null;
  const found = articles.filter(Boolean).reduce((sum, each) => sum + each.search(fits), 0);
  document.getElementById("found").textContent = wanted ? `${found} found` : "";
}

// Offer the Chrome trace of the function that is shown as a file.
function saveTrace() {
  const record = data[sections.findIndex((section) => !section.hidden)];
  const file = new Blob([JSON.stringify({ traceEvents: record.events, displayTimeUnit: "ms" })], { type: "application/json" });
  const link = make("a", "", { href: URL.createObjectURL(file), download: `${record.name.replace(/[^\w.-]+/g, "_") || "function"}.trace.json` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

article(0);
for (const header of document.querySelectorAll("table.sortable th")) {
  header.tabIndex = 0;
  header.onclick = () => sortBy(header);
  header.onkeydown = (event) => { if (event.key === "Enter") sortBy(header); };
}
const field = document.getElementById("search");
field.oninput = () => search(field.value);
field.onkeydown = (event) => { if (event.key === "Enter") for (const each of articles) if (each && !each.section.hidden) each.revealFound(); };
for (const link of document.querySelectorAll("header nav a")) {
  link.onclick = (event) => {
    const target = document.querySelector(`article:not([hidden]) section.${link.hash.slice(1)}`);
    if (!target) return;
    event.preventDefault();
    target.scrollIntoView();
  };
}
const choice = document.getElementById("function");
if (choice) choice.onchange = () => { article(Number(choice.value)); search(field.value); };
const chromeTrace = document.getElementById("chrome");
if (chromeTrace) chromeTrace.onclick = saveTrace;
document.body.dataset.ready = "yes";
