// What is shown, and what changes it: controls, links, keys.

const KINDS = [
  ['exchanges', (row) => Boolean(row.s)],
  ['messages', (row) => !row.s && ['notification', 'response', 'request'].includes(row.k)],
  ['stderr', (row) => row.k === 'stderr'],
  ['other lines', (row) => row.k === 'other'],
  ['events', (row) => row.k === 'event'],
];

const state = { hidden: new Set(), seq: null };

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
  else followLink();
  if (filter.pattern) applyFilter();
  document.body.classList.add('complete');
  performance.mark('whole');
}

function setUpControls() {
  byId('filter').addEventListener('input', () => applyFilter());
  for (const one of [...Object.keys(FLAGS), ...Object.keys(STATUS)]) {
    const option = element('option', '', one);
    option.value = one;
    byId('status').append(option);
  }
  byId('status').addEventListener('change', () => setStatus(byId('status').value));
  byId('theme').addEventListener('click', toggleTheme);
  byId('scale').addEventListener('click', toggleScale);
  for (const view of ['list', 'findings', 'session']) {
    byId(`tab-${view}`).addEventListener('click', () => setView(view));
  }
  if (data.findings.length) byId('tab-findings').append(element('span', 'count', count(data.findings.length)));
  for (const [name, fits] of KINDS) addToggle(name, data.rows.filter((row) => !row.folded && fits(row)).length);
  window.addEventListener('hashchange', followLink);
}

function addToggle(name, number) {
  if (!number) return;
  const node = button('chip', name, () => {
    if (!state.hidden.delete(name)) state.hidden.add(name);
    node.setAttribute('aria-pressed', String(!state.hidden.has(name)));
    applyFilter();
  });
  node.append(element('span', 'count', count(number)));
  node.setAttribute('aria-pressed', 'true');
  byId('toggles').append(node);
}

function applyFilter() {
  lookFor(byId('filter').value);
  let found = -1;
  searchOn((done) => {
    if (filter.frames.size !== found || done === 1) showRows();
    found = filter.frames.size;
    showCount(done);
  });
}

function showRows() {
  const hidden = KINDS.filter(([name]) => state.hidden.has(name)).map(([, fits]) => fits);
  const rows = data.rows.filter((row) => !row.folded
    && !hidden.some((fits) => fits(row))
    && fitsStatus(row) && fitsText(row));
  setRows(rows);
  const empty = byId('empty');
  empty.hidden = rows.length > 0;
  empty.textContent = data.rows.length
    ? 'Nothing fits. Esc takes the filter away.'
    : 'Nothing was said: there is neither message nor line on record.';
}

function showCount(done) {
  const all = data.rows.filter((row) => !row.folded).length;
  const shown = list.shown.length === all ? plural(all, 'row') : `${count(list.shown.length)} of ${count(all)} rows`;
  byId('shown').textContent = done < 1 ? `${shown}, ${Math.floor(done * 100)} % of the bodies searched` : shown;
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
  list.selected = row || null;
  showDetail(list.selected);
  showSelected();
  const hash = row && row.k !== 'event' ? `#${row.n}` : '#';
  state.seq = row ? row.n : null;
  if (location.hash !== hash && (row || location.hash)) setHash(hash);
}

// Where a page is shown within another one, its address may not be changed.
function setHash(hash) {
  try {
    history.replaceState(null, '', hash);
  } catch {
    // It can be read without.
  }
}

// Moves the selection; without one to the first row in view.
function move(by) {
  if (!list.shown.length) return;
  const at = list.selected ? rowIndex(list.selected) : -1;
  const from = at >= 0 || !Number.isFinite(by) ? at + by : firstShown();
  choose(list.shown[Math.min(Math.max(from, 0), list.shown.length - 1)]);
}

function isBad(row) {
  return row.failed || worstOf(findingsOf(row));
}

// To the next row that is so.
function jump(by, fits) {
  const start = list.selected ? rowIndex(list.selected) : -1;
  for (let at = start < 0 && by < 0 ? list.shown.length - 1 : start + by; at >= 0 && at < list.shown.length; at += by) {
    if (fits(list.shown[at])) {
      choose(list.shown[at]);
      return;
    }
  }
}

function enterDetail() {
  if (!list.selected) move(1);
  const pane = byId('detail');
  const places = ['.pane [tabindex="0"]', '.pane a', '.pane button', '.close'];
  const first = places.map((place) => pane.querySelector(place)).find((place) => place);
  if (first) first.focus();
}

function goBack() {
  const inDetail = byId('detail').contains(document.activeElement);
  if (inDetail && matchMedia('(min-width: 700px)').matches) byId('list').focus();
  else if (detail.row) choose(null);
  else if (byId('view-list').hidden) setView('list');
  else if (filter.status) setStatus('');
  else if (byId('filter').value) setFilter('');
  byId('list').focus();
}

function setView(view) {
  for (const one of ['list', 'findings', 'session']) {
    byId(`view-${one}`).hidden = one !== view;
    byId(`tab-${one}`).setAttribute('aria-selected', String(one === view));
    byId(`tab-${one}`).tabIndex = one === view ? 0 : -1;
  }
  if (view === 'findings') showFindings();
  else if (view === 'session') showSession();
  else showSelected();
}

// Back in the list: with what was selected meanwhile.
function showSelected() {
  const at = list.selected ? rowIndex(list.selected) : -1;
  if (at >= 0) bringIntoView(at);
  draw();
}

// `#1187` shows the row of that frame, whatever filter is on.
function followLink() {
  const match = /^#(\d+)$/.exec(location.hash);
  if (!match || Number(match[1]) === state.seq) return;
  const row = data.shows.get(Number(match[1]));
  if (!row) return;
  if (rowIndex(row) < 0) showAll();
  choose(row);
}

function showAll() {
  setStatus('');
  state.hidden.clear();
  for (const chip of byId('toggles').children) chip.setAttribute('aria-pressed', 'true');
  setFilter('');
}

function toggleScale() {
  waterfall.whole = !waterfall.whole;
  byId('scale').textContent = waterfall.whole ? 'all' : 'fit';
  draw();
}

function toggleTheme() {
  const { style } = document.documentElement;
  const isDark = matchMedia('(prefers-color-scheme: dark)').matches;
  style.colorScheme = (style.colorScheme || (isDark ? 'dark' : 'light')) === 'dark' ? 'light' : 'dark';
}

// Keys, and the help that is made of them.

// What a key does in the list or anywhere but in a field: [keys, what it does, action]. Those that
// the viewer in a terminal has as well do the same there.
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
  [['v', 'V'], 'next and previous row that failed or has a finding', (key) => jump(key === 'v' ? 1 : -1, isBad)],
  [['f', '/'], 'filter: a text in summary, method, name and bodies', () => focusFilter()],
  [['!'], 'failed only, and all again', toggleFailed],
  [['r'], 'tree or raw text', () => detail.row && toggleRaw()],
  [['[', ']'], 'tab before and next tab of the detail', (key) => walkTabs(key === ']' ? 1 : -1)],
  [['1'], 'exchanges', () => setView('list')],
  [['4'], 'findings', () => setView('findings')],
  [['5', 'W'], 'the session, and why it went wrong', () => setView('session')],
  [['s'], 'time of the rows in view, or of the whole session', toggleScale],
  [['u'], 'light or dark', toggleTheme],
  [['?'], 'this help', () => byId('help').showModal()],
];

const NAMES = {
  ArrowDown: '↓', ArrowUp: '↑', ArrowLeft: '←', ArrowRight: '→', PageDown: 'PgDn', PageUp: 'PgUp', Escape: 'Esc',
};

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
  byId('help-open').addEventListener('click', () => byId('help').showModal());
  byId('help-close').addEventListener('click', () => byId('help').close());
  byId('help').addEventListener('click', (event) => {
    if (event.target === byId('help')) byId('help').close();
  });
  const named = (key) => NAMES[key] || key;
  const keys = KEYS.map(([names, what]) => [names.map(named).join(' '), what]);
  fillHelp('help-keys', [...keys, ...IN_TREE], 'kbd');
  fillHelp('help-signs', SIGNS, 'span');
}

function fillHelp(id, entries, tag) {
  const box = byId(id);
  for (const [name, what] of entries) {
    const names = tag === 'kbd' ? name.split(' ') : [name];
    box.append(element('dt', '', ...names.map((one) => element(tag, '', one))), element('dd', '', what));
  }
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (byId('help').open) return;
  if (event.target === byId('status')) return;
  if (event.target === byId('filter')) {
    onFilterKey(event);
    return;
  }
  // Where a key means something of its own already.
  const own = event.target.closest('button, a, summary, input');
  if (own && (event.key === 'Enter' || event.key === ' ')) return;
  if (onTabKey(event)) return;
  const found = KEYS.find(([names]) => names.includes(event.key));
  if (!found) return;
  event.preventDefault();
  found[2](event.key);
}

function onFilterKey(event) {
  if (event.key === 'Enter' || event.key === 'ArrowDown') {
    event.preventDefault();
    byId('list').focus();
    if (!list.selected) move(1);
  } else if (event.key === 'Escape') {
    event.preventDefault();
    if (event.target.value) setFilter('');
    else byId('list').focus();
  }
}

// Arrows among tabs.
function onTabKey(event) {
  const tab = event.target.closest('[role=tab]');
  const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!tab || !by) return false;
  event.preventDefault();
  const inDetail = Boolean(tab.closest('#detail'));
  const tabs = [...tab.parentElement.querySelectorAll('[role=tab]')];
  const next = tabs[(tabs.indexOf(tab) + by + tabs.length) % tabs.length];
  next.click();
  if (inDetail) byId('detail').querySelector('[role=tab][aria-selected=true]').focus();
  else next.focus();
  return true;
}

function walkTabs(by) {
  if (!detail.row) return;
  const tabs = TABS.filter((tab) => tab !== 'story' || detail.row.s);
  setTab(tabs[(tabs.indexOf(detail.tab) + by + tabs.length) % tabs.length]);
}

// The rows stand before the script, the frames behind it.
boot();
if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', completed);
else completed();
