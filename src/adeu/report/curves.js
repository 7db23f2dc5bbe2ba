// Curves over training: the mean over seeds, the return's with its band or, where seeds are few, its single runs; a
// read-out under the pointer, two scales.

const CURVE_HEIGHT = 320;
const SHOWN = { return: "Return", spread: "Spread g(f(s))", spread_p10: "Spread, 10th percentile",
  spread_p90: "Spread, 90th percentile", saturated: "Share of steps with g saturated", uncertainty: "Uncertainty f(s)",
  explored: "Share of steps that explored", deviation: "Deviation from the policy's action, in half ranges",
  switches: "Switches in an episode" };

function curvesPanel(experiment, shown) {
  const curves = experiment.cases.map((entry) => entry.curve);
  const unit = curves.find(Boolean).unit;
  const box = el("div", { class: "chart", tabindex: 0, role: "group",
    "aria-label": "Learning curves. The arrow keys move the read-out." });
  const tip = el("div", { class: "tip", role: "status", hidden: "" });
  const log = { return: true, uncertainty: true };
  let what = "return", at = null, frame = null;

  // What a curve shows now; only the return has a band, or single runs. Where all seeds agree, the band is a line.
  const lines = (curve) => {
    const mean = curve[what], banded = what === "return" && curve.low.some((value) => value !== null);
    const edge = (values) => (banded ? values.map((value, i) => value ?? mean[i]) : []);
    return { x: curve.x, mean, low: edge(curve.low), high: edge(curve.high),
      runs: what === "return" ? Object.values(curve.runs) : [] };
  };
  const visible = () => curves.flatMap((curve, index) => (curve?.[what] && shown.has(index) ? [{ curve: lines(curve), index }] : []));

  function draw() {
    const width = box.clientWidth;
    if (!width) return;
    frame = curveFrame(visible().map(({ curve }) => curve), width, Boolean(log[what]), unit);
    const drawn = visible().map(({ curve, index }) => curveLine(frame, curve, experiment.cases[index], index));
    const cursor = svg("line", { class: "cursor", y1: frame.top, y2: frame.bottom, visibility: "hidden" });
    frame.cursor = cursor;
    box.replaceChildren(svg("svg", { width, height: CURVE_HEIGHT, "aria-hidden": "true" },
      frame.axes, drawn.map((line) => line.band), drawn.flatMap((line) => line.runs), drawn.map((line) => line.line), cursor), tip);
    read(at);
  }

  function read(x) {
    at = x;
    const here = x === null ? [] : visible().map(({ curve, index }) => ({ curve, index, i: nearest(curve.x, x) }));
    tip.hidden = !here.length;
    frame.cursor.setAttribute("visibility", here.length ? "visible" : "hidden");
    if (!here.length) return;
    at = here[0].curve.x[here[0].i];
    const px = frame.x(at);
    frame.cursor.setAttribute("x1", px);
    frame.cursor.setAttribute("x2", px);
    here.sort((one, other) => (other.curve.mean[other.i] ?? -Infinity) - (one.curve.mean[one.i] ?? -Infinity));
    tip.replaceChildren(el("strong", {}, `${unit} ${figure(at)}`), el("table", {}, here.map(({ curve, index, i }) =>
      el("tr", {}, el("td", {}, dot(experiment.cases[index]), experiment.cases[index].name), el("td", {}, figure(curve.mean[i])),
        el("td", { class: "interval" }, around(curve, i))))));
    const left = px < frame.width / 2 ? px + 14 : px - tip.offsetWidth - 14;
    tip.style.left = `${Math.max(0, Math.min(left, frame.width - tip.offsetWidth))}px`;
  }

  const follow = (event) => read(frame.back(event.clientX - box.getBoundingClientRect().left));
  box.addEventListener("pointermove", follow);
  box.addEventListener("pointerdown", follow);
  box.addEventListener("pointerleave", () => read(null));
  box.addEventListener("blur", () => read(null));
  box.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const first = visible()[0];
    if (!step || !first) return;
    event.preventDefault();
    const i = at === null ? 0 : nearest(first.curve.x, at) + step;
    read(first.curve.x[Math.min(Math.max(i, 0), first.curve.x.length - 1)]);
  });

  const scale = (name, isLog) => el("button", { type: "button", onclick: () => {
    log[what] = isLog;
    press();
    draw();
  } }, name);
  const scales = el("span", { class: "switch", role: "group", "aria-label": "Scale" }, scale("log", true), scale("linear", false));
  const press = () => [true, false].forEach((isLog, i) =>
    scales.children[i].setAttribute("aria-pressed", isLog === Boolean(log[what])));
  const known = Object.keys(SHOWN).filter((name) => curves.some((curve) => curve?.[name]?.some((value) => value !== null)));
  const choice = el("select", { "aria-label": "What the curves show", onchange: (event) => {
    what = event.target.value;
    press();
    draw();
  } }, known.map((name) => el("option", { value: name }, SHOWN[name])));
  press();
  onWidth(box, draw);
  const panel = el("figure", {}, el("figcaption", {}, el("span", {}, choice, ` over ${unit}s`), scales), box);
  return { panel, draw };
}

// What stands beside the mean at a point: its interval, or the single runs.
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

function extent(lists) {
  let low = Infinity, high = -Infinity;
  for (const list of lists) for (const value of list) if (value !== null) {
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  return low <= high ? [low, high] : [0, 1];
}

function curveFrame(curves, width, log, unit) {
  const [left, right, top, bottom] = [64, width - 10, 12, CURVE_HEIGHT - 40];
  const [x0, x1] = extent(curves.map((curve) => curve.x));
  let [y0, y1] = extent(curves.flatMap((curve) => [curve.mean, curve.low, curve.high, ...curve.runs]));
  y0 = Math.min(0, y0);
  y1 = Math.max(0, y1) || (y0 < 0 ? 0 : 1);
  const threshold = 10 ** Math.round(Math.log10(Math.max(y1, -y0)) - 3);
  const bend = log ? symlog(threshold) : (value) => value;
  const x = (value) => left + (value - x0) / (x1 - x0 || 1) * (right - left);
  const y = (value) => bottom - (bend(value) - bend(y0)) / (bend(y1) - bend(y0)) * (bottom - top);
  const back = (px) => x0 + (px - left) / (right - left) * (x1 - x0);
  const rows = log ? logTicks(y0, y1, threshold) : niceTicks(y0, y1, 5);
  const columns = niceTicks(x0, x1, Math.max(3, Math.floor(width / 130)));
  const axes = svg("g", { class: "axes" },
    rows.map((tick) => svg("line", { x1: left, x2: right, y1: y(tick), y2: y(tick), class: tick ? "grid" : "zero" })),
    rows.map((tick) => svg("text", { x: left - 8, y: y(tick) + 4, "text-anchor": "end" }, figure(tick))),
    columns.map((tick) => svg("text", { x: x(tick), y: bottom + 18, "text-anchor": "middle" }, figure(tick))),
    svg("text", { x: right, y: bottom + 34, "text-anchor": "end", class: "unit" }, `${unit}s of training`));
  return { x, y, back, axes, top, bottom, width };
}

function curveLine(frame, curve, entry, index) {
  const style = `--color: var(--case-${entry.color})`;
  const points = (values) => values.map((value, i) => (value === null || curve.x[i] === null ? null :
    `${frame.x(curve.x[i]).toFixed(1)},${frame.y(value).toFixed(1)}`)).filter(Boolean);
  return {
    band: svg("polygon", { class: "band", points: [...points(curve.low), ...points(curve.high).reverse()].join(" "),
      style }),
    runs: curve.runs.map((run) => svg("polyline", { class: "single", points: points(run).join(" "), style })),
    line: svg("polyline", { class: "curve", points: points(curve.mean).join(" "), style,
      "stroke-dasharray": index >= MOST ? "2 3" : entry.dashed ? "6 5" : null }),
  };
}
