/* The order of search results: guides before explanations before the reference; a title counts more than text. */
const PLACES = [["howto/", 40], ["tutorials/", 30], ["index", 20], ["contributing/", 10], ["development/", -10]]

var Scorer = {
  score: ([docname, title, anchor, descr, score]) => {
    const place = PLACES.find(([start]) => docname.startsWith(start))
    return score + (place ? place[1] : 0)
  },
  objNameMatch: 45,
  objPartialMatch: 12,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
}
