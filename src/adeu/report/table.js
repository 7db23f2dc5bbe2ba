// The tables of an experiment: the figures of each case with intervals and the paper's figures, and comparisons of
// cases seed by seed.

const DOTS = 40;

function figureCell(row, metric) {
  const text = row ? row.text : { under: [] };
  const exact = row && row.value !== null ? String(row.value) : "";
  const cell = el("td", { "data-label": metric.title, "data-case": row && row.case, "data-metric": metric.name,
    "data-value": exact, title: exact && `exactly ${exact}` });
  cell.append(el("span", { class: "value" }, text.value ?? "-"));
  if (metric.share && row?.runs) cell.append(runDots(row.runs));
  cell.append(...text.under.map((line) => el("span", { class: "interval" }, line)));
  if (text.paper) cell.append(el("span", { class: "paper" }, `paper ${text.paper}`));
  return cell;
}

// The single runs of a share: a dot is filled if the run counts.
function runDots(runs) {
  const seeds = Object.entries(runs);
  if (seeds.length > DOTS) return "";
  return el("span", { class: "runs", role: "img", "aria-label": seeds.map(([seed, value]) => `seed ${seed}: ${value ? "yes" : "no"}`).join(", ") },
    seeds.map(([seed, value]) => el("i", { class: value ? "run yes" : "run", title: `seed ${seed}: ${value ? "yes" : "no"}` })));
}

function caseName(entry, index, shown, toggle) {
  if (!toggle) return [dot(entry), entry.name];
  const button = el("button", { type: "button", class: "case", "aria-pressed": shown.has(index),
    title: "show or hide its curve" }, dot(entry), el("span", {}, entry.name));
  button.addEventListener("click", () => {
    toggle(index);
    button.setAttribute("aria-pressed", shown.has(index));
  });
  return [button];
}

function figureTable(experiment, shown, toggle) {
  const { metrics, rows, cases } = experiment;
  const head = headOf("seeds", metrics);
  const seedsOf = (entry) => Math.max(0, ...rows.filter((row) => row.case === entry.name).map((row) => row.seeds ?? 0));
  const most = Math.max(0, ...cases.map(seedsOf));
  const body = cases.map((entry, index) => {
    const mine = new Map(rows.filter((row) => row.case === entry.name).map((row) => [row.metric, row]));
    return el("tr", {}, el("th", { scope: "row" }, caseName(entry, index, shown, toggle)), seedsCell("seeds", seedsOf(entry), most),
      metrics.map((metric) => figureCell(mine.get(metric.name), metric)));
  });
  const known = rows.some((row) => row.low !== null || row.high !== null);
  const caption = known ? "Below each figure: its 95% interval, where a reliable one exists, or with few seeds the single runs" :
    "Below each figure: the single runs, because there are too few seeds for an interval";
  const mixed = cases.some((entry) => seedsOf(entry) < most) ? ". Cases differ in their number of seeds: rows with fewer are marked" : "";
  return tableOf(caption + mixed, head, body);
}

// A table for each case that others are compared with.
function comparisonTables(experiment) {
  const rows = experiment.rows.filter((row) => row.text.pair.length);
  return [...new Set(rows.map((row) => row.reference))].map((reference) =>
    comparisonTable(experiment, reference, rows.filter((row) => row.reference === reference)));
}

function comparisonTable(experiment, reference, rows) {
  const metrics = experiment.metrics.filter((metric) => rows.some((row) => row.metric === metric.name));
  const body = experiment.cases.filter((entry) => rows.some((row) => row.case === entry.name)).map((entry) => {
    const mine = new Map(rows.filter((row) => row.case === entry.name).map((row) => [row.metric, row]));
    return el("tr", {}, el("th", { scope: "row" }, el("span", { class: "case" }, dot(entry), el("span", {}, entry.name))),
      seedsCell("common seeds", mine.values().next().value.common_seeds),
      metrics.map((metric) => el("td", { "data-label": metric.title, "data-compared": metric.name },
        (mine.get(metric.name)?.text.pair ?? []).map((line, i) => el("span", { class: i ? "interval" : "value" }, line)))));
  });
  const caption = `Difference from ${reference} seed by seed, and probability of improvement; with intervals`;
  return tableOf(caption, headOf("common seeds", metrics), body);
}

const headOf = (seeds, metrics) => el("tr", {}, el("th", { scope: "col" }, "case"), el("th", { scope: "col", class: "count" }, seeds),
  metrics.map((metric) => el("th", { scope: "col", title: metric.meaning || null }, metric.title)));

// The number of seeds of a row; and the largest number of any row, if that is more.
const seedsCell = (label, seeds, most = seeds) => el("td", { "data-label": label }, el("span", {}, seeds ? whole(seeds) : "-"),
  seeds < most ? el("span", { class: "fewer" }, `of ${whole(most)}`) : null);

const tableOf = (caption, head, body) => el("div", { class: "scroll" }, el("table", { class: "figures" },
  el("caption", {}, caption), el("thead", {}, head), el("tbody", {}, body)));

function meanings(metrics) {
  const explained = metrics.filter((metric) => metric.meaning);
  if (!explained.length) return null;
  return el("details", {}, el("summary", {}, "Meaning of the columns"), el("dl", { class: "plain" },
    explained.map((metric) => el("div", {}, el("dt", {}, metric.title), el("dd", {}, metric.meaning)))));
}

function settingsOf(experiment) {
  const chips = (settings) => Object.entries(settings).map(([path, value]) =>
    el("span", { class: "setting" }, el("span", { class: "path" }, path), " ", el("span", {}, value)));
  const same = Object.keys(experiment.same).length;
  const differ = experiment.cases.some((entry) => Object.keys(entry.settings).length);
  if (!same && !differ) return null;
  return el("details", {}, el("summary", {}, "Settings, and differences between the cases"),
    differ ? el("dl", { class: "settings" }, experiment.cases.map((entry) => el("div", {},
      el("dt", {}, dot(entry), entry.name),
      el("dd", {}, chips(entry.settings))))) : null,
    same ? el("p", { class: "same" }, el("strong", {}, differ ? "The same in all: " : "All settings: "),
      chips(experiment.same)) : null);
}
