// Bars from request to response, and the density of the whole session above the list.
//
//   solid: the answering side; hatched: the server waits for its client; ticks: progress;
//   ◆ where the server asks the client; ✗ failed, … open, ⚠ cancelled or late at the end

// Ticks that a bar shows.
const TICKS = 100;

const waterfall = { whole: false };

// The time that the bars of these rows are drawn in.
function spanOf(rows) {
  if (waterfall.whole || !rows.length) return { from: 0, to: Math.max(data.session.t_last, 1) };
  const from = Math.min(...rows.map((row) => (row.retry ? row.t - row.waited : row.t)));
  const last = Math.max(...rows.map((row) => row.t));
  const end = Math.max(...rows.map(endOf));
  // A subscription that stays open must not make dots of all others.
  const to = Math.min(end, last + Math.max(2 * (last - from), longestAnswer(rows)));
  return { from, to: Math.max(to, from + 1e6) };
}

function longestAnswer(rows) {
  return Math.max(0, ...rows.map((row) => row.latency || 0));
}

function barsOf(row, span) {
  const cell = element('span', 'bars');
  const place = (t) => (t - span.from) / (span.to - span.from);
  const add = (className, from, to, text) => {
    const [left, right] = [Math.max(place(from), -0.01), Math.min(place(to), 1.01)];
    if (right < 0 || left > 1) return;
    const mark = element('i', className, text);
    mark.style.left = share(left);
    if (to > from) mark.style.width = share(Math.max(right - left, 0));
    cell.append(mark);
  };
  if (row.s) exchangeBars(row, add);
  else add(`point ${row.k}`, row.t, row.t);
  return cell;
}

// A part of the width, which leaves room for a sign at the end.
function share(part) {
  return `calc((100% - 14px) * ${part})`;
}

function exchangeBars(row, add) {
  const end = endOf(row);
  const [sign, tone] = statusOf(row);
  const asked = data.asked.get(row.x) || [];
  if (row.retry) add('bar hatched', row.t - row.waited, row.t);
  add(`bar ${tone} ${row.te === undefined ? 'ragged' : ''}`, row.t, end);
  for (const child of asked) add('bar hatched', child.t, Math.min(endOf(child), end));
  for (const t of ticksOf(row)) add('tick', t, t);
  for (const child of asked) add('asks', child.t, child.t, '◆');
  if (tone !== 'good') add(`end ${tone}`, end, end, sign);
}

function ticksOf(row) {
  const related = data.related.get(row.x) || [];
  const ticks = related.filter((one) => one.m === 'notifications/progress').map((one) => one.t);
  return ticks.slice(0, TICKS);
}

// A few round times above the bars.
function drawAxis(span) {
  const axis = byId('axis');
  const step = roundStep((span.to - span.from) / 4);
  const labels = [];
  for (let t = Math.ceil(span.from / step) * step; t < span.to; t += step) {
    const at = (t - span.from) / (span.to - span.from);
    if (at > 1 - 110 / Math.max(axis.clientWidth, 1)) break;
    const label = element('i', 'label', axisLabel(t, step));
    label.style.left = share(at);
    labels.push(label);
  }
  axis.replaceChildren(...labels);
  markWindow(span);
}

function roundStep(least) {
  let step = 1e3;
  for (const factor of [2, 2.5, 2]) if (step < least) step *= factor;
  while (step < least) for (const factor of [2, 2.5, 2]) if (step < least) step *= factor;
  return step;
}

function axisLabel(t, step) {
  if (step >= 1e9) return since(t).replace(/\.000$/, '');
  return step >= 1e6 ? since(t) : `${since(t)} +${Math.round(t % 1e6 / 1e3)} µs`;
}

// Where in the session the rows in view are.
function markWindow(span) {
  const whole = Math.max(data.session.t_last, 1);
  const mark = byId('window');
  mark.style.left = `${Math.min(span.from / whole, 1) * 100}%`;
  mark.style.width = `${Math.min((span.to - span.from) / whole, 1) * 100}%`;
}

// How many exchanges were open at each moment, and where something failed.
function drawDensity() {
  const canvas = byId('density');
  const scale = window.devicePixelRatio || 1;
  const { clientWidth: width, clientHeight: height } = canvas;
  if (!width || !height) return;
  canvas.width = width * scale;
  canvas.height = height * scale;
  const paint = canvas.getContext('2d');
  paint.scale(scale, scale);
  const { open, other, failed } = densityOf(width);
  const most = Math.max(1, ...open);
  const style = getComputedStyle(document.documentElement);
  const bars = (values, color, heightOf) => {
    paint.fillStyle = style.getPropertyValue(color);
    values.forEach((value, x) => {
      if (value) paint.fillRect(x, height - heightOf(value), color === '--bad' ? 2 : 1, heightOf(value));
    });
  };
  const room = height - 6;
  bars(other, '--line-strong', () => 3);
  bars(open, '--density', (value) => Math.max(3, Math.sqrt(value / most) * room));
  bars(failed, '--bad', () => height);
}

function densityOf(width) {
  const whole = Math.max(data.session.t_last, 1);
  const column = (t) => Math.min(width - 1, Math.max(0, Math.floor(t / whole * width)));
  const change = new Array(width + 1).fill(0);
  const other = new Array(width).fill(0);
  const failed = new Array(width).fill(0);
  for (const row of data.rows) {
    const from = column(row.t);
    if (row.s && row.s !== 'listening') {
      change[from] += 1;
      change[column(endOf(row)) + 1] -= 1;
      if (row.failed) failed[column(endOf(row))] += 1;
    } else {
      other[from] += 1;
    }
  }
  let now = 0;
  return { open: change.slice(0, width).map((by) => (now += by)), other, failed };
}

// To the first row at or after the place that was clicked.
function goToTime(event) {
  const box = byId('density').getBoundingClientRect();
  const t = (event.clientX - box.left) / box.width * data.session.t_last;
  const at = list.shown.findIndex((row) => row.t >= t);
  if (at >= 0) scrollToRow(at - 1);
}
