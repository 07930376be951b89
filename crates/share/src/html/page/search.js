// Words, which are looked for in bodies as well: block by block, a moment at a time, so that the
// page stays usable meanwhile.

// Milliseconds of looking before the page has its turn.
const TURN = 24;

// Words whose places are kept: whoever types one letter after the other looks for many.
const KEPT_SEARCHES = 12;

// What was found of each word: { pattern, frames, next } where `next` is the block to look at.
const searches = new Map();

let searching = null;

// A word: in the line of a row, its method and name, or the bytes of its frames. A capital letter
// makes case count.
function wordCondition(word) {
  if (word === '') throw new FilterFault('an empty text fits everything');
  let search = searches.get(word);
  if (!search) {
    const flags = /\p{Lu}/u.test(word) ? 'u' : 'iu';
    const pattern = new RegExp(word.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&'), flags);
    search = { pattern, frames: new Set(), next: 0 };
    searches.set(word, search);
    if (searches.size > KEPT_SEARCHES) searches.delete(searches.keys().next().value);
  }
  return { search, fits: (row) => isFound(row, search) };
}

function isFound(row, { pattern, frames }) {
  if (row.k !== 'event' && (frames.has(row.n) || (row.re && frames.has(row.re[0])))) return true;
  return [row.text, row.m, row.name].some((text) => text && pattern.test(text));
}

// Looks on; `told` is called with how far it is and, at the end or now and then, to show more.
function searchOn(conditions, told) {
  clearTimeout(searching);
  const open = conditions.map((one) => one.search).filter((one) => one && one.next < data.blocks.length);
  if (!open.length) {
    told(1);
    return;
  }
  const until = performance.now() + TURN;
  while (open.length && performance.now() < until) {
    const search = open[0];
    lookInto(search);
    if (search.next >= data.blocks.length) open.shift();
  }
  const done = open.length ? open[0].next / data.blocks.length : 1;
  told(done);
  if (done < 1) searching = setTimeout(() => searchOn(conditions, told), 0);
}

function lookInto(search) {
  const frames = data.parsed.get(search.next) || JSON.parse(data.blocks[search.next].block.textContent);
  for (const [seq, content] of frames) {
    const text = typeof content === 'string' ? content : content.filter((piece) => typeof piece === 'string').join('\n');
    if (search.pattern.test(text) || (text.includes('\\') && search.pattern.test(unescaped(text)))) {
      search.frames.add(seq);
    }
  }
  search.next += 1;
}

// What stands escaped in a JSON text is found as well.
function unescaped(text) {
  const short = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };
  return text.replace(/\\(?:u([0-9a-fA-F]{4})|(.))/g, (_, code, letter) => (
    code ? String.fromCharCode(parseInt(code, 16)) : short[letter] || letter));
}
