// The row that is selected: its bodies, its story, what was found.

const detail = { row: null, tab: 'body', raw: false };

const TABS = ['body', 'story', 'findings'];

// Shows a row; with `null` nothing.
function showDetail(row) {
  const pane = byId('detail');
  const scrolled = row === detail.row ? pane.querySelector('.pane')?.scrollTop : 0;
  detail.row = row;
  pane.hidden = !row;
  document.body.classList.toggle('split', Boolean(row));
  if (!row) {
    pane.replaceChildren();
    return;
  }
  const findings = findingsOf(row);
  if (detail.tab === 'story' && !row.s) detail.tab = 'body';
  const panel = element('div', 'pane scroll');
  panel.setAttribute('role', 'tabpanel');
  panel.setAttribute('aria-label', detail.tab);
  panel.append(contentOf(row, findings));
  pane.replaceChildren(headOf(row), tabsOf(row, findings), panel, element('footer', 'path'));
  panel.scrollTop = scrolled || 0;
}

function contentOf(row, findings) {
  if (detail.tab === 'story') return storyElement(row);
  if (detail.tab === 'findings') return findingsElement(findings, 'nothing was found in it');
  return bodiesOf(row);
}

function headOf(row) {
  const head = element('header', 'head');
  const title = element('h2', '', row.k === 'event' ? '' : element('span', 'seq', `#${row.n}`));
  title.append(peer('method', row.m || methodOf(row)));
  if (row.name) title.append(peer('name', row.name));
  const line = element('p', 'line');
  if (row.s) {
    const [sign, tone] = statusOf(row);
    const status = element('span', `badge ${tone}`, `${sign} ${row.s}${row.code ? ` ${row.code}` : ''}`);
    status.title = own(STATUS, row.s)?.[2] || '';
    line.append(status);
  }
  for (const fact of factsOf(row)) line.append(element('span', 'fact', fact));
  const close = button('close', '✕', () => choose(null));
  close.setAttribute('aria-label', 'close the detail');
  head.append(close, title, line);
  for (const note of notesOf(row)) head.append(element('p', 'noted', noteElement(note), linkTo(note.n)));
  return head;
}

function factsOf(row) {
  const facts = [];
  if (row.latency !== undefined) facts.push(duration(row.latency));
  if (row.waited > 0) facts.push(row.retry
    ? `${duration(row.waited)} of waiting for the client before it`
    : `${duration(row.waited)} of it waiting for the client`);
  if (row.transfer > 1e6) facts.push(`${duration(row.transfer)} of transfer`);
  if (row.k !== 'event') facts.push(row.re ? `${size(row.size || 0)} → ${size(row.ressize || 0)}` : size(row.size || 0));
  if (row.id !== undefined) facts.push(`id ${row.id}`);
  if (row.d) facts.push(row.d === 'c2s' ? 'client → server' : 'server → client');
  facts.push(`at ${since(row.t)}`);
  if (data.session.wall_ms) facts.push(date(data.session.wall_ms + row.t / 1e6));
  if (row.task) facts.push(`task ${row.task}`);
  return facts;
}

function tabsOf(row, findings) {
  const bar = element('div', 'tabs');
  bar.setAttribute('role', 'tablist');
  const counts = { findings: findings.length || '' };
  for (const tab of TABS) {
    if (tab === 'story' && !row.s) continue;
    const node = button('', tab[0].toUpperCase() + tab.slice(1), () => setTab(tab));
    if (counts[tab]) node.append(element('span', 'count', String(counts[tab])));
    node.setAttribute('role', 'tab');
    node.setAttribute('aria-selected', String(tab === detail.tab));
    node.tabIndex = tab === detail.tab ? 0 : -1;
    bar.append(node);
  }
  if (detail.tab === 'body' && row.k !== 'event') {
    const raw = button('raw-switch', detail.raw ? 'tree' : 'raw', toggleRaw);
    raw.title = 'Tree or raw text (r)';
    bar.append(raw);
  }
  return bar;
}

function setTab(tab) {
  detail.tab = tab;
  showDetail(detail.row);
}

function toggleRaw() {
  detail.raw = !detail.raw;
  detail.tab = 'body';
  showDetail(detail.row);
}

function showPath(path) {
  const foot = byId('detail').querySelector('footer.path');
  if (!foot) return;
  foot.replaceChildren(peer('', path || 'the whole of it'));
}

function bodiesOf(row) {
  const box = element('div', 'bodies');
  if (row.k === 'event') {
    box.append(element('p', 'event-text', peer('', row.text)));
    return box;
  }
  if (!row.s) {
    box.append(bodyOf(row.n, row.p, row.k));
    return box;
  }
  box.append(bodyOf(row.n, row.p, 'request'));
  if (row.re) box.append(bodyOf(row.re[0], row.re[1], 'response'));
  else box.append(element('p', 'nothing', `${statusOf(row)[0]} ${own(STATUS, row.s)?.[2] || 'no answer'}`));
  return box;
}

// A frame, or the message at `part` of a batch.
function bodyOf(seq, part, title) {
  const box = element('section', 'body');
  const name = title === 'other' ? 'line' : title;
  const head = element('h3', '', element('span', '', name), element('span', 'seq', `#${seq}`));
  box.append(head);
  const frame = frameAt(seq);
  if (!frame) {
    const why = data.whole ? 'this frame is not in this page' : 'this frame has not been read yet';
    box.append(element('p', 'nothing', why));
    return box;
  }
  head.append(copyButton(frame));
  const cut = frame.leftOut ? `cut here: ${size(frame.leftOut)} more of this frame are not in this page` : '';
  const isMessage = title !== 'stderr' && /^\s*[[{"]/.test(frame.text);
  if (detail.raw || !isMessage) {
    box.append(rawOf(frame));
    if (cut) box.append(element('p', 'cut', cut));
  } else {
    const pick = (root) => (root.kind === 'array' && root.items[part || 0]) || root;
    box.append(treeOf(frame.text, cut, pick));
  }
  return box;
}

// The bytes of a frame, what is no text among them spelled out.
function rawOf(frame) {
  const raw = element('pre', 'raw');
  for (const piece of frame.pieces) {
    if (typeof piece === 'string') raw.append(wire(piece));
    else raw.append(element('span', 'spelled', piece.map((byte) => `\\x${hex(byte)}`).join('')));
  }
  return raw;
}

function copyButton(frame) {
  const node = button('copy', 'copy', async () => {
    try {
      await navigator.clipboard.writeText(frame.text);
      node.textContent = frame.leftOut ? 'copied, cut' : 'copied';
    } catch {
      node.textContent = 'not allowed here';
    }
  });
  return node;
}

// Findings, each with why it matters and what to do.
function findingsElement(findings, nothing) {
  const box = element('div', 'findings');
  if (!findings.length) box.append(element('p', 'nothing', nothing));
  for (const finding of findings) box.append(findingElement(finding));
  return box;
}

function findingElement(finding) {
  const rule = data.rules.get(finding.rule);
  const box = element('article', 'finding', findingHead(finding));
  box.append(element('p', 'text', peer('', finding.text)));
  if (finding.path) box.append(element('p', 'place', 'at ', peer('code', finding.path)));
  if (finding.related?.length) {
    const also = element('p', 'place', 'also ');
    finding.related.forEach((seq) => also.append(linkTo(seq), ' '));
    box.append(also);
  }
  if (rule) box.append(aboutRule(rule));
  return box;
}

function findingHead(finding) {
  const [sign, tone] = severityOf(finding.severity);
  const head = element('h3', '', element('span', `sign ${tone}`, `${sign} ${finding.severity}`), peer('rule', finding.rule));
  if (finding.n) head.append(linkTo(finding.n));
  return head;
}

function aboutRule(rule) {
  const about = element('dl', 'about');
  const add = (name, ...value) => about.append(element('dt', '', name), element('dd', '', ...value));
  add('why', rule.why);
  add('fix', rule.fix);
  if (rule.section) {
    const [title, url] = rule.section;
    const link = element('a', '', title);
    link.href = url;
    link.target = '_blank';
    link.rel = 'noopener noreferrer';
    add('section', link);
  }
  return about;
}

function linkTo(seq) {
  const link = element('a', 'seq', `#${seq}`);
  link.href = `#${seq}`;
  return link;
}

// What belongs to an exchange or happened while it was open, in order of time.

// Things that a story tells of one kind.
const TOLD = 500;

function storyOf(row) {
  const entries = [...messagesOf(row, 'own')];
  for (const child of data.asked.get(row.x) || []) entries.push(...messagesOf(child, 'child'));
  for (const round of (row.chain && data.chains.get(row.chain)) || []) {
    if (round !== row) entries.push(...messagesOf(round, 'round'));
  }
  const { told, leftOut } = meanwhile(row);
  entries.push(...told);
  entries.sort((a, b) => a.t - b.t || a.n - b.n);
  return { entries, leftOut };
}

// The messages of an exchange.
function messagesOf(row, kin) {
  const [asked, answered] = aboutOf(row);
  const told = [{ t: row.t, n: row.n, row, kin, word: 'request', d: row.d, text: `${row.m} ${asked}`.trim() }];
  for (const one of (data.related.get(row.x) || []).slice(0, TOLD)) {
    told.push({ t: one.t, n: one.n, row: one, kin: kin === 'own' ? 'note' : kin, word: one.k, d: one.d, text: one.text });
  }
  if (row.re) {
    const back = row.d === 'c2s' ? 's2c' : 'c2s';
    told.push({ t: row.te, n: row.re[0], row, kin, word: 'response', d: back, text: answered || row.s });
  }
  return told;
}

// Lines, events and other things between the request and the response.
function meanwhile(row) {
  const told = [];
  let leftOut = 0;
  const end = row.re ? row.re[0] : Infinity;
  const first = data.rows.findIndex((one) => one.n >= row.n);
  for (let at = first; at < data.rows.length; at += 1) {
    const one = data.rows[at];
    if (one.n >= end) break;
    const isBetween = one.k === 'event' ? one.n >= row.n : one.n > row.n;
    const isAside = one.k === 'stderr' || one.k === 'event' || (one.k === 'other' && !one.x);
    if (!isBetween || !isAside) continue;
    if (told.length < TOLD) told.push({ t: one.t, n: one.n, row: one, kin: one.k, word: one.k === 'other' ? 'no message' : one.k, text: one.text });
    else leftOut += 1;
  }
  leftOut += Math.max(0, (data.related.get(row.x) || []).length - TOLD);
  return { told, leftOut };
}

function storyElement(row) {
  const { entries, leftOut } = storyOf(row);
  const gaps = entries.map((entry, at) => (at ? entry.t - entries[at - 1].t : 0));
  const longest = gaps.indexOf(Math.max(...gaps));
  const box = element('ol', 'story');
  entries.forEach((entry, at) => {
    if (at === longest && gaps[at] > 1e6 && entries.length > 2) {
      box.append(element('li', 'gap', `${duration(gaps[at])} of nothing`));
    }
    box.append(storyLine(entry, row));
  });
  if (leftOut) box.append(element('li', 'gap', `${plural(leftOut, 'more thing')} left out, there were too many`));
  return box;
}

function storyLine(entry, row) {
  const line = element('li', `told ${entry.kin}`);
  const link = element('a', 'seq', entry.row.k === 'event' ? '•' : `#${entry.n}`);
  if (entry.row.k !== 'event') link.href = `#${entry.n}`;
  line.append(
    element('span', 'offset', `+${duration(Math.max(0, entry.t - row.t))}`),
    link,
    element('span', `way ${entry.d || ''}`, { c2s: '→', s2c: '←' }[entry.d] || ''),
    element('span', 'kind', entry.word),
    peer('text', entry.text),
  );
  return line;
}
