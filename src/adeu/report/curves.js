// Curves over training: the mean over seeds; for the return, with its band or, with few seeds, the single runs. One chart
// or one per case, linear or logarithmic, with the values at the pointer.

const TOGETHER = 4;
const COLORED = 7;
const SHOWN = { return: "Return", spread: "Spread g(f(s))", spread_p10: "Spread, 10th percentile of steps",
  spread_p90: "Spread, 90th percentile of steps", saturated: "Share of steps with g saturated", uncertainty: "Uncertainty f(s)",
  explored: "Share of steps that explored", deviation: "Deviation from the policy's action, in half ranges",
  switches: "Switches per episode" };

function curvesPanel(experiment, shown) {
  const curves = experiment.cases.map((entry) => entry.curve);
  const unit = curves.find(Boolean).unit;
  const box = el("div", { class: "chart", tabindex: 0, role: "group",
    "aria-label": "Learning curves. The arrow keys move the read-out." });
  const tip = el("div", { class: "tip", role: "status", hidden: "" });
  const log = Object.fromEntries(experiment.log.map((name) => [name, true]));
  let what = "return", at = null, charts = [], chosen = null;

  const visible = () => curves.flatMap((curve, index) =>
    (curve?.[what] && shown.has(index) ? [{ curve: curveLines(curve, what), index, entry: experiment.cases[index] }] : []));
  const apart = () => chosen ?? visible().length > TOGETHER;

  function draw() {
    if (!box.clientWidth) return;
    const all = visible(), groups = apart() ? all.map((each) => [each]) : [all];
    const columns = apart() ? Math.max(1, Math.floor(box.clientWidth / 300)) : 1;
    const width = Math.floor((box.clientWidth - 16 * (columns - 1)) / columns);
    charts = groups.map((group) => curveChart(group, all, { width, small: apart(), log: Boolean(log[what]), unit }));
    for (const chart of charts) {
      const follow = (event) => read(chart.back(event.clientX - chart.picture.getBoundingClientRect().left), chart);
      chart.picture.addEventListener("pointermove", follow);
      chart.picture.addEventListener("pointerdown", follow);
    }
    box.classList.toggle("apart", apart());
    box.style.setProperty("--columns", columns);
    box.replaceChildren(...charts.map((chart) => chart.node), tip);
    press();
    read(at, charts[0]);
  }

  // Show the values at the point nearest to x: in a box beside the pointer, or above each of several charts.
  function read(x, chart) {
    at = x === null || !chart?.group.length ? null : nearestOf(chart.group[0].curve.x, x);
    tip.hidden = at === null || apart();
    charts.forEach((each) => each.read(at));
    if (tip.hidden) return;
    const here = chart.group.map((each) => ({ ...each, i: nearest(each.curve.x, at) }));
    here.sort((one, other) => (other.curve.mean[other.i] ?? -Infinity) - (one.curve.mean[one.i] ?? -Infinity));
    tip.replaceChildren(el("strong", {}, `${unit} ${figure(at)}`), el("table", {}, here.map(({ curve, entry, i }) =>
      el("tr", {}, el("td", {}, dot(entry), entry.name), el("td", {}, figure(curve.mean[i])),
        el("td", { class: "interval" }, around(curve, i))))));
    const px = chart.x(at), left = px < chart.width / 2 ? px + 14 : px - tip.offsetWidth - 14;
    tip.style.left = `${Math.max(0, Math.min(left, chart.width - tip.offsetWidth))}px`;
  }

  box.addEventListener("pointerleave", () => read(null));
  box.addEventListener("blur", () => read(null));
  box.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const first = visible()[0];
    if (!step || !first) return;
    event.preventDefault();
    const i = at === null ? 0 : nearest(first.curve.x, at) + step;
    read(first.curve.x[Math.min(Math.max(i, 0), first.curve.x.length - 1)], charts[0]);
  });

  const scales = choiceOf("Scale", { log: true, linear: false }, () => Boolean(log[what]), (isLog) => {
    log[what] = isLog;
    draw();
  });
  const layouts = choiceOf("Charts", { "one chart": false, "one each": true }, apart, (isApart) => {
    chosen = isApart;
    draw();
  });
  const press = () => [scales, layouts].forEach((each) => each.press());
  const known = Object.keys(SHOWN).filter((name) => curves.some((curve) => curve?.[name]?.some((value) => value !== null)));
  const choice = el("select", { "aria-label": "Quantity of the curves", onchange: (event) => {
    what = event.target.value;
    draw();
  } }, known.map((name) => el("option", { value: name }, SHOWN[name])));
  onWidth(box, draw);
  const panel = el("figure", {}, el("figcaption", {}, el("span", {}, choice, ` over ${unit}s`),
    el("span", { class: "switches" }, curves.filter(Boolean).length > 1 ? layouts.node : null, scales.node)), box);
  return { panel, draw };
}

// A group of buttons with one pressed.
function choiceOf(label, values, now, choose) {
  const node = el("span", { class: "switch", role: "group", "aria-label": label }, Object.entries(values).map(([name, value]) =>
    el("button", { type: "button", onclick: () => choose(value) }, name)));
  return { node, press: () => Object.values(values).forEach((value, i) =>
    node.children[i].setAttribute("aria-pressed", value === now())) };
}

// The lines of a curve. The return has a band or single runs; the spread has percentiles. If all seeds agree, the band is
// a line.
function curveLines(curve, what) {
  const mean = curve[what], [low, high] = what === "return" ? [curve.low, curve.high] :
    what === "spread" ? [curve.spread_p10, curve.spread_p90] : [];
  const banded = low?.some((value) => value !== null);
  const edge = (values) => (banded ? values.map((value, i) => value ?? mean[i]) : []);
  return { x: curve.x, mean, low: edge(low), high: edge(high), runs: what === "return" ? Object.values(curve.runs) : [] };
}

// The text beside the mean at a point: its interval, or the single runs.
function around(curve, i) {
  if (curve.runs.length > 1) return curve.runs.map((run) => figure(run[i])).join(", ");
  return !curve.low.length || curve.low[i] === curve.high[i] ? "" : `${figure(curve.low[i])} to ${figure(curve.high[i])}`;
}

function nearest(values, x) {
  let low = 0, high = values.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (values[middle] < x) low = middle; else high = middle;
  }
  return Math.abs(values[low] - x) <= Math.abs(values[high] - x) ? low : high;
}

const nearestOf = (values, x) => values[nearest(values, x)];

function extent(lists) {
  let low = Infinity, high = -Infinity;
  for (const list of lists) for (const value of list) if (value !== null) {
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  return low <= high ? [low, high] : [0, 1];
}

// The range of the values; it includes 0 if 0 is no further away than the range is wide.
function axisRange(least, most, log) {
  const span = most - least, near = log || span === 0;
  const low = least > 0 && (near || least <= span) ? 0 : least, high = most < 0 && (near || -most <= span) ? 0 : most;
  return [low, low === high ? low + 1 : high];
}

// A chart of some curves with the axes of all; if there are several charts, the other curves are in the background.
function curveChart(group, all, { width, small, log, unit }) {
  const frame = curveFrame(all.map(({ curve }) => curve), width, small, log, unit);
  const others = small ? all.filter((each) => !group.includes(each)) : [];
  const drawn = group.map(({ curve, entry, index }) => curveLine(frame, curve, entry, index));
  const cursor = svg("line", { class: "cursor", y1: frame.top, y2: frame.bottom, visibility: "hidden" });
  const picture = svg("svg", { width, height: frame.height, "aria-hidden": "true" }, frame.axes,
    others.map(({ curve, entry, index }) => curveLine(frame, curve, entry, index, "ghost").line),
    drawn.map((line) => line.band), drawn.flatMap((line) => line.runs), drawn.map((line) => line.line), cursor);
  const said = el("span", { class: "said" });
  const node = small ? el("div", {}, el("p", { class: "small-title" }, el("span", {}, dot(group[0].entry), group[0].entry.name), said),
    picture) : picture;
  const read = (x) => {
    cursor.setAttribute("visibility", x === null ? "hidden" : "visible");
    for (const end of ["x1", "x2"]) cursor.setAttribute(end, x === null ? 0 : frame.x(x));
    if (small) said.textContent = x === null ? "" : readOut(group[0].curve, nearest(group[0].curve.x, x));
  };
  return { ...frame, group, node, picture, read };
}

function readOut(curve, i) {
  const beside = around(curve, i);
  return figure(curve.mean[i]) + (beside && curve.runs.length <= 1 ? ` (${beside})` : "");
}

function curveFrame(curves, width, small, log, unit) {
  const height = small ? 170 : 320;
  const [left, right, top, bottom] = [small ? 52 : 64, width - 10, 12, height - (small ? 24 : 40)];
  const [x0, x1] = extent(curves.map((curve) => curve.x));
  const [y0, y1] = axisRange(...extent(curves.flatMap((curve) => [curve.mean, curve.low, curve.high, ...curve.runs])), log);
  const threshold = 10 ** Math.round(Math.log10(Math.max(Math.abs(y1), Math.abs(y0))) - 3);
  const bend = log ? symlog(threshold) : (value) => value;
  const x = (value) => left + (value - x0) / (x1 - x0 || 1) * (right - left);
  const y = (value) => bottom - (bend(value) - bend(y0)) / (bend(y1) - bend(y0)) * (bottom - top);
  const back = (px) => x0 + (px - left) / (right - left) * (x1 - x0);
  const ticks = log ? logTicks(y0, y1, threshold) : niceTicks(y0, y1, small ? 3 : 5);
  const rows = ticks.filter((_, i) => i % Math.ceil(ticks.length / (small ? 4 : 12)) === 0);
  const columns = niceTicks(x0, x1, Math.max(3, Math.floor(width / 130)));
  const axes = svg("g", { class: "axes" },
    rows.map((tick) => svg("line", { x1: left, x2: right, y1: y(tick), y2: y(tick), class: tick ? "grid" : "zero" })),
    rows.map((tick) => svg("text", { x: left - 8, y: y(tick) + 4, "text-anchor": "end" }, figure(tick))),
    columns.map((tick) => svg("text", { x: x(tick), y: bottom + 18, "text-anchor": "middle" }, figure(tick))),
    small ? null : svg("text", { x: right, y: bottom + 34, "text-anchor": "end", class: "unit" }, `${unit}s of training`));
  return { x, y, back, axes, top, bottom, width, height };
}

function curveLine(frame, curve, entry, index, kind = "curve") {
  const style = `--color: var(--case-${entry.color})`;
  const points = (values) => values.map((value, i) => (value === null || curve.x[i] === null ? null :
    `${frame.x(curve.x[i]).toFixed(1)},${frame.y(value).toFixed(1)}`)).filter(Boolean);
  return {
    band: svg("polygon", { class: "band", points: [...points(curve.low), ...points(curve.high).reverse()].join(" "),
      style }),
    runs: curve.runs.map((run) => svg("polyline", { class: "single", points: points(run).join(" "), style })),
    line: svg("polyline", { class: kind, points: points(curve.mean).join(" "), style,
      "stroke-dasharray": index >= COLORED ? "2 3" : entry.dashed ? "6 5" : null }),
  };
}
