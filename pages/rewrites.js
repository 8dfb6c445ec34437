"use strict";
// The rewrites: the state of the graph before and after each of them, as text and as nodes.
//
// A state is a list of positions in `trace.texts`; each rewrite says which lines went, changed and came.
const CONTEXT = 3; // unchanged lines that are shown around changed ones

// The rows of a rewrite of a state: all lines of before and of after, `mark` is "gone", "came" or "".
function rowsOfRewrite(lines, rewrite) {
  const gone = new Set(rewrite.removed), now = new Map(rewrite.changed);
  if (rewrite.returned.length) now.set(...rewrite.returned);
  const first = lines.findIndex((line) => gone.has(line) || now.has(line));
  const rows = [];
  lines.forEach((line, n) => {
    if (n === (first < 0 ? lines.length - 1 : first)) for (const added of rewrite.added) rows.push({ line: added, mark: "came" });
    if (now.has(line)) rows.push({ line, mark: "gone", other: now.get(line) }, { line: now.get(line), mark: "came", other: line });
    else rows.push({ line, mark: gone.has(line) ? "gone" : "" });
  });
  return rows;
}

// The states of a trace; those that are asked for one after the other are made one of the other.
class States {
  constructor(trace) {
    this.trace = trace;
    this.restart();
  }

  restart() {
    [this.position, this.lines] = [0, this.trace.graph];
    this.rows = this.lines.map((line) => ({ line, mark: "" }));
  }

  // The rows after so many rewrites; the last of them is marked.
  at(position) {
    if (position < this.position) this.restart();
    while (this.position < position) {
      this.rows = rowsOfRewrite(this.lines, this.trace.rewrites[this.position++]);
      this.lines = this.rows.filter((row) => row.mark !== "gone").map((row) => row.line);
    }
    return this.rows;
  }
}

// --- as a graph
// The nodes of before and of after together, each with its mark; inputs before users.
function nodesOfRows(trace, rows, inputs) {
  const made = [], before = new Map(), after = new Map();
  const results = new Set(rows.flatMap(({ line }) => (trace.nodes[line] ? [] : trace.texts[line].replace("return ", "").split(", "))));
  const leaf = (name) => {
    before.set(name, made.length);
    after.set(name, made.length);
    made.push({ ...inputs.get(name), id: `input ${name}`, inputs: [] });
  };
  for (const { line, mark } of rows) {
    if (!trace.nodes[line]) continue;
    const [names, op, kind, reads, lines] = trace.nodes[line], text = trace.texts[line];
    for (const name of reads) if (inputs.has(name) && !after.has(name)) leaf(name);
    for (const name of names) {
      if (mark !== "came") before.set(name, made.length);
      if (mark !== "gone") after.set(name, made.length);
    }
    const type = /: (\w+(\[[^\]]*\])?)/.exec(text)[1];
    made.push({ id: names[0] + (mark === "gone" ? " before" : ""), op, kind, reads, lines, mark, title: text, detail: `${names[0]}: ${type}`, output: names.some((name) => results.has(name)) });
  }
  made.forEach((node) => {
    if (!node.reads) return;
    const of = (from) => node.reads.map((name) => from.get(name)).filter((k) => k !== undefined);
    node.inputs = node.mark === "gone" ? of(before) : [...of(after), ...of(before).filter((k) => made[k].mark === "gone" && !node.mark)];
    const constant = (name) => shortened(name.replace(/^\w+\((.*)\)$/, "$1"), 12);
    const shown = node.reads.map((name) => (before.has(name) || after.has(name) ? "·" : constant(name)));
    node.label = shown.some((word) => word !== "·") ? `${node.op}(${shown.join(", ")})` : node.op;
  });
  return sorted(made);
}

// The nodes with inputs before users; what would close a circle of before and after is left out.
function sorted(nodes) {
  const state = nodes.map(() => 0), order = [], place = [];
  nodes.forEach((_, root) => {
    const stack = [[root, 0]];
    while (stack.length) {
      const top = stack[stack.length - 1], [k, n] = top;
      if (!n && state[k]) { stack.pop(); continue; }
      state[k] = 1;
      if (n < nodes[k].inputs.length) {
        top[1]++;
        if (!state[nodes[k].inputs[n]]) stack.push([nodes[k].inputs[n], 0]);
      } else {
        place[k] = order.length;
        order.push(k);
        stack.pop();
      }
    }
  });
  return order.map((k) => ({ ...nodes[k], inputs: [...new Set(nodes[k].inputs.map((i) => place[i]).filter((i) => i < place[k]))] }));
}

// --- as text
// A line whose parts that its other state lacks are emphasized.
function emphasized(text, other) {
  const words = (of) => of.match(/\w+|\s+|./gu) || [], mine = words(text), theirs = words(other);
  let head = 0, tail = 0;
  while (head < Math.min(mine.length, theirs.length) && mine[head] === theirs[head]) head++;
  while (tail < Math.min(mine.length, theirs.length) - head && mine[mine.length - 1 - tail] === theirs[theirs.length - 1 - tail]) tail++;
  const end = mine.length - tail;
  return [mine.slice(0, head).join(""), make("b", mine.slice(head, end).join("")), mine.slice(end).join("")];
}

function rowElement(trace, { line, mark, other }) {
  const row = make("span", "", { className: mark });
  const text = trace.texts[line];
  row.append({ gone: "− ", came: "+ " }[mark] || "  ", ...(other === undefined ? [text] : emphasized(text, trace.texts[other])));
  return row;
}

// The rows with long stretches that stay folded away behind a button.
function showRows(pre, trace, rows) {
  const near = (n) => rows.slice(Math.max(0, n - CONTEXT), n + CONTEXT + 1).some((row) => row.mark);
  const shown = rows.map((_, n) => near(n));
  const anything = shown.includes(true), parts = [];
  for (let n = 0; n < rows.length;) {
    let end = n;
    while (end < rows.length && shown[end] === shown[n]) end++;
    const lines = rows.slice(n, end).map((row) => rowElement(trace, row));
    if (shown[n] || !anything || lines.length < 3) parts.push(...lines);
    else {
      const button = make("button", `⋯ ${lines.length} lines stay`, { className: "more" });
      button.onclick = () => button.replaceWith(...lines);
      parts.push(button);
    }
    n = end;
  }
  pre.replaceChildren(...parts);
  const first = pre.querySelector(".gone, .came");
  pre.parentElement.scrollTop = first ? first.offsetTop - pre.parentElement.offsetTop - 60 : 0;
}

// --- moving through them
class Rewrites {
  constructor(section, record, by) {
    this.section = section;
    this.record = record;
    this.trace = record.trace;
    this.states = new States(this.trace);
    this.slider = section.querySelector(".steps input");
    this.inputs = new Map(record.graphs.before.filter((node) => node.kind === "input").map((node) => [node.label, node]));
    this.view = null;
    this.slider.oninput = () => this.show();
    for (const button of section.querySelectorAll(".steps button")) {
      button.onclick = () => this.goto(Number(this.slider.value) + Number(button.dataset.by));
    }
    section.querySelector(".rewrites").onkeydown = (event) => {
      const by = { "[": -1, "]": 1 }[event.key];
      if (by) this.goto(Number(this.slider.value) + by);
    };
    whenNear(this.slider, () => { if (!this.view) this.show(); });
  }

  goto(position) {
    this.slider.value = position;
    this.show();
  }

  // Go to the next rewrite by this rule, from the last back to the first.
  gotoRule(rule) {
    const { rewrites } = this.trace, at = Number(this.slider.value);
    const after = rewrites.findIndex((r, n) => r.rule === rule && n + 1 > at);
    const found = after >= 0 ? after : rewrites.findIndex((r) => r.rule === rule);
    if (found >= 0) this.goto(found + 1);
  }

  show() {
    const { section, trace } = this, position = Number(this.slider.value), rows = this.states.at(position);
    const done = trace.rewrites[position - 1];
    section.querySelector(".steps output").textContent = done ? `${position} of ${trace.rewrites.length}: ${done.rule} (${done.stage})` : `as you built it; ${trace.rewrites.length} rewrites follow`;
    section.querySelector(".said").replaceChildren(...(done ? this.said(done) : []));
    showRows(section.querySelector(".state"), trace, rows);
    this.draw(rows);
  }

  // What a rewrite is about: its rule, the values that became one, your lines.
  said(done) {
    const { rules, places } = this.record, said = [];
    if (rules[done.rule]) said.push(make("div", rules[done.rule], { className: "names" }));
    for (const [kept, gone, how] of done.equal) {
      said.push(make("div", kept === gone ? `Equal values became one: ${how}` : `${kept} and ${gone} are equal, both are ${how}; ${kept} stays.`));
    }
    for (const line of done.lines) said.push(make("div", `at ${places[line].text}  ${places[line].code}`, { className: "names soft" }));
    return said;
  }

  draw(rows) {
    const nodes = prepared(nodesOfRows(this.trace, rows, this.inputs), this.record.places);
    const focus = new Set(nodes.flatMap((node, k) => (node.mark ? [k] : [])));
    if (!this.view) {
      this.view = new GraphView(this.section.querySelector(".rewrites .canvas"));
      this.view.show(nodes);
    }
    if (focus.size) this.view.follow(nodes, focus);
    else this.view.show(nodes);
  }
}
