// What the page holds: rows, findings and rules are read at once, frames when they are opened or
// searched.

// Blocks of frames that stay parsed: whoever walks up and down wants the same ones again.
const KEPT_BLOCKS = 8;

// Milliseconds of searching before the page has its turn.
const TURN = 24;

const data = {
  session: null,
  rows: [],
  rules: new Map(),
  findings: [],
  // By the number of an exchange: its row, the messages beside it, the requests made while it ran.
  exchanges: new Map(),
  related: new Map(),
  asked: new Map(),
  // By the number of a frame: the row that shows it.
  shows: new Map(),
  // By the row.
  found: new Map(),
  notes: new Map(),
  blocks: [],
  parsed: new Map(),
  whole: false,
};

function readBlocks(kind) {
  return [...document.querySelectorAll(`script[data-kind="${kind}"]`)];
}

function valuesOf(kind) {
  return readBlocks(kind).flatMap((block) => JSON.parse(block.textContent));
}

function addTo(map, key, value) {
  const list = map.get(key);
  if (list) list.push(value);
  else map.set(key, [value]);
}

function readData() {
  [data.session] = valuesOf('session');
  data.rows = valuesOf('rows');
  // Events stand behind the messages of the frame before them.
  const isEvent = (row) => Number(row.k === 'event');
  data.rows.sort((a, b) => a.n - b.n || isEvent(a) - isEvent(b) || (a.p || 0) - (b.p || 0));
  for (const row of data.rows) {
    if (row.s) data.exchanges.set(row.x, row);
    else if (row.x) addTo(data.related, row.x, row);
    if (row.s && row.parent) addTo(data.asked, row.parent, row);
  }
  for (const row of data.rows) {
    if (row.k === 'event') continue;
    const shown = (row.folded && data.exchanges.get(row.x)) || row;
    const frames = [row.n, row.re?.[0] || row.n, ...(row.h || [])];
    for (const seq of frames) if (!data.shows.has(seq)) data.shows.set(seq, shown);
  }
  for (const rule of valuesOf('rules')) data.rules.set(rule.id, rule);
  data.findings = valuesOf('findings');
  for (const finding of data.findings) {
    const rows = new Set([data.exchanges.get(finding.x), data.shows.get(finding.n)]);
    for (const row of rows) addTo(data.found, row, finding);
  }
  for (const note of valuesOf('notes')) addTo(data.notes, data.shows.get(note.n), note);
}

function findingsOf(row) {
  return data.found.get(row) || [];
}

function notesOf(row) {
  return data.notes.get(row) || [];
}

// Frames come after the script, so that the list is there before them.
function readFrames() {
  data.blocks = readBlocks('frames').map((block) => ({ first: Number(block.dataset.first), block }));
  data.whole = readBlocks('end').length > 0;
}

function parsedBlock(at) {
  return data.parsed.get(at) || JSON.parse(data.blocks[at].block.textContent);
}

// A frame: its text, in pieces where bytes of it are no text, and how many bytes are left out;
// null where it is not in the page.
function frameAt(seq) {
  const at = data.blocks.findLastIndex(({ first }) => first <= seq);
  if (at < 0) return null;
  const frames = parsedBlock(at);
  data.parsed.set(at, frames);
  if (data.parsed.size > KEPT_BLOCKS) data.parsed.delete(data.parsed.keys().next().value);
  const found = frames.find(([number]) => number === seq);
  if (!found) return null;
  const pieces = [found[1]].flat(1);
  const text = pieces.map((piece) => (typeof piece === 'string' ? piece : '\ufffd'.repeat(piece.length)));
  return { pieces, text: text.join(''), leftOut: found[2] };
}

// The end of an exchange in time.
function endOf(row) {
  if (row.te !== undefined) return Math.max(row.te, row.t);
  const isOpen = ['open', 'listening', 'lost', 'unanswered'].includes(row.s);
  if (isOpen) return Math.max(data.session.t_last, row.t);
  return relatedTo(row).find((one) => one.m === 'notifications/cancelled')?.t || row.t;
}

function relatedTo(row) {
  return data.related.get(row.x) || [];
}

// What a row says beside its method: what was asked, and what was answered.
function aboutOf(row) {
  const text = row.text || '';
  if (!row.m) return [text, ''];
  const prefix = [row.m, methodOf(row)].find((one) => text.startsWith(one)) || '';
  const rest = text.slice(prefix.length).trimStart();
  const arrow = rest.startsWith('→ ') ? 0 : rest.indexOf(' → ');
  if (!row.s || arrow < 0) return [rest.replace(/^→ /, ''), ''];
  return [rest.slice(0, arrow), rest.slice(arrow).trimStart().slice(2)];
}

function methodOf(row) {
  const other = { stderr: 'stderr', event: 'event', other: 'no JSON-RPC' }[row.k];
  return other || (row.m || row.k).replace(/^notifications\//, '');
}

// What the status filter offers besides the statuses themselves.
const FLAGS = new Map([
  ['failed', (row) => row.failed],
  ['with a finding', (row) => findingsOf(row).length > 0],
  ['marked or noted', (row) => notesOf(row).length > 0],
  ['exchanges', (row) => row.s],
  ['messages', (row) => !row.s && ['notification', 'response', 'request'].includes(row.k)],
  ['HTTP', (row) => row.k === 'http'],
  ['stderr', (row) => row.k === 'stderr'],
  ['other lines', (row) => row.k === 'other'],
  ['events', (row) => row.k === 'event'],
]);

const filter = { status: '', text: '', pattern: null, frames: new Set(), next: 0, timer: null };

// Whether a row has the status, and the text in its line, its method, its name or its frames.
function fitsFilter(row) {
  const { status, pattern, frames } = filter;
  const flag = FLAGS.get(status);
  if (flag ? !flag(row) : status && row.s !== status) return false;
  if (!pattern) return true;
  const own = [row.n, row.re?.[0], ...(row.h || [])];
  if (row.k !== 'event' && own.some((seq) => frames.has(seq))) return true;
  return [row.text, row.m, row.name].some((text) => text && pattern.test(text));
}

// Begins to look for a text; a capital letter makes case count.
function lookFor(text) {
  if (text === filter.text) return;
  const flags = /\p{Lu}/u.test(text) ? 'u' : 'iu';
  const pattern = text ? new RegExp(text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&'), flags) : null;
  Object.assign(filter, { text, pattern, frames: new Set(), next: 0 });
}

// Searches the frames block by block; `told` is called with how much of the page is searched.
function searchOn(told) {
  clearTimeout(filter.timer);
  const until = performance.now() + TURN;
  while (filter.pattern && filter.next < data.blocks.length && performance.now() < until) {
    for (const [seq, content] of parsedBlock(filter.next)) if (isFound(content)) filter.frames.add(seq);
    filter.next += 1;
  }
  const done = filter.pattern && data.blocks.length ? filter.next / data.blocks.length : 1;
  told(done);
  if (done < 1) filter.timer = setTimeout(() => searchOn(told), 0);
}

// Whether the text stands in a frame as it is, or with the escapes of JSON read.
function isFound(content) {
  const text = [content].flat(1).filter((piece) => typeof piece === 'string').join('\n');
  if (filter.pattern.test(text)) return true;
  const read = (escape) => decoded(`"${escape}"`).replace(/^"|"$/g, '');
  return text.includes('\\') && filter.pattern.test(text.replace(/\\(?:u[0-9a-fA-F]{4}|.)/g, read));
}

// What a string of the wire says, its escapes read.
function decoded(source) {
  try {
    return JSON.parse(source);
  } catch {
    return source;
  }
}
