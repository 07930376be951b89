// Bars from request to response.
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
  const longest = Math.max(0, ...rows.map((row) => row.latency || 0));
  const to = Math.min(end, last + Math.max(2 * (last - from), longest));
  return { from, to: Math.max(to, from + 1e6) };
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

