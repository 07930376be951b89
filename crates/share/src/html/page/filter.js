// Which rows are shown: those of a status that contain a text. Bodies are searched block by block,
// a moment at a time, so that the page stays usable meanwhile.

// Milliseconds of searching before the page has its turn.
const TURN = 24;

// What the status filter offers besides the statuses themselves.
const FLAGS = {
  failed: (row) => Boolean(row.failed),
  'with a finding': (row) => findingsOf(row).length > 0,
  'marked or noted': (row) => notesOf(row).length > 0,
};

const filter = { status: '', text: '', pattern: null, frames: new Set(), next: 0, timer: null };

function fitsStatus(row) {
  const flag = own(FLAGS, filter.status);
  return flag ? flag(row) : !filter.status || row.s === filter.status;
}

// The text, in the line of a row, its method and name, or the bytes of its frames.
function fitsText(row) {
  if (!filter.pattern) return true;
  const inFrame = (seq) => filter.frames.has(seq);
  if (row.k !== 'event' && (inFrame(row.n) || (row.re && inFrame(row.re[0])))) return true;
  return [row.text, row.m, row.name].some((text) => text && filter.pattern.test(text));
}

// Begins to look for a text; a capital letter makes case count.
function lookFor(text) {
  if (text === filter.text) return;
  const flags = /\p{Lu}/u.test(text) ? 'u' : 'iu';
  const pattern = text ? new RegExp(text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&'), flags) : null;
  Object.assign(filter, { text, pattern, frames: new Set(), next: 0 });
}

// Searches on; `told` is called with how much of the page is searched.
function searchOn(told) {
  clearTimeout(filter.timer);
  const until = performance.now() + TURN;
  while (filter.pattern && filter.next < data.blocks.length && performance.now() < until) searchBlock();
  const done = filter.pattern && data.blocks.length ? filter.next / data.blocks.length : 1;
  told(done);
  if (done < 1) filter.timer = setTimeout(() => searchOn(told), 0);
}

function searchBlock() {
  const frames = data.parsed.get(filter.next) || JSON.parse(data.blocks[filter.next].block.textContent);
  for (const [seq, content] of frames) {
    const text = typeof content === 'string' ? content : content.filter((piece) => typeof piece === 'string').join('\n');
    if (filter.pattern.test(text) || (text.includes('\\') && filter.pattern.test(unescaped(text)))) {
      filter.frames.add(seq);
    }
  }
  filter.next += 1;
}

// A JSON text without its escapes.
function unescaped(text) {
  const short = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };
  return text.replace(/\\(?:u([0-9a-fA-F]{4})|(.))/g, (_, code, letter) => (
    code ? String.fromCharCode(parseInt(code, 16)) : short[letter] || letter));
}
