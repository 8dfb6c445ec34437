/* The filter of the rule catalogue: words of the search field and tags must all be found in a rule. */
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
  const show = () => {
    const tags = chosen()
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean)
    let shown = 0
    for (const rule of rules) {
      const matches = tags.every(tag => rule.tags.has(tag)) && words.every(word => rule.text.includes(word))
      rule.element.hidden = !matches
      shown += matches
    }
    count.textContent = `${shown} of ${rules.length} rules`
  }
  const press = (tag, on) => {
    for (const b of buttons) if (b.dataset.tag === tag) b.setAttribute("aria-pressed", String(on))
  }

  for (const button of buttons)
    button.addEventListener("click", () => {
      press(button.dataset.tag, button.getAttribute("aria-pressed") !== "true")
      show()
    })
  for (const chip of document.querySelectorAll(".rule-chip"))
    chip.addEventListener("click", () => {
      press(chip.textContent, true)
      show()
      box.scrollIntoView({ block: "start" })
    })
  field.addEventListener("input", show)
  box.querySelector("#rule-clear").addEventListener("click", () => {
    field.value = ""
    for (const b of buttons) b.setAttribute("aria-pressed", "false")
    show()
  })
  box.hidden = false
  show()
}

filterRules()
