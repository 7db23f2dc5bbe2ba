// An episode over time: the spread at each step, and a close-up of the steps around the current one.

const SPREAD_HEIGHT = 130;
const LANE = 24;
const WIDE = 110;
let gradients = 0;

function drawSpread(box, trace, seek) {
  const width = box.clientWidth, n = trace.length, spread = trace.get("spread"), top = trace.top("spread");
  const [left, right, above, below] = [52, width - 8, 8, SPREAD_HEIGHT - 34];
  const x = (step) => left + (step + 0.5) / n * (right - left);
  const y = (value) => below - (value || 0) / top * (below - above);
  const id = `heat-${gradients++}`;
  const stops = HEAT.map((_, i) => svg("stop", { offset: i / (HEAT.length - 1), "stop-color": heat(i / (HEAT.length - 1)) }));
  let area = `M${left},${below}`, marks = "";
  for (let step = 0; step < n; step++) {
    const [from, to] = [left + step / n * (right - left), left + (step + 1) / n * (right - left)];
    area += `L${from.toFixed(2)},${y(spread[step]).toFixed(2)}L${to.toFixed(2)},${y(spread[step]).toFixed(2)}`;
    if (trace.explores(step)) marks += `M${x(step).toFixed(2)},${below + 4}v8`;
  }
  area += `L${right},${below}Z`;
  const cursor = svg("g", { class: "now" }, svg("line", { y1: above - 6, y2: below + 14 }), svg("circle", { r: 5 }));
  const picture = svg("svg", { width, height: SPREAD_HEIGHT, "aria-hidden": "true" },
    svg("defs", {}, svg("linearGradient", { id, gradientUnits: "userSpaceOnUse", x1: 0, x2: 0, y1: below, y2: above }, stops)),
    svg("g", { class: "axes" }, [0, top].map((value) => svg("line", { class: value ? "grid" : "zero", x1: left, x2: right,
      y1: y(value), y2: y(value) })), [0, top].map((value) => svg("text", { x: left - 8, y: y(value) + 4,
      "text-anchor": "end" }, brief(value)))),
    svg("path", { d: area, fill: `url(#${id})`, class: "area" }),
    svg("path", { d: marks, class: "marks" }),
    svg("g", { class: "axes" }, niceTicks(0, n, Math.max(3, Math.floor(width / 130))).map((step) => svg("text", {
      x: left + step / n * (right - left), y: below + 28, "text-anchor": step ? "middle" : "start" }, whole(step)))),
    cursor);
  const follow = (event) => {
    const share = (event.clientX - box.getBoundingClientRect().left - left) / (right - left);
    seek(Math.floor(share * n));
  };
  picture.addEventListener("pointerdown", (event) => {
    picture.setPointerCapture(event.pointerId);
    follow(event);
  });
  picture.addEventListener("pointermove", (event) => event.buttons && follow(event));
  box.replaceChildren(picture);
  return (now) => {
    const [line, dot] = cursor.children;
    line.setAttribute("x1", x(now));
    line.setAttribute("x2", x(now));
    dot.setAttribute("cx", x(now));
    dot.setAttribute("cy", y(spread[now]));
    dot.style.fill = heat(spread[now] / top);
  };
}

// The steps around the current one: rings are the policy's actions, dots the agent's, bars the spread.
function drawClose(box, trace, now, dimension) {
  const width = box.clientWidth, wide = trace.dimensions.length > 0;
  const [best, action] = wide ? [trace.get(`best_${dimension}`), trace.get(`action_${dimension}`)] :
    trace.actions.length ? [trace.get("best"), trace.get("action")] : [];
  const [least, most] = wide ? extent([best, action]) : [];
  const names = wide ? [least, most] : trace.actions;
  const steps = Math.min(width < 500 ? 25 : 41, trace.length), spread = trace.get("spread"), top = trace.top("spread");
  const first = Math.max(0, Math.min(now - Math.floor(steps / 2), trace.length - steps));
  const [left, right] = [52, width - 8];
  const column = (right - left) / steps, lanes = wide ? WIDE : action ? names.length * LANE : 0, base = lanes + 62;
  const x = (step) => left + (step - first + 0.5) * column;
  const y = (value) => (wide ? 12 + (most - value) / (most - least || 1) * (WIDE - 16) : (names.indexOf(value) + 0.5) * LANE + 4);
  const shapes = [svg("rect", { class: "present", x: x(now) - column / 2, width: column, y: 0, height: base + 2, rx: 3 })];
  for (const name of action ? names : []) {
    shapes.push(svg("line", { class: "lane", x1: left, x2: right, y1: y(name), y2: y(name) }),
      svg("text", { x: left - 8, y: y(name) + 4, "text-anchor": "end" }, trace.map ? trace.map.names[name] ?? name : figure(name)));
  }
  const size = Math.min(column * 0.42, 7);
  for (let step = first; step < Math.min(first + steps, trace.length); step++) {
    if (action) {
      const differs = best && best[step] !== action[step];
      if (differs) shapes.push(svg("line", { class: "gap", x1: x(step), x2: x(step), y1: y(best[step]), y2: y(action[step]) }));
      if (best) shapes.push(svg("circle", { class: "best", cx: x(step), cy: y(best[step]), r: size }));
      shapes.push(svg("circle", { class: differs ? "action off" : "action", cx: x(step), cy: y(action[step]), r: size * 0.6 }));
    }
    const height = Math.max(1, (spread[step] || 0) / top * 48);
    shapes.push(svg("rect", { class: "bar", x: x(step) - column * 0.4, width: column * 0.8, y: base - height, height,
      fill: heat(spread[step] / top) }));
  }
  shapes.push(svg("line", { class: "zero", x1: left, x2: right, y1: base, y2: base }),
    svg("text", { x: left - 8, y: base - 20, "text-anchor": "end" }, "spread"),
    ...[first, Math.min(first + steps, trace.length) - 1].map((step, i) => svg("text", { x: i ? right : left, y: base + 18,
      "text-anchor": i ? "end" : "start" }, `step ${whole(step + 1)}`)));
  box.replaceChildren(svg("svg", { width, height: base + 24, class: "axes", "aria-hidden": "true" }, shapes));
}
