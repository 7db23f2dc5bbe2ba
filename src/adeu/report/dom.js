// Elements, numbers and scales. All text is inserted as text nodes, never parsed as HTML.

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined) node.setAttribute(name, value);
  }
  node.append(...children.flat().filter((child) => child !== null));
  return node;
}

const el = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes = {}, ...children) =>
  fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

const whole = (value) => value.toLocaleString("en-US");

function figure(value) {
  if (value === null || value === undefined) return "-";
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e9)) return value.toExponential(2);
  if (size >= 1000) return Math.round(value).toLocaleString("en-US");
  return String(Number(value.toPrecision(4)));
}

const brief = (value) => figure(Number(value.toPrecision(2)));

const symlog = (threshold) => (value) => Math.sign(value) * Math.log10(1 + Math.abs(value) / threshold);

// Tick positions between two values, in steps of 1, 2 or 5 times a power of ten.
function niceTicks(low, high, count) {
  const rough = (high - low) / count || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((each) => each >= rough);
  const ticks = [];
  for (let i = Math.ceil(low / step); i <= Math.floor(high / step); i++) ticks.push(i * step);
  return ticks;
}

// Round up to 1, 2 or 5 times a power of ten.
function roundUp(value) {
  const power = 10 ** Math.floor(Math.log10(value || 1));
  return [1, 2, 5, 10].map((factor) => factor * power).find((each) => each >= value * (1 - 1e-9));
}

function logTicks(low, high, threshold) {
  const ticks = [0];
  for (let size = threshold; size <= Math.max(-low, high); size *= 10) ticks.push(size, -size);
  return ticks.filter((tick) => tick >= low && tick <= high);
}

// Redraw when the width of an element changes.
function onWidth(node, draw) {
  let last = 0;
  new ResizeObserver(() => {
    const width = Math.floor(node.clientWidth);
    if (width && width !== last) draw((last = width));
  }).observe(node);
}

// The palette of adeu.envs, from ice (no spread) to orange (the largest spread).
const HEAT = [[205, 232, 247], [255, 247, 205], [254, 217, 118], [250, 155, 60], [236, 84, 18]];

function heat(share) {
  const at = Math.min(Math.max(share || 0, 0), 1) * (HEAT.length - 1);
  const from = HEAT[Math.floor(at)], to = HEAT[Math.ceil(at)], rest = at % 1;
  return `rgb(${from.map((value, i) => Math.round(value + (to[i] - value) * rest)).join(" ")})`;
}

const dot = (entry) => el("span", { class: "dot", style: `--color: var(--case-${entry.color})` });
