// What is shown, and what changes it: controls, links, keys.

const VIEWS = ['list', 'findings', 'session'];

// The frame that the address names.
const state = { seq: null };

function boot() {
  readData();
  setUpList();
  setUpKeys();
  showHeader();
  setUpControls();
  applyFilter();
  followLink();
  document.body.classList.add('ready');
  performance.mark('rows');
}

// The frames are there: what waits for them is shown.
function completed() {
  readFrames();
  if (!data.whole) {
    const text = 'This page is cut short: it was not written, or not copied, to its end.';
    byId('notices').append(element('p', 'notice bad', text));
  }
  if (detail.row) showDetail(detail.row);
  if (filter.pattern) applyFilter();
  document.body.classList.add('complete');
  performance.mark('whole');
}

function setUpControls() {
  const on = (id, event, action) => byId(id).addEventListener(event, action);
  const status = byId('status');
  for (const value of [...FLAGS.keys(), ...STATUS.keys()]) {
    status.append(setAttributes(element('option', '', value), { value }));
  }
  on('filter', 'input', applyFilter);
  on('status', 'change', () => setStatus(status.value));
  on('scale', 'click', toggleScale);
  for (const view of VIEWS) on(`tab-${view}`, 'click', () => setView(view));
  const found = data.findings.length;
  byId('tab-findings').append(element('span', 'count', found ? count(found) : ''));
  window.addEventListener('hashchange', followLink);
}

function applyFilter() {
  lookFor(byId('filter').value);
  let found = -1;
  searchOn((done) => {
    if (filter.frames.size !== found || done === 1) showRows();
    found = filter.frames.size;
    const all = data.rows.filter((row) => !row.folded).length;
    const fit = list.shown.length;
    const searched = done < 1 ? `, ${Math.floor(done * 100)} % of the bodies searched` : '';
    byId('shown').textContent = (fit === all ? '' : `${count(fit)} of `) + plural(all, 'row') + searched;
  });
}

function showRows() {
  setRows(data.rows.filter((row) => !row.folded && fitsFilter(row)));
  byId('empty').hidden = list.shown.length > 0;
  byId('empty').textContent = data.rows.length
    ? 'Nothing fits. Esc takes the filter away.'
    : 'Nothing was said: there is neither message nor line on record.';
}

function setFilter(text) {
  byId('filter').value = text;
  applyFilter();
}

function focusFilter() {
  setView('list');
  byId('filter').focus();
  byId('filter').select();
}

function setStatus(status) {
  filter.status = status;
  byId('status').value = status;
  applyFilter();
}

function toggleFailed() {
  setView('list');
  setStatus(filter.status === 'failed' ? '' : 'failed');
}

// Selects a row and shows it; with null nothing.
function choose(row) {
  list.selected = row;
  showDetail(row);
  showSelected();
  state.seq = row ? row.n : null;
  const hash = row && row.k !== 'event' ? `#${row.n}` : '#';
  // Where a page is shown within another one, its address may not be changed.
  if (window.parent === window) history.replaceState(null, '', hash);
}

// Moves the selection; without one to the first row in view.
function move(by) {
  if (!list.shown.length) return;
  const at = list.shown.indexOf(list.selected);
  const to = at >= 0 || !Number.isFinite(by) ? at + by : firstShown();
  choose(list.shown[Math.min(Math.max(to, 0), list.shown.length - 1)]);
}

// To the next row that is so.
function jump(by, fits) {
  const at = list.shown.indexOf(list.selected);
  const rows = by > 0 ? list.shown.slice(at + 1) : list.shown.slice(0, Math.max(at, 0)).reverse();
  const found = rows.find(fits);
  if (found) choose(found);
}

function enterDetail() {
  if (!list.selected) move(1);
  const places = ['.pane [tabindex="0"]', '.pane a', '.pane button', '.close'];
  const found = places.map((place) => byId('detail').querySelector(place));
  found.find((place) => place)?.focus();
}

function goBack() {
  const inDetail = byId('detail').contains(document.activeElement);
  if (!inDetail || matchMedia('(max-width: 699px)').matches) {
    if (detail.row) choose(null);
    else if (byId('view-list').hidden) setView('list');
    else if (filter.status) setStatus('');
    else setFilter('');
  }
  byId('list').focus();
}

function setView(view) {
  for (const one of VIEWS) {
    byId(`view-${one}`).hidden = one !== view;
    setAttributes(byId(`tab-${one}`), { 'aria-selected': one === view, tabindex: one === view ? 0 : -1 });
  }
  ({ list: showSelected, findings: showFindings, session: showSession })[view]();
}

// `#1187` shows the row of that frame, whatever filter is on.
function followLink() {
  const seq = Number(location.hash.slice(1));
  const row = data.shows.get(seq);
  if (!row || seq === state.seq) return;
  if (!list.shown.includes(row)) {
    filter.status = '';
    byId('status').value = '';
    setFilter('');
  }
  choose(row);
}

function toggleScale() {
  list.whole = !list.whole;
  byId('scale').textContent = list.whole ? 'all' : 'fit';
  draw();
}

const helpDialog = byId('help');

// What a key does anywhere but in a field: [keys, what it does, action]. Keys that the viewer in a
// terminal has as well do the same there.
const KEYS = [
  [['j', 'ArrowDown'], 'next row', () => move(1)],
  [['k', 'ArrowUp'], 'row before', () => move(-1)],
  [['PageDown'], 'a page down', () => move(perPage())],
  [['PageUp'], 'a page up', () => move(-perPage())],
  [['g', 'Home'], 'first row', () => move(-Infinity)],
  [['G', 'End'], 'last row', () => move(Infinity)],
  [['Enter'], 'into the row that is selected', enterDetail],
  [['Escape'], 'back: out of the detail, then close it, then no filter', goBack],
  [['e', 'E'], 'next and previous failure', (key) => jump(key === 'e' ? 1 : -1, (row) => row.failed)],
  [['v', 'V'], 'next and previous row that failed or has a finding', (key) => (
    jump(key === 'v' ? 1 : -1, (row) => row.failed || worstOf(row)))],
  [['f', '/'], 'filter: a text in summary, method, name and bodies', focusFilter],
  [['!'], 'failed only, and all again', toggleFailed],
  [['r'], 'tree or raw text', toggleRaw],
  [['[', ']'], 'tab before and next tab of the detail', (key) => walkTabs(key === ']' ? 1 : -1)],
  [['1'], 'exchanges', () => setView('list')],
  [['4'], 'findings', () => setView('findings')],
  [['5', 'W'], 'the session, and why it went wrong', () => setView('session')],
  [['s'], 'time of the rows in view, or of the whole session', toggleScale],
  [['?'], 'this help', () => helpDialog.showModal()],
];

const NAMES = { ArrowDown: '↓', ArrowUp: '↑', PageDown: 'PgDn', PageUp: 'PgUp', Escape: 'Esc' };

const IN_TREE = [
  ['h l ← →', 'in a tree: fold, unfold, parent, child'],
  ['Space Enter', 'in a tree: fold or unfold; a string with its lines'],
  ['o', 'in a tree: unfold all'],
];

const SIGNS = [
  ['→ ←', 'to the server, to the client'],
  ['✓ ✗ ⚠ …', 'answered; failed; cancelled, late or refused; open'],
  ['◆', 'the server asks the client, or asked for input'],
  ['▨', 'hatched: the server waits for its client'],
  ['┃', 'in a bar: progress'],
  ['⚑', 'a finding: error; ⚠ warning'],
];

function setUpKeys() {
  document.addEventListener('keydown', onKey);
  byId('help-open').addEventListener('click', () => helpDialog.showModal());
  byId('help-close').addEventListener('click', () => helpDialog.close());
  const keys = KEYS.map(([names, what]) => [names.map((key) => NAMES[key] || key).join(' '), what]);
  for (const [name, what] of [...keys, ...IN_TREE]) {
    const names = name.split(' ').map((key) => element('kbd', '', key));
    byId('help-keys').append(element('dt', '', ...names), element('dd', '', what));
  }
  for (const [sign, what] of SIGNS) {
    byId('help-signs').append(element('dt', '', sign), element('dd', '', what));
  }
}

function onKey(event) {
  const { key, target } = event;
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (helpDialog.open || target === byId('status')) return;
  // Where a key means something of its own already.
  const isPress = target.closest('button, a') && (key === 'Enter' || key === ' ');
  if (isPress || onTabKey(event)) return;
  const keys = target === byId('filter') ? IN_FILTER : KEYS;
  const found = keys.find(([names]) => names.includes(key));
  if (!found) return;
  event.preventDefault();
  found[2](key);
}

const IN_FILTER = [
  [['Enter', 'ArrowDown'], 'into the list', () => {
    byId('list').focus();
    if (!list.selected) move(1);
  }],
  [['Escape'], 'no filter, then into the list', () => {
    if (byId('filter').value) setFilter('');
    else byId('list').focus();
  }],
];

// Arrows among tabs.
function onTabKey({ key, target }) {
  const by = { ArrowRight: 1, ArrowLeft: -1 }[key];
  const bar = by && target.closest('[role=tablist]');
  if (!bar) return false;
  const tabs = [...bar.querySelectorAll('[role=tab]')];
  const inDetail = byId('detail').contains(bar);
  tabs[(tabs.indexOf(target) + by + tabs.length) % tabs.length].click();
  byId(inDetail ? 'detail' : 'views').querySelector('[role=tab][aria-selected=true]').focus();
  return true;
}

function walkTabs(by) {
  if (!detail.row) return;
  const tabs = tabNames(detail.row);
  setTab(tabs[(tabs.indexOf(detail.tab) + by + tabs.length) % tabs.length]);
}

// The rows stand before the script, the frames behind it.
boot();
if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', completed);
else completed();
