// A lake or a sea as heat maps of an episode: the whole map, and a window around the agent.

const [HOLE, LINE, PATH, UNSAFE, GOAL, AGENT] = ["#181e30", "#2c344c", "#8295b3", "#de2d3a", "#ffcf54", "#107a57"];
const ON_ICE = { kind: "lake", moves: [[-1, 0], [0, 1], [1, 0], [0, -1]], names: ["up", "right", "down", "left"],
  labels: { path: "path, not visited in this episode", hole: "hole", unsafe: "unsafe cell", goal: "goal" } };
const DIVING = { kind: "sea", moves: [[1, -1], [1, 1]], names: ["left", "right"],
  labels: { path: "not visited in this episode", hole: "unreachable", goal: "treasure" } };

const makeMap = (data) => ("right" in data ? makeSea(data) : makeLake(data));

// State i is cells[i], the safe cells first; `moved(state, action)` is the index of the action's move.
function inCells(rules, size, safe, unsafe, goal, moved) {
  const cells = [...safe, ...unsafe], state = new Map(cells.map((cell, i) => [cell, i]));
  return { ...rules, size, cells, goal, state, safe: safe.length, moved, at: (cell) => [Math.floor(cell / size), cell % size] };
}

function makeLake({ size, moves, unsafe }) {
  const path = [0];
  for (const move of moves) path.push(path[path.length - 1] + ON_ICE.moves[move][0] * size + ON_ICE.moves[move][1]);
  const goal = path.pop();
  return inCells(ON_ICE, size, path, unsafe, goal, (_, action) => action);
}

function makeSea({ size, right }) {
  const cells = [];
  for (let row = 0; row < size; row++) for (let column = 0; column <= row; column++) cells.push(row * size + column);
  return inCells(DIVING, size, cells, [], size * size - 1, (state, action) => Number(action === Number(right[state])));
}

function sharpen(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}

// The relative heat of each visited state at its last visit up to now or, before its first visit, at the next one.
function heatOf(trace, name, now) {
  const values = trace.get(name), states = trace.get("state"), top = trace.top(name), found = new Map();
  for (let i = values.length - 1; i >= 0; i--) if (i > now) found.set(states[i], values[i] / top);
  for (let i = 0; i <= now; i++) found.set(states[i], values[i] / top);
  return found;
}

// The cells of the close-up: centered on the agent, within the border.
function frameAround(map, here, window) {
  const count = Math.min(window, map.size);
  const [row, column] = map.at(here).map((at) => Math.min(Math.max(at - (count - 1) / 2, 0), map.size - count));
  return { row: Math.round(row), column: Math.round(column), count };
}

const MARGIN = 7;

function drawWhole(canvas, side, map, heats, here, frame) {
  const context = sharpen(canvas, side, side);
  const tile = (side - 2 * MARGIN) / map.size, dot = Math.max(tile, 4);
  const at = (index) => MARGIN + (index + 0.5) * tile;
  const square = (cell, width, style) => {
    const [row, column] = map.at(cell);
    context.fillStyle = style;
    context.fillRect(at(column) - width / 2, at(row) - width / 2, width, width);
  };
  context.fillStyle = HOLE;
  context.fillRect(0, 0, side, side);
  map.cells.forEach((cell, i) => square(cell, Math.max(tile, 1.5), i < map.safe ? PATH : UNSAFE));
  for (const [state, share] of heats) square(map.cells[state], dot, heat(share));
  square(map.goal, Math.max(tile, 8), GOAL);
  const [row, column] = map.at(here), [x, y] = [at(column), at(row)];
  const box = Math.max(frame.count * tile, 12);
  const [left, top] = [at(frame.column + (frame.count - 1) / 2), at(frame.row + (frame.count - 1) / 2)];
  context.strokeStyle = "#fff";
  context.lineWidth = 1.5;
  context.strokeRect(left - box / 2, top - box / 2, box, box);
  drawAgent(context, x, y, Math.max(2.5, tile * 0.34), 1);
}

function drawAgent(context, x, y, radius, line) {
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.fillStyle = AGENT;
  context.strokeStyle = "#fff";
  context.lineWidth = line;
  context.fill();
  context.stroke();
}

function drawNear(canvas, side, map, heats, here, frame, best, action) {
  const context = sharpen(canvas, side, side);
  const tile = side / frame.count;
  for (let i = 0; i < frame.count; i++) for (let j = 0; j < frame.count; j++) {
    drawCell(context, map, (frame.row + i) * map.size + frame.column + j, heats, j * tile, i * tile, tile);
  }
  const [row, column] = map.at(here);
  const [x, y] = [(column - frame.column + 0.5) * tile, (row - frame.row + 0.5) * tile];
  if (best !== undefined) drawArrow(context, x, y, tile, map.moves[best], { fill: "#ffffff", edge: "#181e30", width: 0.5 });
  if (action !== undefined) drawArrow(context, x, y, tile, map.moves[action], { fill: "#8b3fd1", edge: "#ffffff", width: 0.24 });
  drawAgent(context, x, y, tile * 0.34, Math.max(1.5, tile * 0.09));
}

function drawCell(context, map, cell, heats, x, y, tile) {
  const state = map.state.get(cell);
  const gap = tile > 8 ? 1 : 0;
  const fill = (style) => {
    context.fillStyle = style;
    context.fillRect(x + gap / 2, y + gap / 2, tile - gap, tile - gap);
  };
  context.fillStyle = LINE;
  context.fillRect(x, y, tile, tile);
  fill(HOLE);
  if (cell === map.goal) {
    fill(GOAL);
    context.fillStyle = "#181e30";
    context.font = `700 ${tile * 0.62}px system-ui, sans-serif`;
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.fillText("G", x + tile / 2, y + tile / 2 + tile * 0.04);
  } else if (state !== undefined && state < map.safe) {
    fill(heats.has(state) ? heat(heats.get(state)) : PATH);
  } else if (state !== undefined) {
    fill(heats.has(state) ? heat(heats.get(state)) : HOLE);
    context.strokeStyle = UNSAFE;
    context.lineWidth = Math.max(1.5, tile * 0.12);
    const inset = tile * 0.26;
    context.beginPath();
    context.moveTo(x + inset, y + inset);
    context.lineTo(x + tile - inset, y + tile - inset);
    context.moveTo(x + tile - inset, y + inset);
    context.lineTo(x + inset, y + tile - inset);
    context.stroke();
  }
}

function drawArrow(context, x0, y0, tile, move, { fill, edge, width }) {
  if (!move) return;
  const w = tile * width / 2, tip = tile * 1.42, neck = tip - tile * (0.2 + width * 0.6), barb = tile * (0.16 + width / 2);
  context.save();
  context.translate(x0, y0);
  context.rotate(Math.atan2(move[0], move[1]));
  context.beginPath();
  context.moveTo(0, -w);
  for (const [x, y] of [[neck, -w], [neck, -barb], [tip, 0], [neck, barb], [neck, w], [0, w]]) context.lineTo(x, y);
  context.closePath();
  context.lineJoin = "round";
  context.lineWidth = Math.max(1.2, tile * 0.08);
  context.strokeStyle = edge;
  context.fillStyle = fill;
  context.stroke();
  context.fill();
  context.restore();
}
