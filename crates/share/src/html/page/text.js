// How text, times and sizes are written. Everything that is shown passes through here: text from
// the wire becomes text nodes, with whatever would be obeyed or could not be seen spelled out.

const HOSTILE = new RegExp(
  '[\\u0000-\\u001f\\u007f-\\u009f\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f' +
  '\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\u3164\\ufdd0-\\ufdef\\ufe00-\\ufe0f\\ufeff\\uffa0' +
  '\\ufff0-\\ufffb\\ufffe\\uffff\\ud800-\\udfff\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}' +
  '\\u{e0000}-\\u{e0fff}' + planeEnds() + ']', 'gu');
const SHORT = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

// The two noncharacters at the end of each plane after the first.
function planeEnds() {
  const planes = Array.from({ length: 16 }, (_, plane) => (plane + 1).toString(16));
  return planes.map((plane) => `\\u{${plane}fffe}\\u{${plane}ffff}`).join('');
}

// A hostile character as it is shown; a variation selector that gives the character before it its
// look stays, a run of them carries hidden data.
function spelled(character, at, whole) {
  const code = character.codePointAt(0);
  const before = [...whole.slice(Math.max(at - 2, 0), at)].pop();
  if ((code === 0xfe0e || code === 0xfe0f) && before && !isSelector(before.codePointAt(0))) {
    return character;
  }
  return SHORT[character] || (code < 0x80 ? `\\x${hex(code)}` : `\\u{${code.toString(16)}}`);
}

function isSelector(code) {
  return (code >= 0xfe00 && code <= 0xfe0f) || (code >= 0xe0100 && code <= 0xe01ef);
}

function hex(byte) {
  return byte.toString(16).padStart(2, '0');
}

// The text on one line, hostile characters spelled out.
function visible(text) {
  return String(text).replace(HOSTILE, spelled);
}

// The same as nodes, with what was spelled out marked; the characters in `kept` stay.
function wire(text, kept = '') {
  const whole = String(text);
  const nodes = document.createDocumentFragment();
  let plain = 0;
  for (const match of whole.matchAll(HOSTILE)) {
    const shown = spelled(match[0], match.index, whole);
    if (shown === match[0] || kept.includes(match[0])) continue;
    nodes.append(whole.slice(plain, match.index), element('span', 'spelled', shown));
    plain = match.index + match[0].length;
  }
  nodes.append(whole.slice(plain));
  return nodes;
}

// An element with a class and children; strings become text that is safe to look at.
function element(tag, className, ...children) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  node.append(...children.filter(Boolean).map((child) => (child instanceof Node ? child : visible(child))));
  return node;
}

function setAttributes(node, attributes) {
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, String(value));
  return node;
}

function button(className, label, action) {
  const node = element('button', className, label);
  node.type = 'button';
  node.addEventListener('click', action);
  return node;
}

// Text of a peer, which must not change the order of what stands around it.
function peer(className, text) {
  const node = element('bdi', className);
  node.append(wire(text));
  return node;
}

function linkTo(seq) {
  const link = element('a', 'seq', `#${seq}`);
  link.href = `#${seq}`;
  return link;
}

// Adds a page of a long list, and a button for the rest of it.
function addPage(box, items, size, elementOf) {
  box.append(...items.slice(0, size).map(elementOf));
  if (items.length <= size) return;
  const more = button('more page', `${count(items.length - size)} more`, () => {
    more.remove();
    addPage(box, items.slice(size), size, elementOf);
  });
  box.append(more);
}

function count(number) {
  return String(number).replace(/\B(?=(\d{3})+$)/g, '\u202f');
}

function plural(number, noun) {
  return `${count(number)} ${noun}${number === 1 ? '' : 's'}`;
}

// In the largest unit of which there is one or more, with one decimal below ten.
function scaled(value, units) {
  const at = units.findIndex((_, place) => Math.round(value / 1000 ** (place + 1)) < 1000);
  const unit = at < 0 ? units.length - 1 : at;
  const number = value / 1000 ** (unit + 1);
  return `${number < 9.95 ? number.toFixed(1) : Math.round(number)} ${units[unit]}`;
}

function size(bytes) {
  return bytes < 1000 ? `${bytes} B` : scaled(bytes, ['kB', 'MB', 'GB', 'TB']);
}

function duration(ns) {
  const seconds = Math.round(ns / 1e9);
  if (ns < 1000) return ns === 0 ? '0 ms' : `${ns} ns`;
  if (ns >= 9.95e9 && ns < 59.95e9) return `${(ns / 1e9).toFixed(1)} s`;
  if (seconds < 60) return scaled(ns, ['µs', 'ms', 's']);
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${two(seconds % 60)} s`;
  return `${Math.floor(seconds / 3600)} h ${two(Math.floor(seconds % 3600 / 60))} min`;
}

function two(number) {
  return String(number).padStart(2, '0');
}

// A moment since the start: `12:04.318`.
function since(ns) {
  const millis = Math.floor(ns / 1e6);
  const seconds = Math.floor(millis / 1000);
  const rest = `${two(seconds % 60)}.${String(millis % 1000).padStart(3, '0')}`;
  const minutes = `${two(Math.floor(seconds % 3600 / 60))}:${rest}`;
  return seconds < 3600 ? minutes : `${Math.floor(seconds / 3600)}:${minutes}`;
}

// A length of time as a clock shows it.
function clock(ns) {
  if (ns < 60e9) return `${(Math.floor(ns / 1e8) / 10).toFixed(1)} s`;
  const seconds = Math.floor(ns / 1e9);
  return [Math.floor(seconds / 3600), Math.floor(seconds % 3600 / 60), seconds % 60].map(two).join(':');
}

// Milliseconds since 1970 as date and time where the reader of the page is.
function date(ms) {
  if (!ms) return 'unknown';
  const at = new Date(ms);
  const day = [at.getFullYear(), two(at.getMonth() + 1), two(at.getDate())].join('-');
  return `${day} ${[at.getHours(), at.getMinutes(), at.getSeconds()].map(two).join(':')}`;
}

function byId(id) {
  return document.getElementById(id);
}

// Sign, tone and meaning of each status.
const STATUS = new Map(Object.entries({
  ok: ['✓', 'good', 'answered with a result'],
  'tool-error': ['✗', 'bad', 'answered with a result that has isError'],
  error: ['✗', 'bad', 'answered with an error'],
  'http-error': ['✗', 'bad', 'its HTTP response is an error status, or holds no answer'],
  polled: ['✗', 'bad', 'the server closed the stream before it answered, and the client never asked for the rest'],
  probe: ['✓', 'good', 'refused by a server of an older era or transport; the fallback worked'],
  lost: ['✗', 'bad', 'the answering side ended, or the connection broke, before the answer'],
  unanswered: ['✗', 'bad', 'the recording ended otherwise before there was an answer'],
  open: ['…', 'open', 'no answer yet: it was still being recorded'],
  listening: ['…', 'open', 'a subscription that stays open'],
  task: ['…', 'open', 'answered with a task'],
  'input-required': ['◆', 'open', 'the server asked for input first'],
  cancelled: ['⚠', 'warn', 'cancelled, and never answered'],
  'user-cancelled': ['⚠', 'warn', 'cancelled by the user, as the client says; no failure'],
  'after-eof': ['⚠', 'warn', 'asked when the client had closed its side; no failure'],
  late: ['⚠', 'warn', 'answered after it was cancelled'],
  'given-up': ['⚠', 'warn', 'not followed any longer, because too many were open'],
}));

// Sign, tone and meaning of an exchange: a refused probe for the newer era has not failed.
function statusOf(row) {
  const [sign, tone, meaning] = STATUS.get(row.s) || ['?', 'warn', ''];
  return tone === 'bad' && !row.failed ? ['⚠', 'warn', meaning] : [sign, tone, meaning];
}

// Sign, tone and rank of each severity.
const SEVERITY = new Map([
  ['error', ['✗', 'bad', 0]], ['warning', ['⚠', 'warn', 1]], ['note', ['•', 'faint', 2]],
]);

function severityOf(word) {
  return SEVERITY.get(word) || ['•', 'faint', 3];
}
