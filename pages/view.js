"use strict";
// A graph that a reader moves through: groups open by a click, the wheel and two fingers zoom, dragging moves.
//
// Labels are 12 px high in the drawing.  A view opens so that they are at least LEAST px on the screen: groups close, and
// long lists are cut into longer slices, until the drawing fits.
const LEAST = 9, FONT = 12, MARGIN = 12, FAR = 0.6, NEAR = 0.9;
const READABLE = LEAST / FONT, NARROW = matchMedia("(max-width:1000px)");
const SLICES = [12, 8, 6, 4];
const STEP = 1.25, PAN = 60, TRIES = 10;

class GraphView {
  // `place`: the element that the drawing fills.  `onChoose(members)` is told which nodes were clicked.
  constructor(place, { onChoose = () => {}, by = "kind" } = {}) {
    Object.assign(this, { place, onChoose, by, opened: new Set(), nodes: [], scale: 1, x: 0, y: 0, earlier: new Map() });
    this.marked = { chosen: new Set(), related: new Set(), found: new Set() };
    place.innerHTML = '<svg class="ag-figure view" tabindex="0" role="img"><g class="world"></g></svg>' +
      '<svg class="ag-figure minimap" aria-hidden="true"><g></g><rect class="window"/></svg>';
    [this.svg, this.map] = place.children;
    this.world = this.svg.firstChild;
    this.svg.setAttribute("aria-label", "graph: arrows move it, plus and minus zoom, 0 fits it, n and b choose, Enter opens");
    this.measure();
    this.listen();
    new ResizeObserver(() => this.resized()).observe(place);
  }

  // --- contents
  // Show a graph, closed as far as labels need.
  show(nodes) {
    this.nodes = nodes;
    for (const most of SLICES) {
      this.tree = treeOf(nodes, most);
      this.opened = new Set(this.tree.children.length === 1 ? [this.tree.children[0].id] : []);
      if (this.wouldFit()) break;
    }
    this.openWhatFits();
    this.draw();
    this.fit();
  }

  // Show another state of the same graph: what stays keeps its order, and its place as far as it can.
  follow(nodes, focus) {
    const before = new Map((this.drawn ? this.drawn.boxes : []).map((box) => [box.item.id, box]));
    this.nodes = nodes;
    this.tree = treeOf(nodes, SLICES[0]);
    this.opened = new Set();
    this.openFor(focus);
    this.draw();
    const same = this.drawn.boxes.filter((box) => before.has(box.item.id));
    const moved = (axis) => same.map((box) => box[axis] - before.get(box.item.id)[axis]).sort((a, b) => a - b)[same.length >> 1];
    if (same.length) this.transform(this.scale, this.x - moved("left") * this.scale, this.y - moved("top") * this.scale);
    else this.fit();
    this.bringIntoView(this.drawn.boxes.filter((box) => box.item.members.some((k) => focus.has(k))));
  }

  openFor(members) {
    const walk = (item) => {
      if (!item.children || !item.members.some((k) => members.has(k))) return;
      this.opened.add(item.id);
      item.children.forEach(walk);
    };
    this.tree.children.forEach(walk);
  }

  reveal(node) {
    this.openFor(new Set([node]));
    this.draw();
    this.bringIntoView(this.drawn.boxes.filter((box) => box.item.members.includes(node)));
  }

  // Open the smallest groups first, as long as all labels stay readable.
  openWhatFits() {
    for (let tries = 0; tries < TRIES; tries++) {
      const closed = [];
      const walk = (item) => {
        if (item !== this.tree && !this.opened.has(item.id)) { if (item.children) closed.push(item); } else (item.children || []).forEach(walk);
      };
      walk(this.tree);
      const smallest = closed.filter((item) => !item.refused).sort((a, b) => a.members.length - b.members.length)[0];
      if (!smallest) return;
      this.opened.add(smallest.id);
      if (!this.wouldFit()) {
        this.opened.delete(smallest.id);
        smallest.refused = true;
      }
    }
  }

  wouldFit() {
    return this.fitting(arranged(this.tree, this.nodes, this.opened, this.earlier)) >= READABLE;
  }

  // --- drawing
  // Read the size of the place, once for many uses: it lays the page out.
  measure() {
    this.size = { width: this.place.clientWidth || 480, height: this.place.clientHeight || 480 };
  }

  fitting(root) {
    const { width, height } = this.size;
    return Math.min(1, (width - 2 * MARGIN) / (root.width || 1), (height - 2 * MARGIN) / (root.height || 1));
  }

  draw() {
    this.drawn = flattened(arranged(this.tree, this.nodes, this.opened, this.earlier));
    for (const placed of [...this.drawn.frames, ...this.drawn.boxes]) this.earlier.set(placed.item.id, placed.x + placed.width / 2);
    this.world.innerHTML = this.nodes.length ? markup(this.drawn, this.nodes, this.by) : '<text class="label" x="100" y="20">nothing is computed</text>';
    this.elements = new Map([...this.world.querySelectorAll(".box")].map((element) => [element.dataset.id, element]));
    for (const name of Object.keys(this.marked)) this.mark(name, this.marked[name]);
    this.level = null;
    this.drawMap();
    if (this.wasFitted) this.adapt();
    this.transform(this.scale, this.x, this.y);
  }

  drawMap() {
    const { root, boxes } = this.drawn;
    const inside = boxes.map((b) => `<rect class="${colourOf(b.item, this.nodes, this.by)} ${markOf(b.item, this.nodes)}" x="${b.left}" y="${b.top}" width="${b.width}" height="${b.height}"/>`);
    this.map.setAttribute("viewBox", `-8 -8 ${root.width + 16} ${root.height + 16}`);
    this.map.firstChild.innerHTML = inside.join("");
    this.map.lastChild.setAttribute("stroke-width", Math.max(root.width, root.height) / 50);
  }

  colour(by) {
    this.by = by;
    this.draw();
  }

  // Give the boxes of these nodes a class; the others lose it.
  mark(name, members) {
    this.marked[name] = members;
    for (const { item } of this.drawn.boxes) {
      this.elements.get(item.id).classList.toggle(name, item.members.some((k) => members.has(k)));
    }
  }

  // --- looking
  transform(scale, x, y) {
    Object.assign(this, { scale, x, y, isFitted: false });
    this.world.setAttribute("transform", `translate(${x} ${y}) scale(${scale})`);
    const { width, height } = this.size, { root } = this.drawn, seen = this.map.lastChild;
    const [left, top] = [Math.max(-8, -x / scale), Math.max(-8, -y / scale)];
    const rest = [Math.min(root.width + 8, (width - x) / scale) - left, Math.min(root.height + 8, (height - y) / scale) - top];
    for (const [name, value] of [["x", left], ["y", top], ["width", Math.max(0, rest[0])], ["height", Math.max(0, rest[1])]]) seen.setAttribute(name, value);
    const whole = x >= 0 && y >= 0 && x + root.width * scale <= width && y + root.height * scale <= height;
    this.map.classList.toggle("unneeded", whole);
    this.relabel();
  }

  // Seen from afar groups alone have titles, as large as they can be; types and lengths show from near.
  relabel() {
    const level = Math.round(4 * Math.log2(this.scale)) / 4;
    if (level === this.level) return;
    this.level = level;
    this.svg.classList.toggle("far", this.scale < FAR);
    this.svg.classList.toggle("near", this.scale >= NEAR);
    const font = Math.max(FONT, (LEAST + 2) / this.scale);
    const fitted = (text, width, shorten) => {
      text.style.fontSize = `${font}px`;
      text.textContent = shorten(Math.max(1, Math.floor((width - 8) / (font * CHARACTER / FONT))));
    };
    for (const { item, width } of this.drawn.boxes) {
      if (item.children) fitted(this.elements.get(item.id).querySelector(".label"), width, (most) => groupLabel(item, most));
    }
    const titles = this.world.querySelectorAll(".frame .title");
    this.drawn.frames.forEach(({ item, width }, n) => fitted(titles[n], width - 12, (most) => shortened(`− ${item.title}`, most)));
  }

  // A new size of the place: what was whole is whole again, else what is in the middle stays there.
  resized() {
    const before = this.size;
    this.measure();
    if (!this.drawn || (before.width === this.size.width && before.height === this.size.height)) return;
    if (this.isFitted) this.fit();
    else this.pan((this.size.width - before.width) / 2, (this.size.height - before.height) / 2);
  }

  // On a narrow screen, where panes stand below each other, a pane is no taller than its drawing.
  adapt() {
    const { root } = this.drawn, across = Math.min(1, (this.size.width - 2 * MARGIN) / (root.width || 1));
    const basis = NARROW.matches ? `min(66vh, ${Math.ceil(root.height * across + 2 * MARGIN)}px)` : "";
    if (this.place.style.flexBasis === basis) return;
    this.place.style.flexBasis = basis;
    this.measure();
  }

  fit() {
    this.adapt();
    const { width, height } = this.size, { root } = this.drawn, scale = this.fitting(root);
    this.transform(scale, (width - root.width * scale) / 2, Math.max(MARGIN, (height - root.height * scale) / 2));
    if (scale < READABLE && !this.wasFitted) { // not even groups fit: their beginning, readable
      this.transform(READABLE, (width - root.width * READABLE) / 2, MARGIN);
    }
    this.wasFitted = this.isFitted = true;
  }

  zoom(factor, x = this.size.width / 2, y = this.size.height / 2) {
    const scale = Math.min(4, Math.max(0.02, this.scale * factor)), by = scale / this.scale;
    this.transform(scale, x - (x - this.x) * by, y - (y - this.y) * by);
  }

  pan(x, y) {
    this.transform(this.scale, this.x + x, this.y + y);
  }

  // Move as little as needed to see these boxes, at a scale at which they can be read.
  bringIntoView(boxes) {
    if (!boxes.length) return;
    if (this.scale < READABLE) this.zoom(READABLE / this.scale);
    const { width, height } = this.size, left = Math.min(...boxes.map((b) => b.left)), top = Math.min(...boxes.map((b) => b.top));
    const right = Math.max(...boxes.map((b) => b.left + b.width)), bottom = Math.max(...boxes.map((b) => b.top + b.height));
    const move = (at, low, high, room) => {
      const [first, last] = [at + low * this.scale, at + high * this.scale];
      if (first >= MARGIN && last <= room - MARGIN) return 0;
      return last - first > room - 2 * MARGIN ? MARGIN - first : (room - first - last) / 2;
    };
    this.pan(move(this.x, left, right, width), move(this.y, top, bottom, height));
  }

  // Open or close a group; what was clicked stays where it is.
  toggle(id) {
    const at = () => [...this.drawn.frames, ...this.drawn.boxes].find((placed) => placed.item.id === id);
    const before = at();
    if (!this.opened.delete(id)) this.opened.add(id);
    this.draw();
    const now = at();
    if (!before || !now) return;
    const [x, y] = [now.left + now.width / 2 - before.left - before.width / 2, now.top - before.top];
    this.pan(-x * this.scale, -y * this.scale);
    this.bringIntoView([now]);
  }

  // --- hands
  listen() {
    const pointers = new Map();
    const at = (event) => {
      const place = this.svg.getBoundingClientRect();
      return [event.clientX - place.left, event.clientY - place.top];
    };
    let dragged = 0;
    this.svg.addEventListener("wheel", (event) => {
      event.preventDefault();
      const lines = event.deltaMode === 1 ? 16 : 1;
      this.zoom(Math.exp(-event.deltaY * lines * 0.0015), ...at(event));
    }, { passive: false });
    this.svg.addEventListener("pointerdown", (event) => {
      if (event.button) return;
      if (!pointers.size) dragged = 0;
      pointers.set(event.pointerId, at(event));
    });
    this.svg.addEventListener("pointermove", (event) => {
      const before = pointers.get(event.pointerId);
      if (!before) return;
      const now = at(event), other = [...pointers].find(([id]) => id !== event.pointerId);
      dragged += Math.hypot(now[0] - before[0], now[1] - before[1]);
      if (dragged < 4) return;
      this.svg.setPointerCapture(event.pointerId);
      pointers.set(event.pointerId, now);
      if (other) {
        const apart = (point) => Math.max(10, Math.hypot(point[0] - other[1][0], point[1] - other[1][1]));
        this.zoom(apart(now) / apart(before), (now[0] + other[1][0]) / 2, (now[1] + other[1][1]) / 2);
      } else this.pan(now[0] - before[0], now[1] - before[1]);
    });
    for (const end of ["pointerup", "pointercancel", "pointerleave"]) this.svg.addEventListener(end, (event) => pointers.delete(event.pointerId));
    this.svg.addEventListener("click", (event) => { if (dragged < 4) this.click(event.target); });
    this.svg.addEventListener("keydown", (event) => this.key(event));
    const look = (event) => {
      if (event.buttons !== 1) return;
      const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(this.map.getScreenCTM().inverse());
      const { width, height } = this.size;
      this.transform(this.scale, width / 2 - point.x * this.scale, height / 2 - point.y * this.scale);
    };
    this.map.addEventListener("pointerdown", look);
    this.map.addEventListener("pointermove", look);
  }

  click(target) {
    const frame = target.closest(".frame"), box = target.closest(".box");
    if (frame && (target.matches(".bar") || target.matches("text"))) this.toggle(frame.dataset.id);
    else if (box) {
      const { item } = this.drawn.boxes.find((placed) => placed.item.id === box.dataset.id);
      this.current = item.id;
      this.onChoose(item.members, item);
      if (item.children) this.toggle(item.id);
    }
  }

  key(event) {
    const moves = { ArrowLeft: [PAN, 0], ArrowRight: [-PAN, 0], ArrowUp: [0, PAN], ArrowDown: [0, -PAN] };
    if (moves[event.key]) this.pan(...moves[event.key]);
    else if (event.key === "+" || event.key === "=") this.zoom(STEP);
    else if (event.key === "-") this.zoom(1 / STEP);
    else if (event.key === "0") this.fit();
    else if (event.key === "n" || event.key === "b") this.chooseNext(event.key === "n" ? 1 : -1);
    else if (event.key === "Enter" && this.current !== undefined) this.toggleCurrent();
    else return;
    event.preventDefault();
  }

  // Choose the next box in the order of reading, or the one before.
  chooseNext(by) {
    const boxes = [...this.drawn.boxes].sort((a, b) => a.top - b.top || a.left - b.left);
    const at = boxes.findIndex((box) => box.item.id === this.current);
    const box = boxes[(at + by + boxes.length + (at < 0 && by < 0)) % boxes.length];
    this.current = box.item.id;
    this.onChoose(box.item.members, box.item);
    this.bringIntoView([box]);
  }

  // Open the chosen group, or close the group around the chosen node.
  toggleCurrent() {
    const box = this.drawn.boxes.find((placed) => placed.item.id === this.current);
    if (box && box.item.children) this.toggle(box.item.id);
    else if (box && box.up && box.up.up) this.toggle(box.up.item.id);
    this.current = box && !box.item.children && box.up ? box.up.item.id : this.current;
  }
}
