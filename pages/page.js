"use strict";
// What a reader can do with a report: choose a node, search, sort a table, move through the rewrites, enlarge a graph.
const data = JSON.parse(document.getElementById("data").textContent);

function make(tag, text, attributes = {}) {
  const made = document.createElement(tag);
  made.textContent = text;
  Object.assign(made, attributes);
  return made;
}

const inside = (section, selector) => [...section.querySelectorAll(selector)];

// --- choosing a node
function membersOf(box) {
  return (box.dataset.members || box.dataset.box).split(" ").map(Number);
}

function linesOf(record, side, box) {
  return membersOf(box).flatMap((k) => record.graphs[side][k].lines || []);
}

function choose(section, record, side, box) {
  for (const other of inside(section, ".box")) other.classList.remove("chosen", "related");
  box.classList.add("chosen");
  const lines = new Set(linesOf(record, side, box));
  for (const pane of inside(section, ".pane")) {
    if (pane.dataset.side === side || !lines.size) continue;
    for (const other of inside(pane, ".box")) {
      if (linesOf(record, pane.dataset.side, other).some((line) => lines.has(line))) other.classList.add("related");
    }
  }
  const panel = section.querySelector(".panel");
  panel.replaceChildren(describe(section, record, side, membersOf(box)));
  const kernel = membersOf(box).map((k) => record.graphs[side][k].kernel).find(Boolean);
  if (kernel) showKernel(section, kernel, false);
}

function describe(section, record, side, members) {
  const list = document.createElement("dl");
  const add = (name, ...content) => {
    if (!content.length) return;
    const into = document.createElement("dd");
    into.append(...content.flatMap((c, n) => (n ? [document.createElement("br"), c] : [c])));
    list.append(make("dt", name), into);
  };
  const infos = members.map((k) => record.graphs[side][k]);
  const all = (field) => [...new Set(infos.flatMap((info) => info[field] || []))];
  add(members.length > 1 ? `${members.length} nodes` : "node", ...infos.slice(0, 40).map((i) => make("code", i.title)));
  add("your lines", ...all("lines").map((line) => make("code", line)));
  add("rules that shaped it", ...all("rules").map((rule) => {
    const link = make("a", rule, { href: "#rewrites" });
    link.onclick = () => stepTo(section, rule);
    return link;
  }));
  add("kernel", ...all("kernel").map((kernel) => {
    const link = make("a", kernel, { href: "#c" });
    link.onclick = (event) => { event.preventDefault(); showKernel(section, kernel, true); };
    return link;
  }));
  const code = all("kernel").map((kernel) => section.code && section.code.body(kernel)).filter(Boolean).join("\n\n");
  if (code) {
    const pre = make("pre", code.slice(0, 4000));
    pre.style.overflowX = "auto";
    add("its C", pre);
  }
  return list;
}

// --- the C
function numbered(pre) {
  const lines = pre.textContent.split("\n");
  pre.replaceChildren(...lines.map((line) => make("span", line)));
  const starts = (kernel) => lines.findIndex((line) => line.includes(kernel + "(") && !line.trimEnd().endsWith(";"));
  const ends = (from) => lines.findIndex((line, n) => n > from && line.startsWith("}"));
  return {
    body(kernel) {
      const from = starts(kernel);
      return from < 0 ? "" : lines.slice(from, ends(from) + 1).join("\n");
    },
    begin() { // what the reader looks for comes behind types and helpers
      const from = lines.findIndex((line) => /^[^/].*\bk_[0-9a-f]{16}\(/.test(line) && !line.endsWith(";"));
      const around = pre.closest(".scroll");
      if (from > 0) around.scrollTop = pre.children[from - 1].offsetTop - around.offsetTop - 8;
    },
    mark(kernel) {
      const from = starts(kernel);
      const to = ends(from);
      [...pre.children].forEach((span, n) => span.classList.toggle("here", from >= 0 && n >= from && n <= to));
      return pre.children[from];
    },
  };
}

function showKernel(section, kernel, scroll) {
  if (!section.code) return;
  const first = section.code.mark(kernel);
  if (!first) return;
  const around = first.closest(".scroll");
  around.scrollTop = first.offsetTop - around.offsetTop - 40;
  if (scroll) first.closest("section").scrollIntoView({ block: "start" });
}

// --- rewrites
// A state is the list of the lines of the graph; each rewrite says which went, changed and came.
function stateAfter(trace, position) {
  const lines = [...trace.graph];
  let touched = new Set();
  for (const { changes } of trace.rewrites.slice(0, position)) {
    touched = new Set();
    let place = lines.length - 1;
    for (const gone of changes.removed) {
      const at = lines.indexOf(gone);
      if (at >= 0) { place = at; lines.splice(at, 1); }
    }
    for (const [old, now] of changes.changed) {
      const at = lines.indexOf(old);
      if (at >= 0) { lines[at] = now; place = Math.min(place, at); touched.add(now); }
    }
    lines.splice(Math.max(place, 0), 0, ...changes.added);
    for (const line of changes.added) touched.add(line);
  }
  return { lines, touched };
}

function setUpRewrites(section, record) {
  const slider = section.querySelector(".steps input");
  if (!slider || !record.trace) return;
  const { rewrites } = record.trace;
  const where = section.querySelector(".steps output");
  const change = section.querySelector(".change");
  const state = section.querySelector(".state");
  const row = (line, kind) => make("span", line, kind ? { className: kind } : {});
  const show = () => {
    const position = Number(slider.value);
    const done = rewrites[position - 1];
    where.textContent = done ? `${position} of ${rewrites.length}: ${done.rule} (${done.stage})` : "as you built it";
    const rows = [];
    if (done) {
      const { removed, changed, added } = done.changes;
      for (const line of removed) rows.push(row(`- ${line}`, "gone"));
      for (const [old, now] of changed) rows.push(row(`- ${old}`, "gone"), row(`+ ${now}`, "came"));
      for (const line of added) rows.push(row(`+ ${line}`, "came"));
      if (!rows.length) rows.push(row("equal values made one"));
      if (record.rules && record.rules[done.rule]) rows.push(row(""), row(record.rules[done.rule]));
      for (const line of done.lines) rows.push(row(`at ${line.text}`));
    } else rows.push(row("move the slider to see each rewrite"));
    change.replaceChildren(...rows);
    const { lines, touched } = stateAfter(record.trace, position);
    state.replaceChildren(...lines.map((line) => row(line, touched.has(line) ? "came" : "")));
    const first = state.querySelector(".came");
    if (first) state.parentElement.scrollTop = first.offsetTop - state.parentElement.offsetTop - 60;
  };
  slider.oninput = show;
  for (const button of inside(section, ".steps button")) {
    button.onclick = () => { slider.value = Number(slider.value) + Number(button.dataset.by); show(); };
  }
  section.showRewrites = show;
  show();
}

function stepTo(section, rule) {
  const slider = section.querySelector(".steps input");
  const { rewrites } = data[section.dataset.function].trace;
  const after = rewrites.findIndex((r, n) => r.rule === rule && n + 1 > Number(slider.value));
  const found = after >= 0 ? after : rewrites.findIndex((r) => r.rule === rule);
  if (found >= 0) { slider.value = found + 1; section.showRewrites(); }
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

// --- search
function search(words) {
  const wanted = words.trim().toLowerCase();
  const fits = (text) => !wanted || text.toLowerCase().includes(wanted);
  let found = 0;
  for (const section of document.querySelectorAll("article")) {
    const record = data[section.dataset.function];
    for (const pane of inside(section, ".pane")) {
      for (const box of inside(pane, ".box")) {
        const said = membersOf(box).map((k) => record.graphs[pane.dataset.side][k]);
        const hit = wanted && said.some((i) => fits([i.title, i.kernel, ...(i.lines || []), ...(i.rules || [])].join(" ")));
        box.classList.toggle("found", Boolean(hit));
        found += Boolean(hit);
      }
    }
    for (const row of inside(section, "table.sortable tbody tr")) {
      const hit = fits(row.textContent);
      row.classList.toggle("hidden", !hit);
      found += Boolean(wanted && hit);
    }
  }
  document.getElementById("found").textContent = wanted ? `${found} found` : "";
}

// --- enlarging
function zoom(pane, factor) {
  const svg = pane.querySelector("svg");
  const width = svg.viewBox.baseVal.width;
  if (!pane.clientWidth) return; // not shown now
  const now = svg.getBoundingClientRect().width / width;
  const scale = factor ? now * factor : Math.min(1, Math.max(0.4, (pane.clientWidth - 8) / width));
  const around = svg.parentElement;
  const middle = factor ? (around.scrollLeft + around.clientWidth / 2) / around.scrollWidth : 0.5;
  svg.setAttribute("width", width * scale);
  svg.setAttribute("height", svg.viewBox.baseVal.height * scale);
  around.scrollLeft = middle * around.scrollWidth - around.clientWidth / 2; // what was in the middle stays there
}

// --- beginning
for (const section of document.querySelectorAll("article")) {
  const record = data[section.dataset.function];
  const code = section.querySelector("pre.c");
  if (code) {
    section.code = numbered(code);
    section.code.begin();
  }
  setUpRewrites(section, record);
  for (const pane of inside(section, ".pane")) {
    pane.onclick = (event) => {
      const box = event.target.closest(".box");
      if (box) choose(section, record, pane.dataset.side, box);
    };
    for (const button of inside(pane, "button")) button.onclick = () => zoom(pane, Number(button.dataset.by));
    if (pane.querySelector("svg")) zoom(pane, 0);
  }
}
for (const header of document.querySelectorAll("table.sortable th")) {
  header.tabIndex = 0;
  header.onclick = () => sortBy(header);
  header.onkeydown = (event) => { if (event.key === "Enter") sortBy(header); };
}
document.getElementById("search").oninput = (event) => search(event.target.value);
for (const link of document.querySelectorAll("header nav a")) {
  link.onclick = (event) => {
    const target = document.querySelector(`article:not([hidden]) section.${link.hash.slice(1)}`);
    if (!target) return;
    event.preventDefault();
    target.scrollIntoView();
  };
}
const choice = document.getElementById("function");
if (choice) {
  choice.onchange = () => {
    for (const section of document.querySelectorAll("article")) {
      section.hidden = section.dataset.function !== choice.value;
      for (const pane of inside(section, ".pane")) if (pane.querySelector("svg")) zoom(pane, 0);
    }
  };
}
document.body.dataset.ready = "yes";
