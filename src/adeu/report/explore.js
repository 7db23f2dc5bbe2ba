// When did it explore? A case, a seed, an episode, and a scrubber over its steps.

const LAST = 40;
const MOST_LANES = 12;

const decode = (column) => (typeof column === "string" ? Array.from(column, Number) : column);

// The upper end of a case's colour scale: the largest spread that g can give, or the largest value in its episodes.
function scaleOf(entry, name) {
  const [, most] = extent(entry.traces.map((raw) => decode(raw.columns[name] ?? [])));
  return name === "spread" && entry.ceiling ? Math.max(entry.ceiling, most) : roundUp(most);
}

function makeTrace(entry, raw, map, tops) {
  const columns = Object.fromEntries(Object.entries(raw.columns).map(([name, column]) => [name, decode(column)]));
  const get = (name) => columns[name];
  const known = map && columns.state && columns.state.every((state) => map.cells[state] !== undefined);
  for (const name of known ? ["best", "action"] : []) {
    if (columns[name]) columns[name] = columns[name].map((action, i) => map.moved(columns.state[i], action));
  }
  // A continuous action has a column per dimension; with any spread it differs from the policy's action.
  const dimensions = Object.keys(columns).filter((name) => /^action_\d+$/.test(name)).map((name) => name.slice(7));
  const values = [...new Set([...(columns.best ?? []), ...(columns.action ?? [])])].sort((a, b) => a - b);
  return {
    entry, get, seed: raw.seed, place: placeOf(raw), length: columns.spread.length, map: known ? map : null, dimensions,
    top: (name) => tops[name],
    leaves: (step) => Boolean(columns.best && columns.action && columns.best[step] !== columns.action[step]),
    explores(step) { return !dimensions.length && (this.leaves(step) || Boolean(columns.explored?.[step])); },
    actions: known ? map.names.map((_, i) => i) : values.length <= MOST_LANES ? values : [],
    // The variation of the spread within the episode; the page first shows the episode with the most.
    contrast: deviation(columns.spread.map((value) => value ?? 0)),
  };
}

// The position of an episode in training: its number, or the share of training before it.
function placeOf({ episode, progress, step }) {
  const percent = progress === null ? "" : `${figure(Number((100 * progress).toPrecision(2)))}%`;
  if (episode !== null) {
    return { option: whole(episode) + (percent && ` (${percent})`), title: (whose) => `Episode ${whole(episode)} of ${whose}` };
  }
  const when = progress === 0 ? "the start" : progress === 1 ? "the end" : percent, from = step === null ? "" : ` (step ${whole(step)})`;
  return { option: when + from, title: (whose) => `An episode of ${whose}, at ${when} of training${from}` };
}

const mean = (values) => values.reduce((sum, value) => sum + (value ?? 0), 0) / values.length;
const deviation = (values) => Math.sqrt(mean(values.map((value) => (value - mean(values)) ** 2)));
const exploring = (trace) => [...Array(trace.length).keys()].filter((step) => trace.explores(step));

function story(trace) {
  const n = trace.length, steps = exploring(trace), late = steps.filter((step) => step >= n - LAST);
  const spread = trace.get("spread");
  const amount = (value) => (value && value < 0.001 ? "below 0.001" : brief(value));
  const count = (value) => (value ? whole(value) : "none");
  if (trace.dimensions.length) {
    const [least, most] = [Math.min(...spread), Math.max(...spread)];
    return `${whole(n)} steps. The spread lies between ${amount(least)} and ${amount(most)}; its mean is ${amount(mean(spread))}.`;
  }
  if (n < 2 * LAST) return `${whole(n)} steps. It explored in ${count(steps.length)}; the mean spread is ${amount(mean(spread))}.`;
  return `${whole(n)} steps. It explored in ${count(late.length)} of the last ${LAST}, where the mean spread is ` +
    `${amount(mean(spread.slice(-LAST)))}, and in ${count(steps.length - late.length)} of the ${whole(n - LAST)} before, ` +
    `where it is ${amount(mean(spread.slice(0, -LAST)))}.`;
}

function explorePanel(experiment) {
  const traces = experiment.cases.flatMap((entry) => {
    const map = entry.map && makeMap(entry.map);
    const tops = Object.fromEntries(["spread", "uncertainty"].map((name) => [name, scaleOf(entry, name)]));
    return entry.traces.map((each) => makeTrace(entry, each, map, tops));
  });
  if (!traces.length) return null;
  const view = exploreView(experiment);
  const select = (label, change) => {
    const node = el("select", { onchange: change });
    return { node, label: el("label", {}, el("span", {}, label), node) };
  };
  const fit = (node, values, chosen, text) => {
    node.replaceChildren(...values.map((value) => el("option", { value }, text(value))));
    node.value = values.includes(chosen) ? chosen : values[0];
  };
  const unique = (list) => [...new Set(list)];
  const indexed = experiment.cases.map((_, i) => String(i));
  const of = (index) => traces.filter((trace) => trace.entry === experiment.cases[index]);

  function choose(wanted) {
    const mine = of(cases.node.value);
    fit(seeds.node, unique(mine.map((trace) => String(trace.seed))), wanted.seed, (seed) => seed);
    const those = mine.filter((trace) => String(trace.seed) === seeds.node.value);
    fit(episodes.node, those.map((trace) => trace.place.option), wanted.place, (option) => option);
    view.show(those.find((trace) => trace.place.option === episodes.node.value));
  }
  const again = () => choose({ seed: seeds.node.value, place: episodes.node.value });
  const [cases, seeds, episodes] = [select("Case", again), select("Seed", again), select("Episode", again)];
  const best = traces.reduce((one, other) => (other.contrast > one.contrast ? other : one));
  const traced = indexed.filter((index) => of(index).length);
  fit(cases.node, traced, String(experiment.cases.indexOf(best.entry)), (index) => experiment.cases[index].name);

  const panel = el("section", { class: "explore", "aria-label": "When did it explore?" }, el("h3", {}, "When did it explore?"),
    el("p", {}, "Choose a training episode and move through it. With a low spread the agent follows its policy; with a " +
      "high spread it explores."),
    el("div", { class: "choose" }, cases.label, seeds.label, episodes.label), view.node,
    el("p", { class: "note" }, "A step explores if its action differs from the policy's or was sampled at random. For the first 2 seeds " +
      "of a case, the page has at most 5 episodes traced by fraction of training, and the 3 longest of those traced by number; " +
      "fewer if they are long. All traced episodes are in the run folder, in traces/."));
  queueMicrotask(() => choose({ seed: String(best.seed), place: best.place.option }));
  return panel;
}

function exploreView(experiment) {
  const wholeMap = el("canvas", { class: "whole", role: "img", "aria-label": "The map" });
  const near = el("canvas", { class: "near", role: "img", "aria-label": "The map around the agent" });
  const nearBox = el("div", { class: "near-box" }, near);
  const spreadBox = el("div", { class: "chart timeline" }), closeBox = el("div", { class: "chart close" });
  const slider = el("input", { type: "range", min: 0, step: 1, "aria-label": "Step of the episode" });
  const play = el("button", { type: "button", class: "play" }, "Play");
  const before = el("button", { type: "button", title: "the previous exploring step (P)" }, "‹ explored");
  const after = el("button", { type: "button", title: "the next exploring step (N)" }, "explored ›");
  const speed = el("select", { "aria-label": "Speed" }, [["5", "5 steps/s"], ["30", "30 steps/s"], ["0", "all in 20 s"]].map(
    ([value, text]) => el("option", { value }, text)));
  const paint = el("select", { "aria-label": "Colour of the path" }, [["spread", "spread g(f(s))"],
    ["uncertainty", "uncertainty f(s)"]].map(([value, text]) => el("option", { value }, text)));
  const dimension = el("select", { "aria-label": "Dimension of the action" });
  const dimensionLabel = el("p", { class: "legend" }, el("label", {}, "dimension of the action: ", dimension));
  const readout = el("dl", { class: "readout" }), told = el("p", { class: "story" });
  const maps = el("div", { class: "maps" }, nearBox, el("div", { class: "aside" },
    el("figure", {}, wholeMap, el("figcaption", {}, "The whole map; the frame is the close-up.")), readout));
  let trace = null, now = 0, timer = null, moveCursor = () => {};

  function seek(step) {
    now = Math.min(Math.max(step, 0), trace.length - 1);
    slider.value = now;
    draw();
  }
  function draw() {
    if (!trace) return;
    moveCursor(now);
    drawClose(closeBox, trace, now, dimension.value);
    if (trace.map) drawMaps();
    describe();
  }
  function drawMaps() {
    const side = Math.min(nearBox.clientWidth, 460), window = side < 380 ? 15 : 21, map = trace.map;
    const painted = trace.get(paint.value) ? paint.value : "spread";
    const heats = heatOf(trace, painted, now), here = map.cells[trace.get("state")[now]];
    most.textContent = brief(trace.top(painted));
    const [best, action] = [trace.get("best")?.[now], trace.get("action")?.[now]];
    const frame = frameAround(map, here, window);
    drawNear(near, side, map, heats, here, frame, best, action);
    drawWhole(wholeMap, Math.min(240, nearBox.clientWidth), map, heats, here, frame);
    near.setAttribute("aria-label", `The agent and ${window} x ${window} cells around it. The policy's action is ` +
      `${map.names[best]}, the agent's is ${map.names[action]}.`);
    wholeMap.setAttribute("aria-label", `The whole ${map.kind} of ${map.size} x ${map.size} cells, the agent in row ` +
      `${map.at(here)[0] + 1}, column ${map.at(here)[1] + 1}.`);
  }
  function describe() {
    const value = (name) => trace.get(name)?.[now];
    const action = (name) => (trace.map ? trace.map.names[value(name)] : figure(value(name)));
    const lines = [["step", `${whole(now + 1)} of ${whole(trace.length)}`]];
    if (trace.map) lines.push(["cell", trace.map.at(trace.map.cells[value("state")]).map((i) => whole(i + 1)).join(", ")]);
    if (value("best") !== undefined) lines.push(["policy π(s)", action("best")]);
    if (value("action") !== undefined) lines.push(["action a", action("action")]);
    const drawn = trace.leaves(now) ? "yes" : "yes, but samples π(s)";
    if (trace.dimensions.length) {
      const all = (name) => trace.dimensions.map((i) => figure(Number((value(`${name}_${i}`) ?? 0).toFixed(3)))).join(", ");
      lines.push(["policy π(s)", all("best")], ["action a", all("action")]);
    } else lines.push(["explores", trace.explores(now) ? drawn : "no"]);
    lines.push(["uncertainty f(s)", figure(value("uncertainty"))], ["spread g(f(s))", figure(value("spread"))]);
    if (value("reward") !== undefined) lines.push(["reward", figure(value("reward"))]);
    if (value("cost") !== undefined) lines.push(["cost", figure(value("cost"))]);
    readout.replaceChildren(...lines.map(([name, text]) => el("div", { class: name === "explores" && text !== "no" ? "yes" : null },
      el("dt", {}, name), el("dd", {}, text))));
    slider.setAttribute("aria-valuetext", lines.map(([name, text]) => `${name} ${text}`).join(", "));
  }
  function jump(direction) {
    let step = now + direction;
    while (step >= 0 && step < trace.length && !trace.explores(step)) step += direction;
    if (step >= 0 && step < trace.length) seek(step);
  }
  function stop() {
    cancelAnimationFrame(timer);
    timer = null;
    play.textContent = "Play";
  }
  function start() {
    if (now === trace.length - 1) seek(0);
    const [from, begun] = [now, performance.now()], rate = Number(speed.value) || trace.length / 20;
    const tick = (time) => {
      const step = from + Math.floor(Math.max(0, time - begun) / 1000 * rate);
      if (step !== now) seek(step);
      if (now < trace.length - 1) timer = requestAnimationFrame(tick);
      else stop();
    };
    play.textContent = "Pause";
    timer = requestAnimationFrame(tick);
  }
  const halt = (action) => () => { stop(); action(); };
  slider.addEventListener("input", halt(() => seek(Number(slider.value))));
  play.addEventListener("click", () => (timer === null ? start() : stop()));
  before.addEventListener("click", halt(() => jump(-1)));
  after.addEventListener("click", halt(() => jump(1)));
  speed.addEventListener("change", () => timer !== null && (stop(), start()));
  paint.addEventListener("change", draw);
  dimension.addEventListener("change", draw);

  const key = (name, text) => el("span", {}, el("span", { class: `key ${name}` }), text);
  const legend = el("p", { class: "legend" }, key("k-best", "the policy's action"), key("k-action", "the agent's action, if it differs"),
    key("k-mark", "an exploring step"));
  const labels = el("span", { class: "labels" }), most = el("span");
  const mapLegend = el("p", { class: "legend" }, el("span", {}, "arrows: policy (white), agent (purple)"),
    labels, el("span", {}, el("label", {}, "colour: ", paint)),
    el("span", { class: "scale" }, "0", el("span", { class: "ramp" }), most));
  const node = el("div", { class: "view" }, told, el("h4", {}, "The spread over the episode"), spreadBox, slider,
    el("div", { class: "buttons" }, play, before, after, speed), el("h4", {}, "Around this step"), dimensionLabel, closeBox, legend, maps,
    mapLegend);
  node.addEventListener("keydown", (event) => {
    if (event.target.matches("select") || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "n" || event.key === "N") halt(() => jump(1))();
    else if (event.key === "p" || event.key === "P") halt(() => jump(-1))();
    else if (event.key === " " && event.target === slider) { event.preventDefault(); play.click(); }
  });
  const layout = () => {
    if (!trace || !spreadBox.clientWidth) return;
    moveCursor = drawSpread(spreadBox, trace, (step) => halt(() => seek(step))());
    draw();
  };
  onWidth(node, layout);
  return {
    node,
    show(chosen) {
      stop();
      trace = chosen;
      slider.max = trace.length - 1;
      now = exploring(trace).pop() ?? trace.length - 1;
      slider.value = now;
      told.textContent = `${trace.place.title(`${trace.entry.name}, seed ${trace.seed}`)}: ${story(trace)}`;
      for (const each of [nearBox, mapLegend, maps.querySelector("figure")]) each.hidden = !trace.map;
      maps.classList.toggle("bare", !trace.map);
      labels.replaceChildren(...Object.entries(trace.map?.labels ?? {}).map(([name, text]) => key(`k-${name}`, text)));
      dimension.replaceChildren(...trace.dimensions.map((i) => el("option", { value: i }, i)));
      dimensionLabel.hidden = trace.dimensions.length < 2;
      for (const each of [before, after, legend.lastChild]) each.hidden = trace.dimensions.length > 0;
      layout();
    },
  };
}
