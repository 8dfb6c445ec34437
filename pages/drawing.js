"use strict";
// A tree of groups as a drawing: closed groups and nodes are boxes, open groups are frames around their own drawing.
const CHARACTER = 7.23, SMALL_CHARACTER = 6.03, LONGEST = 27, LINE = 24, TWO_LINES = 38, TITLE = 24, PADDING = 12;
const HEATS = [0.01, 0.03, 0.1, 0.3]; // shares of the time where the next colour begins

const escaped = (text) => String(text).replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);

function shortened(text, characters) {
  if (text.length <= characters) return text;
  const head = Math.max(0, Math.floor((characters - 1) / 2));
  return characters < 2 ? "" : `${text.slice(0, head)}…${text.slice(text.length - (characters - 1 - head))}`;
}

// The line that a box always has, and the small one that is seen from near.  Of a group the end of its label stays.
function labelsOf(item, nodes) {
  if (item.children) return [groupLabel(item, LONGEST), shortened(item.detail, LONGEST + 5)];
  const { label, detail } = nodes[item.node];
  return [shortened(label, LONGEST), shortened(detail || "", LONGEST + 5)];
}

function groupLabel(item, characters) {
  const count = ` · ${item.members.length}`;
  return characters < count.length + 4 ? shortened(item.title, characters) : shortened(item.title, characters - count.length) + count;
}

function sizeOf(item, nodes) {
  const [label, detail] = labelsOf(item, nodes);
  const width = Math.max(34, label.length * CHARACTER, detail.length * SMALL_CHARACTER) + 16;
  return { width, height: detail ? TWO_LINES : LINE };
}

// Sizes and places of an item and of all in it that is seen, relative to its upper left corner.
function arranged(item, nodes, opened, earlier, up = null) {
  const placed = { item, up, x: 0, y: 0, parts: null };
  if (!item.children || (up && !opened.has(item.id))) return Object.assign(placed, sizeOf(item, nodes));
  placed.parts = item.children.map((child) => arranged(child, nodes, opened, earlier, placed));
  const owner = new Map();
  item.children.forEach((child, n) => child.members.forEach((k) => owner.set(k, n)));
  const inputs = item.children.map((child, n) => {
    const read = child.members.flatMap((k) => nodes[k].inputs.map((i) => owner.get(i)));
    return [...new Set(read.filter((i) => i !== undefined && i !== n))];
  });
  const layout = layered(placed.parts, inputs, item.children.map((child) => earlier.get(child.id)));
  const top = up ? TITLE + PADDING / 2 : 0, side = up ? PADDING : 0;
  const least = up ? item.title.slice(0, LONGEST).length * CHARACTER + 40 : 0;
  const width = Math.max(layout.width + 2 * side, least), shift = side + (width - 2 * side - layout.width) / 2;
  placed.parts.forEach((part, n) => {
    part.x = layout.centres[n].x - part.width / 2 + shift;
    part.y = layout.centres[n].y - part.height / 2 + top;
    part.number = n;
  });
  for (const route of layout.routes.values()) for (const bend of route.bends) { bend.x += shift; bend.y += top; }
  return Object.assign(placed, { width, height: layout.height + top + side, routes: layout.routes });
}

// All that is seen of an arrangement with absolute places: frames from the outermost in, and boxes.
function flattened(root) {
  const frames = [], boxes = [];
  const walk = (placed, left, top) => {
    placed.left = left + placed.x;
    placed.top = top + placed.y;
    if (placed.parts) {
      if (placed.up) frames.push(placed);
      for (const part of placed.parts) walk(part, placed.left, placed.top);
    } else boxes.push(placed);
  };
  walk(root, 0, 0);
  return { root, frames, boxes };
}

// A path for each pair of boxes between which something is read, along the route of the frames that hold them.
function wires(drawn, nodes) {
  const shown = new Map(), found = new Map();
  for (const box of drawn.boxes) for (const k of box.item.members) shown.set(k, box);
  for (const [k, box] of shown) {
    for (const i of nodes[k].inputs) {
      const from = shown.get(i);
      if (!from || from === box) continue;
      const name = `${from.item.id}>${box.item.id}`, mark = markOfWire(nodes[i].mark, nodes[k].mark);
      if (!found.has(name)) found.set(name, { from, box, mark, path: path(from, box) });
      else if (found.get(name).mark !== mark) found.get(name).mark = "";
    }
  }
  return [...found.values()];
}

const markOfWire = (above, below) => [above, below].find((mark) => mark === "gone") || (below === "came" ? "came" : "");

function path(from, box) {
  const outer = (placed) => (placed ? [...outer(placed.up), placed] : []);
  const [above, below] = [outer(from), outer(box)];
  let level = 0;
  while (above[level] === below[level]) level++;
  const [a, b, around] = [above[level], below[level], above[level - 1]];
  const route = around.routes && around.routes.get(`${a.number} ${b.number}`);
  const points = [[from.left + from.width / 2, from.top + from.height]];
  if (a !== from) points.push([from.left + from.width / 2, a.top + a.height]);
  for (const bend of route ? route.bends : []) points.push([around.left + bend.x, around.top + bend.y]);
  const port = box.left + box.width / 2 + (b === box && route ? route.port : 0);
  if (b !== box) points.push([port, b.top]);
  points.push([port, box.top]);
  let [x, y] = points[0], text = `M${x.toFixed(1)} ${y.toFixed(1)}`;
  for (const [x1, y1] of points.slice(1)) {
    const middle = ((y + y1) / 2).toFixed(1);
    text += `C${x.toFixed(1)} ${middle} ${x1.toFixed(1)} ${middle} ${x1.toFixed(1)} ${y1.toFixed(1)}`;
    [x, y] = [x1, y1];
  }
  return text;
}

// --- markup
const shareOf = (item, nodes) => item.members.reduce((sum, k) => sum + (nodes[k].share || 0), 0);
const heat = (share) => HEATS.filter((least) => share >= least).length;
const percent = (share) => `${(100 * share).toFixed(share < 0.1 ? 1 : 0)} %`;

function colourOf(item, nodes, by) {
  if (by === "time") return `heat${heat(shareOf(item, nodes))}`;
  const kinds = new Set(item.members.map((k) => nodes[k].kind));
  return kinds.size === 1 ? [...kinds][0] : "group";
}

function markOf(item, nodes) {
  const marks = new Set(item.members.map((k) => nodes[k].mark).filter(Boolean));
  return marks.size > 1 ? "changed" : [...marks][0] || "";
}

function saidOf(item, nodes) {
  const share = shareOf(item, nodes);
  const took = share ? `\n${percent(share)} of the time` : "";
  if (!item.children) return nodes[item.node].title + took;
  return `${item.title}\n${item.detail}${took}\nclick to open`;
}

function boxMarkup(placed, nodes, by) {
  const { item, left, top, width, height } = placed;
  const [label, detail] = labelsOf(item, nodes), middle = left + width / 2;
  const node = item.children ? null : nodes[item.node];
  const classes = ["box", item.children ? "folded" : "leaf", detail ? "two" : "", markOf(item, nodes)];
  if (item.members.some((k) => nodes[k].output)) classes.push("output");
  const radius = node && node.kind === "input" ? height / 2 : 5;
  return `<g class="${classes.filter(Boolean).join(" ")}" data-id="${escaped(item.id)}"` +
    `${node ? ` data-box="${item.node}"` : ""}><title>${escaped(saidOf(item, nodes))}</title>` +
    `<rect class="${colourOf(item, nodes, by)}" x="${left}" y="${top}" width="${width}" height="${height}" rx="${radius}"/>` +
    `<text class="label" x="${middle}" y="${top + (detail ? 16 : height / 2 + 4)}">${escaped(label)}</text>` +
    (detail ? `<text class="small" x="${middle}" y="${top + 30}">${escaped(detail)}</text>` : "") + "</g>";
}

function frameMarkup({ item, left, top, width, height }, nodes) {
  return `<g class="frame ${markOf(item, nodes)}" data-id="${escaped(item.id)}"><title>${escaped(`${item.title}\n${item.detail}\nclick to close`)}</title>` +
    `<rect x="${left}" y="${top}" width="${width}" height="${height}" rx="7"/>` +
    `<rect class="bar" x="${left}" y="${top}" width="${width}" height="${TITLE}" rx="7"/></g>`;
}

// Titles stand above the edges that cross them.
function titleMarkup({ item, left, top, width }) {
  const title = shortened(item.title, Math.floor((width - 40) / CHARACTER));
  return `<g class="frame" data-id="${escaped(item.id)}"><text class="title" x="${left + 10}" y="${top + 16}">− ${escaped(title)}</text></g>`;
}

function markup(drawn, nodes, by) {
  const edges = wires(drawn, nodes).map((wire) => `<path class="edge ${wire.mark}" d="${wire.path}"/>`);
  const frames = drawn.frames.map((frame) => frameMarkup(frame, nodes));
  return [...frames, ...edges, ...drawn.frames.map(titleMarkup), ...drawn.boxes.map((box) => boxMarkup(box, nodes, by))].join("");
}
