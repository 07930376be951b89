// The row that is selected: its bodies, its story, what was found.

const detail = { row: null, tab: 'body', raw: false };

// Things that a story tells.
const TOLD = 1000;

// Shows a row; with `null` nothing.
function showDetail(row) {
  const pane = byId('detail');
  const scrolled = row === detail.row ? pane.querySelector('.pane')?.scrollTop : 0;
  detail.row = row;
  pane.hidden = !row;
  document.body.classList.toggle('split', Boolean(row));
  if (!row) return;
  if (detail.tab === 'story' && !row.s) detail.tab = 'body';
  const content = { body: bodiesOf, story: storyElement, findings: findingsElement }[detail.tab](row);
  const panel = setAttributes(element('div', 'pane scroll', content), { role: 'tabpanel' });
  pane.replaceChildren(headOf(row), tabsOf(row), panel, element('footer', 'path'));
  panel.scrollTop = scrolled || 0;
}

function headOf(row) {
  const title = element('h2', '', row.k === 'event' ? '' : element('span', 'seq', `#${row.n}`),
    peer('method', row.m || methodOf(row)), row.name && peer('name', row.name));
  const line = element('p', 'line');
  if (row.s) {
    const [sign, tone, meaning] = statusOf(row);
    const status = element('span', `badge ${tone}`, `${sign} ${row.s}${row.code ? ` ${row.code}` : ''}`);
    line.append(setAttributes(status, { title: meaning }));
  }
  line.append(...factsOf(row).filter(Boolean).map((fact) => element('span', 'fact', fact)));
  const close = button('close', '✕', () => choose(null));
  close.setAttribute('aria-label', 'close the detail');
  const notes = notesOf(row).map((note) => element('p', 'noted', noteElement(note), linkTo(note.n)));
  return element('header', 'head', close, title, line, ...notes);
}

function factsOf(row) {
  const { wall_ms: start } = data.session;
  const waited = row.waited > 0 && duration(row.waited);
  return [
    row.latency !== undefined && duration(row.latency),
    waited && `${waited} of ${row.retry ? 'waiting for the client before it' : 'it waiting for the client'}`,
    row.transfer > 1e6 && `${duration(row.transfer)} of transfer`,
    !['event', 'http'].includes(row.k) && `${size(row.size || 0)}${row.re ? ` → ${size(row.ressize || 0)}` : ''}`,
    row.id !== undefined && `id ${row.id}`,
    row.hs && `HTTP ${row.hs}`,
    { c2s: 'client → server', s2c: 'server → client' }[row.d],
    `at ${since(row.t)}`,
    start && date(start + row.t / 1e6),
    row.task && `task ${row.task}`,
  ];
}

// The tabs that a row has.
function tabNames(row) {
  return row.s ? ['body', 'story', 'findings'] : ['body', 'findings'];
}

function tabsOf(row) {
  const bar = setAttributes(element('div', 'tabs'), { role: 'tablist' });
  for (const tab of tabNames(row)) {
    const node = button('', tab[0].toUpperCase() + tab.slice(1), () => setTab(tab));
    const found = findingsOf(row).length;
    if (tab === 'findings' && found) node.append(element('span', 'count', String(found)));
    const isShown = tab === detail.tab;
    bar.append(setAttributes(node, { role: 'tab', 'aria-selected': isShown, tabindex: isShown ? 0 : -1 }));
  }
  if (detail.tab === 'body' && row.k !== 'event') {
    const raw = button('raw-switch', detail.raw ? 'tree' : 'raw', toggleRaw);
    bar.append(setAttributes(raw, { title: 'Tree or raw text (r)' }));
  }
  return bar;
}

function setTab(tab) {
  detail.tab = tab;
  showDetail(detail.row);
}

function toggleRaw() {
  if (!detail.row) return;
  detail.raw = !detail.raw;
  setTab('body');
}

function bodiesOf(row) {
  if (row.k === 'event') return element('p', 'event-text', peer('', row.text));
  if (row.k === 'http') return element('div', 'bodies', ...row.h.map(partOf));
  const bodies = element('div', 'bodies', bodyOf(row.n, row.p, row.s ? 'request' : row.k));
  const [sign, , meaning] = row.s ? statusOf(row) : [];
  if (row.re) bodies.append(bodyOf(row.re[0], row.re[1], 'response'));
  else if (row.s) bodies.append(element('p', 'nothing', `${sign} ${meaning || 'no answer'}`));
  if (row.h?.length) {
    const summary = element('summary', '', row.hs ? `HTTP heads, status ${row.hs}` : 'HTTP heads');
    bodies.append(element('details', 'heads', summary, ...row.h.map(partOf)));
  }
  return bodies;
}

// A part of HTTP: a head, or what stands between.
function partOf(seq) {
  const start = /^(HTTP\/)|^\S+ \S+ HTTP\//.exec(frameAt(seq)?.text || '');
  return bodyOf(seq, 0, start ? `HTTP ${start[1] ? 'response' : 'request'}` : 'body');
}

// A frame, or the message at `part` of a batch.
function bodyOf(seq, part, title) {
  const name = element('span', '', title === 'other' ? 'line' : title);
  const head = element('h3', '', name, element('span', 'seq', `#${seq}`));
  const box = element('section', 'body', head);
  const frame = frameAt(seq);
  if (!frame) {
    const why = data.whole ? 'this frame is not in this page' : 'this frame has not been read yet';
    box.append(element('p', 'nothing', why));
    return box;
  }
  head.append(copyButton(frame));
  const cut = frame.leftOut && `cut here: ${size(frame.leftOut)} more of this frame are not in this page`;
  const isMessage = title !== 'stderr' && /^\s*[[{"]/.test(frame.text);
  if (!detail.raw && isMessage) box.append(treeOf(frame.text, part || 0, cut));
  else box.append(rawOf(frame, title.startsWith('HTTP')), ...(cut ? [element('p', 'cut', cut)] : []));
  return box;
}

// The bytes of a frame; those that are no text are spelled out. A head has lines.
function rawOf({ pieces }, isHead) {
  const raw = element('pre', 'raw');
  const text = (piece) => (isHead ? wire(piece.replaceAll('\r\n', '\n').trimEnd(), '\n') : wire(piece));
  raw.append(...pieces.map((piece) => (typeof piece === 'string'
    ? text(piece)
    : element('span', 'spelled', piece.map((byte) => `\\x${hex(byte)}`).join('')))));
  return raw;
}

function copyButton({ text, leftOut }) {
  const node = button('copy', 'copy', () => {
    navigator.clipboard.writeText(text)
      .then(() => (leftOut ? 'copied, cut' : 'copied'), () => 'not allowed here')
      .then((done) => { node.textContent = done; });
  });
  return node;
}

// The findings on a row, each with why it matters and what to do.
function findingsElement(row) {
  const box = element('div', 'findings', ...findingsOf(row).map((finding) => {
    const also = (finding.related || []).flatMap((seq) => [linkTo(seq), ' ']);
    return findingElement(finding, finding.n && linkTo(finding.n),
      element('p', 'text', peer('', finding.text)),
      finding.path && element('p', 'place', 'at ', peer('code', finding.path)),
      also.length && element('p', 'place', 'also ', ...also));
  }));
  if (!box.children.length) box.append(element('p', 'nothing', 'nothing was found in it'));
  return box;
}

// What a finding says, with `more` beside its rule, and about the rule.
function findingElement({ severity, rule: id }, more, ...content) {
  const [sign, tone] = severityOf(severity);
  const word = element('span', `sign ${tone}`, `${sign} ${severity}`);
  const box = element('article', 'finding', element('h3', '', word, peer('rule', id), more), ...content);
  const rule = data.rules.get(id);
  if (!rule) return box;
  const about = element('dl', 'about');
  const add = (name, value) => about.append(element('dt', '', name), element('dd', '', value));
  add('why', rule.why);
  add('fix', rule.fix);
  if (rule.section) {
    const [title, href] = rule.section;
    const link = element('a', '', title);
    add('section', setAttributes(link, { href, target: '_blank', rel: 'noopener noreferrer' }));
  }
  box.append(about);
  return box;
}

// What belongs to an exchange or happened while it was open, in order of time: [time, frame, row,
// kind, word, direction, text].
function storyOf(row) {
  const end = row.re ? row.re[0] : Infinity;
  const told = [];
  for (const one of data.rows) {
    const exchange = one.s ? one : data.exchanges.get(one.x);
    if (exchange) told.push(...partsOf(one, kinOf(exchange, row)));
    else if (['stderr', 'event', 'other'].includes(one.k) && one.n >= row.n && one.n < end) {
      told.push([one.t, one.n, one, one.k, one.k === 'other' ? 'no message' : one.k, '', one.text]);
    }
  }
  return told.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
}

// What an exchange is to another: itself, a request made while it ran, a round of the same chain.
function kinOf(exchange, row) {
  if (exchange === row) return 'own';
  if (exchange.parent === row.x) return 'child';
  return row.chain && exchange.chain === row.chain ? 'round' : '';
}

function partsOf(row, kin) {
  if (!kin) return [];
  if (!row.s) return [[row.t, row.n, row, kin === 'own' ? 'note' : kin, row.k, row.d, row.text]];
  const [asked, answered] = aboutOf(row);
  const parts = [[row.t, row.n, row, kin, 'request', row.d, `${row.m} ${asked}`.trim()]];
  const back = row.d === 'c2s' ? 's2c' : 'c2s';
  if (row.re) parts.push([row.te, row.re[0], row, kin, 'response', back, answered || row.s]);
  return parts;
}

function storyElement(row) {
  const all = storyOf(row);
  const entries = all.slice(0, TOLD);
  const gaps = entries.map(([t], at) => (at ? t - entries[at - 1][0] : 0));
  const longest = Math.max(...gaps);
  const box = element('ol', 'story');
  const note = (text) => box.append(element('li', 'gap', text));
  entries.forEach((entry, at) => {
    if (at && gaps[at] === longest && longest > 1e6) note(`${duration(longest)} of nothing`);
    box.append(storyLine(entry, row));
  });
  const leftOut = all.length - entries.length;
  if (leftOut > 0) note(`${plural(leftOut, 'more thing')} left out, there were too many`);
  return box;
}

function storyLine([t, n, { k }, kin, word, direction, text], row) {
  return element('li', `told ${kin}`,
    element('span', 'offset', `+${duration(Math.max(0, t - row.t))}`),
    k === 'event' ? element('span', 'seq', '•') : linkTo(n),
    arrowOf(direction, ''),
    element('span', 'kind', word),
    peer('text', text));
}
