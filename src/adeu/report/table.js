// The table of an experiment: a row for each case, ours with its interval, the paper's beside it.

function figureCell(row, metric) {
  const text = row ? row.text : {};
  const exact = row && row.value !== null ? String(row.value) : "";
  const cell = el("td", { "data-label": metric.title, "data-case": row && row.case, "data-metric": metric.name,
    "data-value": exact, title: exact && `exactly ${exact}` });
  cell.append(el("span", { class: "value" }, text.value ?? "-"));
  if (text.low && text.low !== text.high) cell.append(el("span", { class: "interval" }, `${text.low} to ${text.high}`));
  if (text.paper) cell.append(el("span", { class: "paper" }, `paper ${text.paper}`));
  return cell;
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
  const head = el("tr", {}, el("th", { scope: "col" }, "case"),
    metrics.map((metric) => el("th", { scope: "col", title: metric.meaning || null }, metric.title)));
  const body = cases.map((entry, index) => {
    const mine = new Map(rows.filter((row) => row.case === entry.name).map((row) => [row.metric, row]));
    return el("tr", {}, el("th", { scope: "row" }, caseName(entry, index, shown, toggle)),
      metrics.map((metric) => figureCell(mine.get(metric.name), metric)));
  });
  const seeds = experiment.seeds === 1 ? "one seed" : `${experiment.seeds} seeds`;
  return el("div", { class: "scroll" }, el("table", { class: "figures" },
    el("caption", {}, `Over ${seeds}, with 95% intervals`), el("thead", {}, head), el("tbody", {}, body)));
}

function meanings(metrics) {
  const explained = metrics.filter((metric) => metric.meaning);
  if (!explained.length) return null;
  return el("details", {}, el("summary", {}, "What the columns mean"), el("dl", { class: "plain" },
    explained.map((metric) => el("div", {}, el("dt", {}, metric.title), el("dd", {}, metric.meaning)))));
}

function settingsOf(experiment) {
  const chips = (settings) => Object.entries(settings).map(([path, value]) =>
    el("span", { class: "setting" }, el("span", { class: "path" }, path), " ", el("span", {}, value)));
  const same = Object.keys(experiment.same).length;
  const differ = experiment.cases.some((entry) => Object.keys(entry.settings).length);
  if (!same && !differ) return null;
  return el("details", {}, el("summary", {}, "Settings: what differs between the cases"),
    differ ? el("dl", { class: "settings" }, experiment.cases.map((entry) => el("div", {},
      el("dt", {}, dot(entry), entry.name),
      el("dd", {}, chips(entry.settings))))) : null,
    same ? el("p", { class: "same" }, el("strong", {}, differ ? "The same in all: " : "All settings: "),
      chips(experiment.same)) : null);
}
