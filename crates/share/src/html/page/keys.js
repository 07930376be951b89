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
  [['f', '/'], 'filter', () => focusFilter()],
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

const FILTERS = [
  ['is:failed', `a flag: ${Object.keys(FLAGS).join(', ')}`],
  ['method:tools/call', `contains, case ignored; = is exact. Fields: ${Object.keys(FIELDS).join(', ')}`],
  ['latency>500ms', '= != > >= < <= and ranges: latency:100ms..2s, size>64KiB, seq:100..200'],
  ['status:tool-error', `one of ${WORDS.status.join(', ')}`],
  ['rust', 'a word: in summary, method, name and bodies; a capital makes case count'],
  ['"two words"', 'a text; \\" is a quote in it'],
  ['-kind:stderr', 'not this; also NOT. A field that is absent: the test is false, its denial true'],
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
  fillHelp('help-filter', FILTERS, 'code');
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
