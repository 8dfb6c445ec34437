"use strict";
// Layered drawing of an acyclic graph (Sugiyama, Tagawa and Toda, 1981), as layered.py does for pictures without scripts.
const GAP_X = 20, GAP_Y = 30, BEND = 6;

const mean = (values, otherwise) => (values.length ? values.reduce((a, b) => a + b, 0) / values.length : otherwise);

// Rows by longest path; a box that reads no more boxes than read it stands just above its users.
function rowsOf(inputs) {
  const rows = inputs.map(() => 0), users = inputs.map(() => new Set());
  inputs.forEach((reads, k) => {
    for (const i of reads) { rows[k] = Math.max(rows[k], rows[i] + 1); users[i].add(k); }
  });
  for (let k = inputs.length - 1; k >= 0; k--) {
    if (users[k].size && new Set(inputs[k]).size <= users[k].size) rows[k] = Math.min(...[...users[k]].map((u) => rows[u])) - 1;
  }
  return rows;
}

// The non-decreasing sequence nearest to `values` in weighted squares (pooling of neighbours that violate the order).
function isotonic(values, weights) {
  const pools = [];
  values.forEach((value, k) => {
    let pool = { mean: value, weight: weights[k], count: 1 };
    while (pools.length && pools[pools.length - 1].mean > pool.mean) {
      const last = pools.pop();
      const weight = last.weight + pool.weight;
      pool = { mean: (last.mean * last.weight + pool.mean * pool.weight) / weight, weight, count: last.count + pool.count };
    }
    pools.push(pool);
  });
  return pools.flatMap((pool) => Array(pool.count).fill(pool.mean));
}

// Where boxes of these sizes go.  `inputs[k]`: the boxes before k that it reads; `earlier[k]`: its abscissa in the drawing
// before this one, if it was in it: the order of the rows begins with it.
function layered(sizes, inputs, earlier = []) {
  const row = rowsOf(inputs), above = sizes.map(() => []), below = sizes.map(() => []);
  const widths = sizes.map((size) => size.width), chains = new Map();
  inputs.forEach((reads, k) => {
    for (const i of new Set(reads)) {
      const chain = [];
      for (let r = row[i] + 1; r < row[k]; r++) {
        chain.push(row.length);
        row.push(r); widths.push(BEND); above.push([]); below.push([]);
      }
      chains.set(`${i} ${k}`, chain);
      [i, ...chain, k].forEach((v, n, all) => { if (n) { below[all[n - 1]].push(v); above[v].push(all[n - 1]); } });
    }
  });
  const rows = Array.from({ length: Math.max(-1, ...row) + 1 }, () => []);
  row.forEach((r, v) => rows[r].push(v));
  ordered(rows, above, below, earlier);
  const x = abscissas(rows, above, below, widths, sizes.length, chains);
  return finished(sizes, inputs, rows, row, x, widths, chains);
}

// The order of each row that crosses least, of those that sweeps by the mean place of neighbours find.
function ordered(rows, above, below, earlier) {
  const known = (v) => (earlier[v] === undefined ? undefined : earlier[v]);
  for (const row of rows) {
    if (row.some((v) => known(v) !== undefined)) {
      const middle = mean(row.map(known).filter((at) => at !== undefined), 0);
      row.sort((a, b) => (known(a) ?? middle) - (known(b) ?? middle));
    }
  }
  const places = () => {
    const place = [];
    for (const row of rows) row.forEach((v, n) => { place[v] = n; });
    return place;
  };
  const crossings = () => {
    const place = places();
    let found = 0;
    for (const row of rows) {
      const ends = row.flatMap((v) => below[v].map((b) => place[b]).sort((a, b) => a - b));
      for (let k = 1; k < ends.length; k++) for (let n = Math.max(0, k - 200); n < k; n++) if (ends[n] > ends[k]) found++;
    }
    return found;
  };
  let best = rows.map((row) => [...row]), least = crossings();
  for (let sweep = 0; sweep < 6 && least; sweep++) {
    const down = sweep % 2 === 0, place = places();
    for (const row of down ? rows : [...rows].reverse()) {
      const wish = new Map(row.map((v) => [v, mean((down ? above : below)[v].map((n) => place[n]), place[v])]));
      row.sort((a, b) => wish.get(a) - wish.get(b) || place[a] - place[b]);
      row.forEach((v, n) => { place[v] = n; });
    }
    const now = crossings();
    if (now < least) [best, least] = [rows.map((row) => [...row]), now];
  }
  best.forEach((row, r) => { rows[r] = row; });
}

function abscissas(rows, above, below, widths, boxes, chains) {
  const x = widths.map(() => 0);
  const spread = (row, wished) => { // the places nearest to those wished that keep the order and the distances
    const offsets = [];
    row.forEach((v, n) => offsets.push(n ? offsets[n - 1] + (widths[row[n - 1]] + widths[v]) / 2 + GAP_X : 0));
    const found = isotonic(row.map((v, n) => wished(v) - offsets[n]), row.map((v) => (v < boxes ? 1 : 8)));
    row.forEach((v, n) => { x[v] = found[n] + offsets[n]; });
  };
  for (const row of rows) spread(row, () => 0);
  for (let sweep = 0; sweep < 6; sweep++) {
    const near = sweep % 2 ? below : above;
    for (const row of sweep % 2 ? [...rows].reverse() : rows) spread(row, (v) => mean(near[v].map((n) => x[n]), x[v]));
  }
  for (let turn = 0; turn < 6; turn++) {
    const wished = x.map((at, v) => mean([...above[v], ...below[v]].map((n) => x[n]), at));
    for (const chain of chains.values()) {
      const middle = mean(chain.map((v) => x[v]), 0);
      for (const v of chain) wished[v] = middle;
    }
    for (const row of rows) spread(row, (v) => wished[v]);
  }
  return x;
}

function finished(sizes, inputs, rows, row, x, widths, chains) {
  const tops = [];
  let height = 0;
  for (const members of rows) {
    const tallest = Math.max(0, ...members.filter((v) => v < sizes.length).map((v) => sizes[v].height));
    tops.push({ middle: height + tallest / 2, tallest });
    height += tallest + GAP_Y;
  }
  const left = Math.min(0, ...x.map((at, v) => at - widths[v] / 2)), right = Math.max(0, ...x.map((at, v) => at + widths[v] / 2));
  const shift = rows.length ? Math.min(...x.map((at, v) => at - widths[v] / 2)) : left;
  const centres = x.map((at, v) => ({ x: at - shift, y: tops[row[v]].middle }));
  const routes = new Map();
  inputs.forEach((reads, k) => {
    const different = [...new Set(reads)];
    different.forEach((i, n) => {
      const port = (n - (different.length - 1) / 2) * Math.min(14, (sizes[k].width - 12) / different.length);
      const bends = chains.get(`${i} ${k}`).map((v) => ({ x: centres[v].x, y: centres[v].y, tall: tops[row[v]].tallest }));
      routes.set(`${i} ${k}`, { bends, port });
    });
  });
  const width = rows.length ? Math.max(...x.map((at, v) => at + widths[v] / 2)) - shift : right;
  return { centres: centres.slice(0, sizes.length), routes, width, height: Math.max(0, height - GAP_Y) };
}
