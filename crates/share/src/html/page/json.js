// JSON as places in its text: key order, duplicate members, numbers and escapes stay what they
// were. Without recursion: how deep a text nests is up to whoever sent it.

// A node is { kind, start, end } with, for an object, members [{ key: [start, end], node }] and,
// for an array, items. What is read of a text with a fault, or of one that is cut, is there, its
// last containers marked as unfinished.
function parseJson(text) {
  const reader = { text, at: 0, root: null, open: [], fault: null };
  let step = readValue;
  while (step) step = step(reader);
  for (const node of reader.open) {
    node.unfinished = true;
    node.end = text.length;
  }
  return { root: reader.root, fault: reader.fault };
}

function skipSpace(reader) {
  while (reader.at < reader.text.length && ' \t\r\n'.includes(reader.text[reader.at])) reader.at += 1;
}

function fail(reader, why) {
  reader.fault = { at: reader.at, why };
  return null;
}

function readValue(reader) {
  skipSpace(reader);
  const { text, at } = reader;
  const first = text[at];
  if (first === undefined) return fail(reader, 'the text ends where a value should be');
  if (first === '{' || first === '[') return readOpening(reader, first);
  const end = first === '"' ? stringEnd(text, at) : plainEnd(text, at);
  if (end < 0) return fail(reader, first === '"' ? 'a string that is none' : 'no JSON value');
  const kind = first === '"' ? 'string' : /[-0-9]/.test(first) ? 'number' : 'word';
  place(reader, { kind, start: at, end });
  reader.at = end;
  return reader.open.length ? readNext : readEnd;
}

function readOpening(reader, first) {
  const node = { kind: first === '{' ? 'object' : 'array', start: reader.at, end: reader.at };
  if (node.kind === 'object') node.members = [];
  else node.items = [];
  place(reader, node);
  reader.open.push(node);
  reader.at += 1;
  skipSpace(reader);
  const closing = node.kind === 'object' ? '}' : ']';
  if (reader.text[reader.at] === closing) return close(reader);
  return node.kind === 'object' ? readKey : readValue;
}

function readKey(reader) {
  skipSpace(reader);
  const { text, at } = reader;
  if (text[at] !== '"') return fail(reader, 'a member without a name');
  const end = stringEnd(text, at);
  if (end < 0) return fail(reader, 'a string that is none');
  reader.at = end;
  skipSpace(reader);
  if (text[reader.at] !== ':') return fail(reader, 'a member without a colon');
  reader.at += 1;
  reader.key = [at, end];
  return readValue;
}

// What follows a value within a container.
function readNext(reader) {
  skipSpace(reader);
  const node = reader.open[reader.open.length - 1];
  const found = reader.text[reader.at];
  if (found === ',') {
    reader.at += 1;
    return node.kind === 'object' ? readKey : readValue;
  }
  if (found === (node.kind === 'object' ? '}' : ']')) return close(reader);
  return fail(reader, found === undefined ? 'the text ends in the middle' : 'neither comma nor end');
}

function readEnd(reader) {
  skipSpace(reader);
  return reader.at < reader.text.length ? fail(reader, 'more text after the value') : null;
}

function close(reader) {
  const node = reader.open.pop();
  reader.at += 1;
  node.end = reader.at;
  return reader.open.length ? readNext : readEnd;
}

function place(reader, node) {
  const around = reader.open[reader.open.length - 1];
  if (!around) reader.root = node;
  else if (around.kind === 'object') around.members.push({ key: reader.key, node });
  else around.items.push(node);
}

// The place after the string that begins at `at`; negative where it is none.
function stringEnd(text, at) {
  for (let next = at + 1; next < text.length; next += 1) {
    const code = text.charCodeAt(next);
    if (code === 0x22) return next + 1;
    if (code < 0x20) return -1;
    if (code === 0x5c) {
      next += 1;
      if (text[next] === 'u' && /^[0-9a-fA-F]{4}$/.test(text.slice(next + 1, next + 5))) next += 4;
      else if (!text[next] || !'"\\/bfnrt'.includes(text[next])) return -1;
    }
  }
  return -1;
}

// The place after a number or a word; negative where it is none.
function plainEnd(text, at) {
  const plain = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
  plain.lastIndex = at;
  return plain.test(text) ? plain.lastIndex : -1;
}

// What a string of the wire says, its escapes read.
function decoded(source) {
  try {
    return JSON.parse(source);
  } catch {
    return source;
  }
}

// How many values are directly in a node.
function lengthOf(node) {
  return node.kind === 'object' ? node.members.length : node.kind === 'array' ? node.items.length : 0;
}

// What is directly in a node: [name as on the wire, or its number, and the node].
function childrenOf(text, node, from, to) {
  if (node.kind === 'array') return node.items.slice(from, to).map((item, at) => [from + at, item]);
  return node.members.slice(from, to).map(({ key, node: value }) => [text.slice(...key), value]);
}

// A node on one line, cut where it is long.
function previewOf(text, node, limit) {
  const cut = text.slice(node.start, Math.min(node.end, node.start + limit));
  const line = cut.replace(/("(?:[^"\\]|\\.)*")|[ \t\r\n]+/g, (_, string) => string || ' ');
  return node.end - node.start > limit ? `${line}…` : line;
}
