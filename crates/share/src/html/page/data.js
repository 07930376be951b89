// What the page holds: rows, findings and rules are read at once, frames when they are opened.

// Blocks of frames that stay parsed: whoever walks up and down wants the same ones again.
const KEPT_BLOCKS = 8;

// The order of events among the rows of a frame: behind its messages.
const BEHIND = 2 ** 31;

const data = {
  session: null,
  rows: [],
  rules: new Map(),
  findings: [],
  // By the number of an exchange.
  exchanges: new Map(),
  related: new Map(),
  asked: new Map(),
  chains: new Map(),
  foundIn: new Map(),
  // By the number of a frame: the row that shows it.
  shows: new Map(),
  foundAt: new Map(),
  // What people put on it.
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
  const order = (row) => (row.k === 'event' ? BEHIND : 0) + (row.p || 0);
  data.rows.sort((a, b) => a.n - b.n || order(a) - order(b));
  data.rows.forEach(index);
  for (const rule of valuesOf('rules')) data.rules.set(rule.id, rule);
  data.findings = valuesOf('findings');
  for (const finding of data.findings) {
    if (finding.x) addTo(data.foundIn, finding.x, finding);
    else if (finding.n) addTo(data.foundAt, finding.n, finding);
  }
  for (const note of valuesOf('notes')) data.notes.set(note.n, note);
}

function index(row) {
  if (row.s) {
    data.exchanges.set(row.x, row);
    if (row.parent) addTo(data.asked, row.parent, row);
    if (row.chain) addTo(data.chains, row.chain, row);
    if (row.re) show(row.re[0], row);
  } else if (row.x) {
    addTo(data.related, row.x, row);
  }
  if (row.k !== 'event') show(row.n, row);
}

// What is folded into an exchange is shown by its row.
function show(seq, row) {
  const shown = row.folded ? data.exchanges.get(row.x) || row : row;
  if (!data.shows.has(seq)) data.shows.set(seq, shown);
}

// All findings about a row.
function findingsOf(row) {
  if (row.k === 'event') return [];
  const inIt = row.s ? data.foundIn.get(row.x) || [] : [];
  const at = data.foundAt.get(row.n) || [];
  const answered = row.re && row.re[0] !== row.n ? data.foundAt.get(row.re[0]) || [] : [];
  const ofMessage = row.s ? [] : foundInFrame(row);
  return [...inIt, ...at, ...answered, ...ofMessage];
}

// Marks and notes on the frames of a row, those that are folded into it included.
function notesOf(row) {
  if (!data.notes.size || row.k === 'event') return [];
  const folded = row.s ? (data.related.get(row.x) || []).filter((one) => one.folded) : [];
  const seqs = new Set([row.n, ...(row.re ? [row.re[0]] : []), ...folded.map((one) => one.n)]);
  return [...seqs].map((seq) => data.notes.get(seq)).filter(Boolean);
}

// Of a message that belongs to an exchange: what is said of the exchange and points at it.
function foundInFrame(row) {
  return row.x ? (data.foundIn.get(row.x) || []).filter((finding) => finding.n === row.n) : [];
}

// Frames come after the script, so that the list is there before them.
function readFrames() {
  data.blocks = readBlocks('frames').map((block) => ({ first: Number(block.dataset.first), block }));
  data.whole = readBlocks('end').length > 0;
}

// The frames of a block: [number, text or pieces, bytes left out].
function framesIn(at) {
  const kept = data.parsed.get(at);
  if (kept) return kept;
  const frames = JSON.parse(data.blocks[at].block.textContent);
  data.parsed.set(at, frames);
  if (data.parsed.size > KEPT_BLOCKS) data.parsed.delete(data.parsed.keys().next().value);
  return frames;
}

// A frame: its text, in pieces where bytes of it are no text, and how many bytes are left out;
// null where it is not in the page.
function frameAt(seq) {
  const at = data.blocks.findLastIndex(({ first }) => first <= seq);
  if (at < 0) return null;
  const found = framesIn(at).find(([number]) => number === seq);
  if (!found) return null;
  const [, content, leftOut] = found;
  const pieces = typeof content === 'string' ? [content] : content;
  const text = pieces.map((piece) => (typeof piece === 'string' ? piece : '\ufffd'.repeat(piece.length)));
  return { seq, pieces, text: text.join(''), leftOut };
}

// The end of an exchange or message in time.
function endOf(row) {
  if (!row.s) return row.t;
  if (row.te !== undefined) return Math.max(row.te, row.t);
  return row.s === 'open' || row.s === 'listening' || row.s === 'lost' || row.s === 'unanswered'
    ? Math.max(data.session.t_last, row.t)
    : cancelOf(row) || row.t;
}

function cancelOf(row) {
  const related = data.related.get(row.x) || [];
  const cancel = related.find((one) => one.m === 'notifications/cancelled');
  return cancel ? cancel.t : 0;
}

// What a row says beside its method, as the viewer does: what was asked, and what was answered.
function aboutOf(row) {
  const text = row.text || '';
  if (!row.m) return [text, ''];
  const short = row.m.replace(/^notifications\//, '');
  const prefix = [row.m, short].find((one) => text.startsWith(one)) || '';
  const rest = text.slice(prefix.length).trimStart();
  if (!row.s) return [rest.replace(/^→ /, ''), ''];
  const arrow = rest.startsWith('→ ') ? 0 : rest.indexOf(' → ');
  if (arrow < 0) return [rest, ''];
  return [rest.slice(0, arrow), rest.slice(arrow).replace(/^\s*→ /, '')];
}

const WITHOUT_METHOD = { stderr: 'stderr', event: 'event', other: 'no JSON-RPC' };

function methodOf(row) {
  if (WITHOUT_METHOD[row.k]) return WITHOUT_METHOD[row.k];
  return (row.m || row.k).replace(/^notifications\//, '');
}
