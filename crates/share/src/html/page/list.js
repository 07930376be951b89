// The list: only the rows in view are in the document.

// Browsers lay out no element that is higher than some millions of pixels; a longer list is
// scrolled in proportion.
const HIGHEST = 8e6;

// Rows that are printed.
const PRINTED = 1000;

const list = {
  box: null,
  space: null,
  rows: null,
  // The rows that fit, in order.
  shown: [],
  selected: null,
  rowHeight: 28,
  drawn: false,
  // Whether it is printed just now.
  onPaper: false,
  // What was in view when it was drawn: the first row, and how many.
  first: 0,
  page: 0,
};

function setUpList() {
  const last = data.rows.length ? data.rows[data.rows.length - 1].n : 0;
  byId('left').style.setProperty('--digits', `${Math.max(4, String(last).length)}ch`);
  list.box = byId('list');
  list.space = byId('space');
  list.rows = byId('rows');
  list.box.addEventListener('scroll', drawSoon, { passive: true });
  list.rows.addEventListener('click', (event) => {
    const row = event.target.closest('[data-at]');
    if (row) choose(list.shown[Number(row.dataset.at)]);
  });
  new ResizeObserver(() => {
    const at = list.selected ? rowIndex(list.selected) : -1;
    const wasInView = at >= list.first && at < list.first + list.page;
    measure();
    if (wasInView) bringIntoView(at);
    draw();
  }).observe(list.box);
}

// How high a row is: narrow screens have two lines to it.
function measure() {
  const height = getComputedStyle(list.box).getPropertyValue('--row');
  list.rowHeight = parseFloat(height) || 28;
  list.space.style.height = `${spaceHeight()}px`;
}

function spaceHeight() {
  return Math.min(list.shown.length * list.rowHeight, HIGHEST);
}

function isScaled() {
  return list.shown.length * list.rowHeight > HIGHEST;
}

// Rows that are wholly in view.
function perPage() {
  return Math.max(1, Math.floor(list.box.clientHeight / list.rowHeight));
}

// The first row in view.
function firstShown() {
  const { scrollTop, clientHeight } = list.box;
  if (!isScaled()) return Math.floor(scrollTop / list.rowHeight);
  const most = list.shown.length - perPage();
  return Math.round(scrollTop / (HIGHEST - clientHeight) * most);
}

function scrollToRow(first) {
  const most = Math.max(0, list.shown.length - perPage());
  const at = Math.min(Math.max(first, 0), most);
  list.box.scrollTop = isScaled()
    ? at / most * (HIGHEST - list.box.clientHeight)
    : at === most ? list.space.offsetHeight : at * list.rowHeight;
}

// Replaces the rows that fit; the one that is selected stays where it was on the screen.
function setRows(rows) {
  const before = list.selected ? list.shown.indexOf(list.selected) - firstShown() : 0;
  list.shown = rows;
  measure();
  const at = list.selected ? rowIndex(list.selected) : -1;
  if (at >= 0) scrollToRow(at - Math.min(Math.max(before, 0), perPage() - 1));
  draw();
}

// Where a row stands among those that fit; -1 if it does not.
function rowIndex(row) {
  let low = 0;
  let high = list.shown.length;
  const order = (one) => [one.n, one.k === 'event' ? 1 : 0, one.p || 0];
  const isBefore = (a, b) => {
    const [x, y] = [order(a), order(b)];
    const at = x.findIndex((value, place) => value !== y[place]);
    return at >= 0 && x[at] < y[at];
  };
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isBefore(list.shown[middle], row)) low = middle + 1;
    else high = middle;
  }
  return list.shown[low] === row ? low : -1;
}

function bringIntoView(at) {
  const first = firstShown();
  if (at < first) scrollToRow(at);
  else if (at >= first + perPage()) scrollToRow(at - perPage() + 1);
}

function drawSoon() {
  if (list.drawn) return;
  list.drawn = true;
  requestAnimationFrame(draw);
}

function draw() {
  list.drawn = false;
  if (list.onPaper) return;
  const first = Math.min(firstShown(), Math.max(0, list.shown.length - 1));
  const last = Math.min(list.shown.length, first + perPage() + 2);
  [list.first, list.page] = [first, perPage() + 1];
  drawRows(first, last);
  const top = isScaled() ? Math.min(list.box.scrollTop, HIGHEST - (last - first) * list.rowHeight) : first * list.rowHeight;
  list.rows.style.transform = `translateY(${top}px)`;
}

function drawRows(first, last) {
  const rows = list.shown.slice(first, last);
  const span = spanOf(rows);
  list.rows.replaceChildren(...rows.map((row, at) => rowElement(row, first + at, span)));
  const at = list.selected ? rowIndex(list.selected) : -1;
  if (at >= first && at < last) list.box.setAttribute('aria-activedescendant', `row-${at}`);
  else list.box.removeAttribute('aria-activedescendant');
  drawAxis(span);
}

// All rows, for paper.
function drawForPaper() {
  list.onPaper = true;
  list.rows.style.transform = '';
  drawRows(0, Math.min(list.shown.length, PRINTED));
  const left = list.shown.length - PRINTED;
  if (left > 0) list.rows.append(element('p', 'paper', `${plural(left, 'row')} more are not printed`));
}

function rowElement(row, at, span) {
  const node = element('div', `cells row ${toneOf(row)}`);
  node.id = `row-${at}`;
  node.dataset.at = at;
  node.dataset.seq = row.n;
  node.setAttribute('role', 'option');
  node.setAttribute('aria-selected', String(row === list.selected));
  node.setAttribute('aria-setsize', String(list.shown.length));
  node.setAttribute('aria-posinset', String(at + 1));
  const number = row.k === 'event' ? '' : String(row.n);
  node.append(
    element('span', 'seq', number),
    element('span', 'since', since(row.t)),
    element('span', `way ${row.d || ''}`, wayOf(row)),
    peer('method', methodOf(row)),
    whatCell(row),
    element('span', 'latency', latencyOf(row)),
    statusCell(row),
    barsOf(row, span),
  );
  return node;
}

function toneOf(row) {
  if (row.s) return row.failed ? 'failed' : statusOf(row)[1] === 'open' ? 'waiting' : `exchange ${row.d}`;
  return row.k;
}

function wayOf(row) {
  return { c2s: '→', s2c: '←' }[row.d] || (row.k === 'event' ? '•' : '');
}

function whatCell(row) {
  const [asked, answered] = aboutOf(row);
  const cell = element('span', 'what', ...notesOf(row).map(noteElement));
  cell.append(peer('asked', asked));
  if (row.retry) cell.append(element('span', 'aside', ` after ${duration(row.waited)} of waiting for the client`));
  else if (row.waited > 0) cell.append(element('span', 'aside', ` ${duration(row.waited)} waiting for the client`));
  if (answered) cell.append(element('span', 'arrow', ' → '), peer('answered', answered));
  else if (row.s === 'open' && row.progress) cell.append(element('span', 'arrow', ' └ '), peer('answered', row.progress));
  return cell;
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
  const worst = worstOf(findingsOf(row));
  if (worst) {
    const [sign, tone] = severityOf(worst);
    const flag = element('span', `flag ${tone}`, worst === 'error' ? '⚑' : sign);
    flag.title = `has a finding: ${worst}`;
    flag.setAttribute('aria-label', flag.title);
    cell.append(flag);
  }
  return cell;
}

// The worst severity; notes are no news in a list.
function worstOf(findings) {
  const found = findings.map((finding) => finding.severity);
  return ['error', 'warning'].find((severity) => found.includes(severity));
}
