// JSON as places in its text: key order, duplicate members, numbers and escapes stay what they
// were. Without recursion: how deep a text nests is up to whoever sent it.

const TOKEN = new RegExp('[ \\t\\r\\n]*([{}[\\],:]|true|false|null'
  + '|-?(?:0|[1-9]\\d*)(?:\\.\\d+)?(?:[eE][+-]?\\d+)?'
  + '|"[^"\\\\\\u0000-\\u001f]*(?:\\\\(?:["\\\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\\\\u0000-\\u001f]*)*")', 'y');

const KINDS_OF_VALUES = { '{': 'object', '[': 'array', '"': 'string', t: 'word', f: 'word', n: 'word' };

// The first value of a text, and where the text stops being JSON. A value is { kind, start, end,
// items: [[name, value]] }; a name is a number or the source of a key. A text that is cut gives what
// was read of it, its last containers marked as unfinished.
function parseJson(text) {
  const top = { items: [], first: 'value' };
  const open = [top];
  let [at, wants, key] = [0, 'value', null];
  for (;;) {
    TOKEN.lastIndex = at;
    const source = TOKEN.exec(text)?.[1];
    if (!source) break;
    const around = open[open.length - 1];
    const isEmpty = wants === around.first && !around.items.length;
    if (source === around.closing && (wants === 'next' || isEmpty)) {
      open.pop().end = TOKEN.lastIndex;
      wants = 'next';
    } else if (wants === 'next' && source === ',' && around !== top) {
      wants = around.first;
    } else if (wants === 'key' && source[0] === '"') {
      key = source;
      wants = 'colon';
    } else if (wants === 'colon' && source === ':') {
      wants = 'value';
    } else if (wants === 'value' && !'}],:'.includes(source)) {
      const value = valueAt(TOKEN.lastIndex - source.length, source);
      around.items.push([around.first === 'key' ? key : around.items.length, value]);
      if (value.first) open.push(value);
      wants = value.first || 'next';
    } else break;
    at = TOKEN.lastIndex;
  }
  const rest = text.slice(at).search(/[^ \t\r\n]/);
  const isWhole = rest < 0 && open.length === 1 && wants === 'next';
  for (const value of open) Object.assign(value, { unfinished: true, end: text.length });
  return { root: top.items[0]?.[1], fault: isWhole ? -1 : rest < 0 ? text.length : at + rest };
}

// A value that begins at a place; `first` is what a container begins with.
function valueAt(start, source) {
  const kind = KINDS_OF_VALUES[source[0]] || 'number';
  const value = { kind, start, end: start + source.length, items: [] };
  if (kind === 'object') return { ...value, closing: '}', first: 'key' };
  return kind === 'array' ? { ...value, closing: ']', first: 'value' } : value;
}

// A value on one line, cut where it is long.
function previewOf(text, { start, end }, limit) {
  const cut = text.slice(start, Math.min(end, start + limit));
  const line = cut.replace(/("(?:[^"\\]|\\.)*")|[ \t\r\n]+/g, (_, string) => string || ' ');
  return end - start > limit ? `${line}…` : line;
}
