// What is shown, and what changes it.

const KINDS = [
  ['exchanges', (row) => Boolean(row.s)],
  ['messages', (row) => !row.s && ['notification', 'response', 'request'].includes(row.k)],
  ['stderr', (row) => row.k === 'stderr'],
  ['other lines', (row) => row.k === 'other'],
  ['events', (row) => row.k === 'event'],
];

const state = { conditions: [], failedOnly: false, hidden: new Set(), seq: null };

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
  if (state.conditions.length) applyFilter();
  document.body.classList.add('complete');
  performance.mark('whole');
}

function setUpControls() {
  byId('filter').addEventListener('input', () => applyFilter());
  byId('theme').addEventListener('click', toggleTheme);
  byId('scale').addEventListener('click', toggleScale);
  byId('overview').addEventListener('click', goToTime);
  for (const view of ['list', 'findings', 'session']) {
    byId(`tab-${view}`).addEventListener('click', () => setView(view));
  }
  if (data.findings.length) byId('tab-findings').append(element('span', 'count', count(data.findings.length)));
  for (const [name, fits] of KINDS) addToggle(name, data.rows.filter((row) => !row.folded && fits(row)).length);
  new ResizeObserver(drawDensity).observe(byId('overview'));
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', drawDensity);
  window.addEventListener('hashchange', followLink);
  window.addEventListener('beforeprint', drawForPaper);
  window.addEventListener('afterprint', () => {
    list.onPaper = false;
    draw();
  });
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

// Reads the filter; one with a fault leaves the last good one in force.
function applyFilter() {
  const fault = byId('fault');
  const field = byId('filter');
  try {
    state.conditions = parseFilter(field.value);
    fault.hidden = true;
    field.removeAttribute('aria-invalid');
  } catch (error) {
    if (!(error instanceof FilterFault)) throw error;
    fault.textContent = visible(`✗ ${error.message}`);
    fault.hidden = false;
    field.setAttribute('aria-invalid', 'true');
    return;
  }
  let found = -1;
  searchOn(state.conditions, (done) => {
    const now = state.conditions.reduce((sum, one) => sum + (one.search ? one.search.frames.size : 0), 0);
    if (now !== found || done === 1) showRows();
    found = now;
    showCount(done);
  });
}

function showRows() {
  const hidden = KINDS.filter(([name]) => state.hidden.has(name)).map(([, fits]) => fits);
  const rows = data.rows.filter((row) => !row.folded
    && !(state.failedOnly && !row.failed)
    && !hidden.some((fits) => fits(row))
    && fitsAll(row, state.conditions));
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

function toggleFailed() {
  setView('list');
  state.failedOnly = !state.failedOnly;
  document.body.classList.toggle('failed-only', state.failedOnly);
  applyFilter();
}

// Selects a row and shows it; with null nothing.
function choose(row) {
  list.selected = row || null;
  const at = row ? rowIndex(row) : -1;
  showDetail(row || null);
  if (at >= 0) bringIntoView(at);
  draw();
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
  const from = at >= 0 ? at + by : by < 0 && by !== -Infinity ? firstShown() : Number.isFinite(by) ? firstShown() : by;
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
  else if (state.failedOnly) toggleFailed();
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
  state.failedOnly = false;
  document.body.classList.remove('failed-only');
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
  const root = document.documentElement;
  const isDark = root.dataset.theme
    ? root.dataset.theme === 'dark'
    : matchMedia('(prefers-color-scheme: dark)').matches;
  root.dataset.theme = isDark ? 'light' : 'dark';
  drawDensity();
}

// The rows stand before the script, the frames behind it.
boot();
if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', completed);
else completed();
