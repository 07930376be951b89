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
  for (let at = rowAfter(row.n); at < data.rows.length; at += 1) {
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

// The first row of the frame `seq` or after it.
function rowAfter(seq) {
  let low = 0;
  let high = data.rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (data.rows[middle].n < seq) low = middle + 1;
    else high = middle;
  }
  return low;
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
  if (entry.row.k !== 'event') {
    link.href = `#${entry.n}`;
  }
  line.append(
    element('span', 'offset', `+${duration(Math.max(0, entry.t - row.t))}`),
    link,
    element('span', `way ${entry.d || ''}`, { c2s: '→', s2c: '←' }[entry.d] || ''),
    element('span', 'kind', entry.word),
    peer('text', entry.text),
  );
  return line;
}
