// The list: only the rows in view are in the document.

// Rows of the list: browsers lay out no element that is higher than some millions of pixels.
const MOST_ROWS = 250_000;

const list = {
  box: null,
  space: null,
  rows: null,
  // The rows that fit, in order.
  shown: [],
  selected: null,
  rowHeight: 28,
  drawn: false,
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
  list.space.style.height = `${list.shown.length * list.rowHeight}px`;
}

// Rows that are wholly in view.
function perPage() {
  return Math.max(1, Math.floor(list.box.clientHeight / list.rowHeight));
}

// The first row in view.
function firstShown() {
  return Math.floor(list.box.scrollTop / list.rowHeight);
}

function scrollToRow(first) {
  list.box.scrollTop = first >= list.shown.length - perPage()
    ? list.space.offsetHeight
    : Math.max(first, 0) * list.rowHeight;
}

// Replaces the rows that fit; the one that is selected stays where it was on the screen.
function setRows(rows) {
  const before = list.selected ? list.shown.indexOf(list.selected) - firstShown() : 0;
  list.shown = rows.slice(0, MOST_ROWS);
  measure();
  const at = list.selected ? rowIndex(list.selected) : -1;
  if (at >= 0) scrollToRow(at - Math.min(Math.max(before, 0), perPage() - 1));
  draw();
}

// Where a row stands among those that fit; -1 if it does not.
function rowIndex(row) {
  return list.shown.indexOf(row);
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
  const first = Math.min(firstShown(), Math.max(0, list.shown.length - 1));
  const last = Math.min(list.shown.length, first + perPage() + 2);
  [list.first, list.page] = [first, perPage() + 1];
  drawRows(first, last);
  list.rows.style.transform = `translateY(${first * list.rowHeight}px)`;
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

function rowElement(row, at, span) {
  const node = element('div', `cells row ${toneOf(row)}`);
  node.id = `row-${at}`;
  node.dataset.at = at;
  node.dataset.seq = row.n;
  node.setAttribute('role', 'option');
  node.setAttribute('aria-selected', String(row === list.selected));
  node.setAttribute('aria-setsize', String(list.shown.length));
  node.setAttribute('aria-posinset', String(at + 1));
  node.append(
    element('span', 'seq', row.k === 'event' ? '' : String(row.n)),
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
