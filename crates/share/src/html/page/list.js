// The list: only the rows in view are in the document. Its bars run from request to response.
//
//   solid: the answering side; hatched: the server waits for its client; ticks: progress;
//   ◆ where the server asks the client; ✗ failed, … open, ⚠ cancelled or late at the end

// Rows of the list: browsers lay out no element that is higher than some millions of pixels.
const MOST_ROWS = 250_000;

// Ticks that a bar shows.
const TICKS = 100;

// The rows that fit in order, the one selected, the height of a row; whether bars are drawn in the
// time of the whole session.
const list = { shown: [], selected: null, rowHeight: 28, whole: false };

function setUpList() {
  const last = data.rows.length ? data.rows[data.rows.length - 1].n : 0;
  byId('left').style.setProperty('--digits', `${Math.max(4, String(last).length)}ch`);
  byId('list').addEventListener('scroll', () => requestAnimationFrame(draw), { passive: true });
  byId('rows').addEventListener('click', (event) => {
    const row = event.target.closest('[data-at]');
    if (row) choose(list.shown[Number(row.dataset.at)]);
  });
  new ResizeObserver(() => {
    measure();
    showSelected();
  }).observe(byId('list'));
}

// How high a row is: narrow screens have two lines to it.
function measure() {
  list.rowHeight = parseFloat(getComputedStyle(byId('list')).getPropertyValue('--row')) || 28;
  byId('space').style.height = `${list.shown.length * list.rowHeight}px`;
}

// Rows that are wholly in view.
function perPage() {
  return Math.max(1, Math.floor(byId('list').clientHeight / list.rowHeight));
}

function firstShown() {
  return Math.floor(byId('list').scrollTop / list.rowHeight);
}

function scrollToRow(first) {
  byId('list').scrollTop = first * list.rowHeight;
}

// Replaces the rows that fit; the one that is selected stays where it was on the screen.
function setRows(rows) {
  const before = list.shown.indexOf(list.selected) - firstShown();
  list.shown = rows.slice(0, MOST_ROWS);
  measure();
  const at = list.shown.indexOf(list.selected);
  if (at >= 0) scrollToRow(at - Math.min(Math.max(before, 0), perPage() - 1));
  draw();
}

// Scrolls to the row that is selected.
function showSelected() {
  const at = list.shown.indexOf(list.selected);
  if (at >= 0 && at < firstShown()) scrollToRow(at);
  if (at >= firstShown() + perPage()) scrollToRow(at + 1 - byId('list').clientHeight / list.rowHeight);
  draw();
}

function draw() {
  const first = Math.min(firstShown(), Math.max(0, list.shown.length - 1));
  const rows = list.shown.slice(first, first + perPage() + 2);
  const span = spanOf(rows);
  byId('rows').replaceChildren(...rows.map((row, at) => rowElement(row, first + at, span)));
  byId('rows').style.transform = `translateY(${first * list.rowHeight}px)`;
  const selected = rows.indexOf(list.selected);
  byId('list').setAttribute('aria-activedescendant', selected < 0 ? '' : `row-${first + selected}`);
  drawAxis(span);
}

function rowElement(row, at, span) {
  const [, tone] = row.s ? statusOf(row) : [];
  const open = tone === 'open' ? 'waiting' : `exchange ${row.d}`;
  const node = element('div', `cells row ${row.s ? (row.failed ? 'failed' : open) : row.k}`,
    element('span', 'seq', row.k === 'event' ? '' : String(row.n)),
    element('span', 'since', since(row.t)),
    arrowOf(row.d, row.k === 'event' ? '•' : ''),
    peer('method', methodOf(row)),
    whatCell(row),
    element('span', 'latency', latencyOf(row)),
    statusCell(row),
    barsOf(row, span));
  Object.assign(node.dataset, { at, seq: row.n });
  node.id = `row-${at}`;
  return setAttributes(node, {
    role: 'option', 'aria-selected': row === list.selected,
    'aria-setsize': list.shown.length, 'aria-posinset': at + 1,
  });
}

function arrowOf(direction, other) {
  return element('span', `way ${direction || ''}`, { c2s: '→', s2c: '←' }[direction] || other);
}

function whatCell(row) {
  const [asked, answered] = aboutOf(row);
  const cell = element('span', 'what', ...notesOf(row).map(noteElement), peer('asked', asked));
  if (row.waited > 0) {
    const waiting = `${duration(row.waited)} ${row.retry ? 'of ' : ''}waiting for the client`;
    cell.append(element('span', 'aside', ` ${row.retry ? 'after ' : ''}${waiting}`));
  }
  const last = answered || (row.s === 'open' && row.progress);
  if (last) cell.append(element('span', 'arrow', answered ? ' → ' : ' └ '), peer('answered', last));
  return cell;
}

// What somebody put on a frame: a star, with its word if it has one, and the note.
function noteElement({ mark, note }) {
  const node = element('span', 'remark');
  if (mark !== undefined) node.append(element('span', 'star', '★'), peer('', mark));
  if (note) node.append(element('span', 'pen', '✎'), peer('', note));
  return node;
}

function latencyOf(row) {
  if (row.latency !== undefined) return duration(row.latency);
  return row.s === 'open' ? `> ${duration((data.session.now || data.session.t_last) - row.t)}` : '';
}

function statusCell(row) {
  const cell = element('span', 'status');
  if (row.s) {
    const [sign, tone] = statusOf(row);
    cell.append(element('span', `sign ${tone}`, sign), element('span', 'word', row.s));
  }
  const worst = worstOf(row);
  if (worst) {
    const flag = element('span', `flag ${severityOf(worst)[1]}`, worst === 'error' ? '⚑' : '⚠');
    const title = `has a finding: ${worst}`;
    cell.append(setAttributes(flag, { title, 'aria-label': title }));
  }
  return cell;
}

// The worst severity of the findings on a row; notes are no news in a list.
function worstOf(row) {
  const found = findingsOf(row).map((finding) => finding.severity);
  return ['error', 'warning'].find((severity) => found.includes(severity));
}

// The time in which the bars of these rows are drawn.
function spanOf(rows) {
  if (list.whole || !rows.length) return { from: 0, to: Math.max(data.session.t_last, 1) };
  const from = Math.min(...rows.map((row) => (row.retry ? row.t - row.waited : row.t)));
  const last = Math.max(...rows.map((row) => row.t));
  const end = Math.max(...rows.map((row) => (row.s ? endOf(row) : row.t)));
  // A subscription that stays open must not make dots of all others.
  const longest = Math.max(0, ...rows.map((row) => row.latency || 0));
  return { from, to: Math.max(Math.min(end, last + Math.max(2 * (last - from), longest)), from + 1e6) };
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
  if (!row.s) {
    add(`point ${row.k}`, row.t, row.t);
    return cell;
  }
  const [end, [sign, tone]] = [endOf(row), statusOf(row)];
  const asked = data.asked.get(row.x) || [];
  const ticks = relatedTo(row).filter((one) => one.m === 'notifications/progress');
  if (row.retry) add('bar hatched', row.t - row.waited, row.t);
  add(`bar ${tone} ${row.te === undefined ? 'ragged' : ''}`, row.t, end);
  for (const child of asked) add('bar hatched', child.t, Math.min(endOf(child), end));
  for (const { t } of ticks.slice(0, TICKS)) add('tick', t, t);
  for (const child of asked) add('asks', child.t, child.t, '◆');
  if (tone !== 'good') add(`end ${tone}`, end, end, sign);
  return cell;
}

// A part of the width, which leaves room for a sign at the end.
function share(part) {
  return `calc((100% - 14px) * ${part})`;
}

// A few round times above the bars.
function drawAxis({ from, to }) {
  const least = (to - from) / 4;
  const power = 10 ** Math.floor(Math.log10(least));
  const step = power * [1, 2, 5, 10].find((factor) => power * factor >= least);
  const labels = [];
  for (let t = Math.ceil(from / step) * step; t < to; t += step) {
    const at = (t - from) / (to - from);
    if (at > 1 - 110 / Math.max(byId('axis').clientWidth, 1)) break;
    const micros = step < 1e6 ? ` +${Math.round(t % 1e6 / 1e3)} µs` : '';
    labels.push(element('i', 'label', `${since(t)}${micros}`));
    labels[labels.length - 1].style.left = share(at);
  }
  byId('axis').replaceChildren(...labels);
}
