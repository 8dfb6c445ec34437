"use strict";
// Groups of a graph: the nodes of one function, inside it those of one line; long lists are cut into slices.
//
// Every group is convex: no path leaves it and comes back.  The graph of the groups therefore has no cycle.
// An item of the tree is a leaf ({id, node}) or a group ({id, title, detail, children}); both have `members`,
// the positions of their nodes.

const SHOWN_INPUTS = 6; // more of them stand with their first users

// Convex clusters of items with equal keys.  `inputs[k]` holds positions before k; the result is in topological order.
function clusters(inputs, keys) {
  const groups = [], groupOf = [], latest = new Map();
  inputs.forEach((reads, k) => {
    const sources = new Set(reads.map((i) => groupOf[i]));
    let group = latest.get(keys[k]);
    if (!group || [...sources].some((source) => source !== group && source.above.has(group))) {
      group = { members: [], above: new Set() };
      groups.push(group);
      latest.set(keys[k], group);
    }
    sources.delete(group);
    group.members.push(k);
    groupOf[k] = group;
    const more = new Set([...sources].flatMap((source) => [source, ...source.above]));
    const fresh = [...more].filter((source) => !group.above.has(source));
    if (!fresh.length) return;
    for (const other of groups) {
      if (other === group || other.above.has(group)) for (const source of fresh) other.above.add(source);
    }
  });
  // A group has all that is above its sources and the sources themselves above it: counts give a topological order.
  return groups.sort((a, b) => a.above.size - b.above.size).map((group) => group.members);
}

// The tree of a graph.  `nodes[k]` has label, inputs (positions before k) and keys: [{key, title, detail}, ...], outermost
// first.  No item has more than `most` children.
function treeOf(nodes, most) {
  const leaf = (k) => ({ id: nodes[k].id, node: k, members: [k] });
  const names = new Map();
  const unique = (name) => { // equal keys may stand for several groups
    names.set(name, (names.get(name) || 0) + 1);
    return `${name}#${names.get(name)}`;
  };
  const counted = (members) => `${members.length} nodes`;
  const group = (title, detail, name, children) => {
    const members = children.flatMap((child) => child.members);
    return { id: unique(name), title, detail: `${detail}${detail ? ", " : ""}${counted(members)}`, children, members };
  };
  const grouped = (members, level, name) => {
    if (members.length < 2 || level >= nodes[members[0]].keys.length) return members.map(leaf);
    const place = new Map(members.map((k, n) => [k, n]));
    const inputs = members.map((k) => nodes[k].inputs.filter((i) => place.has(i)).map((i) => place.get(i)));
    const found = clusters(inputs, members.map((k) => nodes[k].keys[level].key));
    if (found.length === 1) return grouped(members, level + 1, name);
    return found.map((cluster) => {
      const inside = cluster.map((n) => members[n]);
      if (inside.length === 1) return leaf(inside[0]);
      const path = `${name}/${nodes[inside[0]].keys[level].key}`;
      const { title, detail } = nodes[inside[0]].keys[level + ofOneLine(inside, level)];
      return group(title, detail, path, sliced(grouped(inside, level + 1, path), path));
    });
  };
  const ofOneLine = (inside, level) => { // 1 if all its nodes have one key of the next level too, which says more
    const next = nodes[inside[0]].keys[level + 1];
    return next && inside.every((k) => nodes[k].keys[level + 1].key === next.key) ? 1 : 0;
  };
  const sliced = (children, name) => {
    if (children.length <= most) return children;
    const slices = slicesOf(children, most, (child) => (child.node === undefined ? child.title : nodes[child.node].label));
    if (slices.length < 2) return children;
    return sliced(slices.map((slice) => (slice.length === 1 ? slice[0] : group(sliceTitle(slice), "", `${name}/slice`, slice))), name);
  };
  const sliceTitle = (slice) => {
    const counts = new Map();
    for (const child of slice) {
      const word = child.node === undefined ? child.title : nodes[child.node].label.split(/[({]/)[0];
      counts.set(word, (counts.get(word) || 0) + 1);
    }
    const ranked = [...counts].sort((a, b) => b[1] - a[1]);
    return ranked.slice(0, 3).map(([word, count]) => (count > 1 ? `${word} ×${count}` : word)).join(", ") + (ranked.length > 3 ? ", …" : "");
  };
  const children = sliced(grouped(nodes.map((_, k) => k), 0, ""), "");
  return { id: "root", title: "", detail: "", children, members: nodes.map((_, k) => k) };
}

// Neighbouring items in slices of at most `most`.  A slice begins where the first label of a loop comes again, if it can.
function slicesOf(children, most, labelOf) {
  const size = Math.ceil(children.length / Math.ceil(children.length / most));
  const first = labelOf(children[0]);
  const slices = [[]];
  for (const child of children) {
    const now = slices[slices.length - 1];
    const again = labelOf(child) === first && now.length >= size / 2;
    if (now.length >= size || again) slices.push([child]);
    else now.push(child);
  }
  return slices;
}

// Nodes ready for a view.  `places[n]`: file, line, function and code of a line of the user; of a node the first counts.
function prepared(nodes, places) {
  const users = new Map();
  nodes.forEach((node, k) => { for (const i of node.inputs) if (!users.has(i)) users.set(i, k); });
  const inputs = nodes.filter((node) => node.kind === "input").length;
  const placeOf = (k) => {
    const lines = nodes[k].lines;
    if (lines && lines.length) return places[lines[0]];
    if (nodes[k].kind === "input" && inputs <= SHOWN_INPUTS) return undefined;
    return users.has(k) && users.get(k) !== k ? placeOf(users.get(k)) : undefined;
  };
  return nodes.map((node, k) => {
    const id = node.id || `n${k}`, place = placeOf(k);
    if (!place) return { ...node, id, keys: [{ key: id, title: node.label, detail: "" }] };
    const where = `${place.file}:${place.line}`, line = { key: where, title: place.code || where, detail: place.code ? where : "" };
    const around = { key: `${place.file}/${place.function}`, title: `${place.function}()`, detail: place.file };
    return { ...node, id, keys: place.function ? [around, line] : [line] };
  });
}
