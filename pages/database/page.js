"use strict"
/* A database of rules: queries with completion, tags as chips, one or two queries side by side.  The answers are those of
   optdb/entries.py: what a query includes, excludes and requires, for entries and for the containers around them. */
const lines = (id) => document.getElementById(id).textContent.trim().split("\n")
const cells = (line) => line.split("\t")
const tagNames = cells(lines("tags")[0])
const tagsOf = (text) => new Set(text ? text.split(" ").map((n) => tagNames[n]) : [])
const containers = lines("containers").filter(Boolean).map(cells).map(([name, above, position, tags, names, optIn]) => ({
  name, above: above === "" ? -1 : Number(above), position: position === "" ? null : Number(position), tags: tagsOf(tags),
  inside: new Set(names.split(" ")), optIn: optIn === "opt-in",
}))
const entries = lines("entries").filter(Boolean).map(cells).map((c) => ({
  name: c[0], container: c[1] === "" ? -1 : Number(c[1]), position: c[2] === "" ? null : Number(c[2]), kind: c[3],
  tags: tagsOf(c[4]), own: tagsOf(c[5]), contract: c[6], before: c[7], after: c[8], example: c[9], origin: c[10],
  place: c[11], cost: c[12],
}))
for (const entry of entries) {
  entry.around = []
  for (let k = entry.container; k >= 0; k = containers[k].above) entry.around.unshift(containers[k])
  entry.all = new Set([...entry.own, ...entry.around.flatMap((c) => [...c.tags])])
  entry.text = `${entry.name} ${entry.before} ${entry.after} ${entry.place}`.toLowerCase()
}
const counts = new Map()
for (const entry of entries) for (const tag of entry.all) counts.set(tag, (counts.get(tag) || 0) + 1)
const known = new Set([...tagNames, ...entries.map((e) => e.name), ...containers.map((c) => c.name)])
const words = [...known].sort((a, b) => (counts.get(b) || 0) - (counts.get(a) || 0) || (a < b ? -1 : 1))

/* --- queries */
const item = /(\))|<([^\s,()]+)|([^\s,()<+\-&][^\s,()<]*)\(|([+\-&]?)([^\s,()<+\-&][^\s,()<]*)|([\s,]+)|(.)/y
function parsed(text) {
  const stack = [empty()], problems = [], plain = []
  item.lastIndex = 0
  for (let m; item.lastIndex < text.length && (m = item.exec(text)); ) {
    const query = stack[stack.length - 1]
    if (m[1]) {
      if (stack.length > 1) stack.pop()
      else problems.push("a bracket closes nothing")
    } else if (m[2] !== undefined) {
      if (Number.isNaN(Number(m[2]))) problems.push(`<${m[2]} is no position`)
      else query.cutoff = Number(m[2])
    } else if (m[3]) {
      const inner = empty()
      query.inner.set(m[3], inner)
      stack.push(inner)
    } else if (m[5]) {
      if (!m[4] && !known.has(m[5])) plain.push(m[5].toLowerCase())
      else if (!known.has(m[5])) problems.push(`no rule or tag is named ${m[5]}`)
      else query[{ "": "include", "+": "include", "-": "exclude", "&": "require" }[m[4]]].add(m[5])
    } else if (m[7]) problems.push(`${m[7]} has no meaning here`)
  }
  const query = stack[0]
  query.asks = query.include.size + query.require.size + query.exclude.size + query.inner.size > 0 || query.cutoff !== null
  return { query, problems, plain }
}
const empty = () => ({ include: new Set(), exclude: new Set(), require: new Set(), inner: new Map(), cutoff: null })
const least = (set) => [...set].sort()[0]
const common = (a, b) => [...a].filter((x) => b.has(x))
function refusal(part, query, around, isContainer) {
  if (query.cutoff !== null && part.position !== null && part.position >= query.cutoff)
    return `position ${part.position} is not below ${query.cutoff}`
  const out = common(part.tags, query.exclude)
  if (out.length) return `has -${least(out)}`
  if (part.optIn && !query.include.has(part.name)) return `only by the name ${part.name}`
  if (!common(part.tags, query.include).length && !(isContainer && common(part.inside, query.include).length))
    return "not included"
  if (isContainer) return ""
  const missing = [...query.require].filter((tag) => !part.tags.has(tag) && !around.has(tag))
  return missing.length ? `lacks &${least(missing)}` : ""
}
/* [whether it is taken, the reason] */
function answer(entry, query) {
  let around = new Set()
  for (const container of entry.around) {
    const why = refusal(container, query, around, true)
    if (why) return [false, `${container.name} ${why}`]
    query = query.inner.get(container.name) || { ...query, cutoff: null }
    around = new Set([...around, ...container.tags])
  }
  const why = refusal(entry, query, around, false)
  return why ? [false, why] : [true, `has ${least(common(entry.tags, query.include))}`]
}

/* --- the view */
const make = (tag, attributes, ...content) => {
  const made = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes || {})) made.setAttribute(name, value)
  made.append(...content)
  return made
}
const chosen = new Map()
const fields = [...document.querySelectorAll(".field input")]
const said = document.querySelector(".said")
const rows = document.querySelector(".rows")
const foot = document.querySelector(".foot")
const shows = document.querySelector(".bar")
let show = "all"

const made = entries.map((entry) => {
  const cells = [
    make("span", { class: "name" }, entry.name), make("span", { class: "tags" }, [...entry.own].join(" ")),
    make("span", { class: "contract" }, entry.contract),
  ]
  const answers = [0, 1].map(() => make("span", { class: "answer" }))
  const row = make("details", {}, make("summary", {}, ...cells, ...answers))
  row.addEventListener("toggle", () => row.open && !row.querySelector("dl") && row.append(opened(entry)))
  return { entry, row, answers }
})
function opened(entry) {
  const list = make("dl")
  const add = (name, ...content) => content[0] && list.append(make("dt", {}, name), make("dd", {}, ...content))
  if (entry.after) add("rule", make("code", {}, `${entry.before}  \u2192  ${entry.after}`))
  else add("what it does", entry.before)
  add("example", entry.example && make("code", {}, entry.example))
  add("contract", entry.contract)
  add("place", entry.place)
  add("in this process", entry.cost)
  add("tags", ...[...entry.all].map(chip))
  add("class", entry.kind)
  add("registered at", entry.origin)
  return list
}
function chip(tag) {
  const button = make("button", { class: "chip", type: "button", title: "click: with, then without, then off" }, tag, " ",
    make("small", {}, String(counts.get(tag) || 0)))
  button.dataset.tag = tag
  button.onclick = () => {
    const now = { with: "without", without: "" }[chosen.get(tag) || ""]
    if (now === "") chosen.delete(tag)
    else chosen.set(tag, now || "with")
    update()
  }
  return button
}
const many = [...counts].filter(([, n]) => n > 1).sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).map(([tag]) => tag)
const chips = document.querySelector(".chips")
const SHOWN = 18
many.forEach((tag, k) => {
  const button = chip(tag)
  button.hidden = k >= SHOWN
  chips.append(button)
})
if (many.length > SHOWN) {
  const more = make("button", { type: "button" }, `all ${many.length} tags`)
  more.onclick = () => {
    for (const each of chips.children) each.hidden = false
    more.remove()
  }
  chips.append(more)
}
for (const word of ["all", "taken", "left out", "different"]) {
  const button = make("button", { type: "button", "aria-pressed": String(word === show) }, word)
  button.dataset.show = word
  button.onclick = () => { show = word; update() }
  shows.append(button)
}

function update() {
  const queries = fields.map((field) => parsed(field.value))
  const asked = queries.filter(({ query }) => query.asks)
  const plain = queries.flatMap((q) => q.plain)
  rows.className = `rows${asked.length ? (asked.length > 1 ? " two" : " asked") : ""}`
  if (!asked.length || (show === "different" && asked.length < 2)) show = "all"
  for (const button of shows.children) {
    button.setAttribute("aria-pressed", String(button.dataset.show === show))
    button.hidden = !asked.length || (button.dataset.show === "different" && asked.length < 2)
  }
  for (const button of document.querySelectorAll(".chip")) button.className = `chip ${chosen.get(button.dataset.tag) || ""}`
  let shown = 0
  const taken = asked.map(() => 0)
  for (const { entry, row, answers } of made) {
    const found = asked.map(({ query }) => answer(entry, query))
    found.forEach(([is], k) => (taken[k] += is))
    answers.forEach((cell, k) => {
      const [is, why] = found[k] || [false, ""]
      cell.hidden = !found[k]
      cell.className = `answer ${is ? "in" : "out"}`
      cell.textContent = found[k] ? `${is ? "yes" : "no"}: ${why}` : ""
    })
    row.classList.toggle("left", found.length > 0 && !found.some(([is]) => is))
    const fits = [...chosen].every(([tag, how]) => entry.all.has(tag) === (how === "with"))
      && plain.every((word) => entry.text.includes(word))
      && (show === "all" || (show === "different" ? found[0][0] !== found[1][0] : found[0][0] === (show === "taken")))
    row.hidden = !fits
    shown += fits
  }
  const notes = queries.flatMap((q) => q.problems)
  if (plain.length) notes.push(`${plain.join(", ")}: no tag, so rows with this text are shown`)
  if (asked.length) notes.push(asked.map((_, k) => `${asked.length > 1 ? "AB"[k] + ": " : ""}${taken[k]} taken, ${entries.length - taken[k]} left out`).join("; "))
  said.textContent = notes.join("; ")
  foot.textContent = `${shown.toLocaleString("en")} of ${entries.length.toLocaleString("en")} rules and passes shown`
}

/* --- completion */
for (const field of fields) {
  const list = make("ul", { class: "choices", role: "listbox", hidden: "" })
  field.after(list)
  let at = -1
  const word = () => /[^\s,()+\-&<]*$/.exec(field.value.slice(0, field.selectionStart))[0]
  const close = () => { list.hidden = true; at = -1 }
  const take = (text) => {
    const end = field.selectionStart, begin = end - word().length
    field.value = field.value.slice(0, begin) + text + field.value.slice(end)
    field.selectionStart = field.selectionEnd = begin + text.length
    close()
    update()
  }
  const offer = () => {
    const typed = word().toLowerCase()
    const found = typed ? words.filter((w) => w.toLowerCase().startsWith(typed)) : []
    if (typed.length > 1) found.push(...words.filter((w) => !found.includes(w) && w.toLowerCase().includes(typed)))
    list.replaceChildren(...found.slice(0, 12).map((w) => {
      const choice = make("li", { role: "option" }, w, make("small", {}, counts.has(w) ? String(counts.get(w)) : "rule"))
      choice.onmousedown = (event) => { event.preventDefault(); take(w) }
      return choice
    }))
    at = -1
    list.hidden = !found.length || (found.length === 1 && found[0] === word())
  }
  field.oninput = () => { offer(); update() }
  field.onblur = close
  field.onkeydown = (event) => {
    if (list.hidden) return
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step) {
      at = (at + step + list.children.length) % list.children.length
      ;[...list.children].forEach((choice, k) => choice.setAttribute("aria-selected", String(k === at)))
      list.children[at].scrollIntoView({ block: "nearest" })
      event.preventDefault()
    } else if (event.key === "Tab" || (event.key === "Enter" && at >= 0)) {
      take(list.children[Math.max(at, 0)].firstChild.textContent)
      event.preventDefault()
    } else if (event.key === "Escape") close()
  }
}
rows.append(...made.map(({ row }) => row))
update()
document.body.dataset.ready = "yes"
