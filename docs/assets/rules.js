/* The filter of the rule catalogue: words of the search field and tags must all be found in a rule.
   A page shows some rules; a button shows more, and a link to a rule shows and opens it. */
const PAGE_OF_RULES = 60

function filterRules() {
  const box = document.querySelector(".rule-filter")
  if (!box || !box.hidden) return
  const field = box.querySelector("#rule-text")
  const count = box.querySelector("#rule-count")
  const buttons = [...box.querySelectorAll(".rule-tag")]
  const rules = [...document.querySelectorAll(".rule")].map(element => ({
    element,
    tags: new Set(element.dataset.tags.split(" ")),
    text: element.textContent.toLowerCase(),
  }))

  const chosen = () => buttons.filter(b => b.getAttribute("aria-pressed") === "true").map(b => b.dataset.tag)
  const more = document.querySelector("#rule-more")
  let room = PAGE_OF_RULES
  const show = () => {
    const tags = chosen()
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean)
    let shown = 0
    for (const rule of rules) {
      const matches = tags.every(tag => rule.tags.has(tag)) && words.every(word => rule.text.includes(word))
      shown += matches
      rule.element.hidden = "#" + rule.element.id !== location.hash && (!matches || shown > room)
    }
    more.hidden = shown <= room
    count.textContent = `${shown} of ${rules.length} rules`
  }
  const change = () => {
    room = PAGE_OF_RULES
    show()
  }
  const open = () => {
    const rule = rules.find(each => "#" + each.element.id === location.hash)
    if (!rule) return
    show()
    rule.element.open = true
    rule.element.scrollIntoView({ block: "start" })
  }
  const press = (tag, on) => {
    for (const b of buttons) if (b.dataset.tag === tag) b.setAttribute("aria-pressed", String(on))
  }

  for (const button of buttons)
    button.addEventListener("click", () => {
      press(button.dataset.tag, button.getAttribute("aria-pressed") !== "true")
      change()
    })
  for (const chip of document.querySelectorAll(".rule-chip"))
    chip.addEventListener("click", () => {
      press(chip.textContent, true)
      change()
      box.scrollIntoView({ block: "start" })
    })
  field.addEventListener("input", change)
  box.querySelector("#rule-clear").addEventListener("click", () => {
    field.value = ""
    for (const b of buttons) b.setAttribute("aria-pressed", "false")
    change()
  })
  more.addEventListener("click", () => {
    room += PAGE_OF_RULES
    show()
  })
  addEventListener("hashchange", open)
  box.hidden = false
  show()
  open()
}

filterRules()
