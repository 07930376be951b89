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
  let ends = '';
  for (let plane = 1; plane <= 16; plane += 1) {
    ends += `\\u{${plane.toString(16)}fffe}\\u{${plane.toString(16)}ffff}`;
  }
  return ends;
}

// One hostile character as it is shown; itself where it stands for the look of the one before.
function spelled(character, at, whole) {
  const code = character.codePointAt(0);
  if ((code === 0xfe0e || code === 0xfe0f) && at > 0 && !isSelector(codeBefore(whole, at))) {
    return character;
  }
  if (SHORT[character]) return SHORT[character];
  return code < 0x80 ? `\\x${hex(code)}` : `\\u{${code.toString(16)}}`;
}

// Variation selectors: one is ordinary, a run of them carries hidden data.
function isSelector(code) {
  return (code >= 0xfe00 && code <= 0xfe0f) || (code >= 0xe0100 && code <= 0xe01ef);
}

// The character before a place.
function codeBefore(text, at) {
  const code = text.charCodeAt(at - 1);
  const isLow = code >= 0xdc00 && code <= 0xdfff && at > 1;
  return isLow ? text.codePointAt(at - 2) : code;
}

function hex(byte) {
  return byte.toString(16).padStart(2, '0');
}

// The text on one line, hostile characters spelled out.
function visible(text) {
  return String(text).replace(HOSTILE, spelled);
}

// The same as nodes, with what was spelled out marked. `kept` stays as it is: new lines, mostly.
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
  for (const child of children) {
    if (child === null || child === undefined || child === '') continue;
    node.append(typeof child === 'string' ? visible(child) : child);
  }
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

// What somebody put on a frame: a star, with its word if it has one, and the note.
function noteElement({ mark, note }) {
  const node = element('span', 'remark');
  if (mark !== undefined) {
    const star = element('span', 'star', '★');
    star.setAttribute('aria-label', 'marked');
    node.append(star, peer('', mark));
  }
  if (note) node.append(element('span', 'pen', '✎'), peer('', note));
  return node;
}

function count(number) {
  return String(number).replace(/\B(?=(\d{3})+$)/g, '\u202f');
}

function plural(number, noun) {
  return `${count(number)} ${noun}${number === 1 ? '' : 's'}`;
}

// In the largest unit of which there is one or more, with one decimal below ten.
function scaled(value, units) {
  let worth = 1000;
  for (let at = 0; at < units.length; at += 1) {
    const tenths = Math.round(value * 10 / worth);
    if (tenths < 100) return `${(tenths / 10).toFixed(1)} ${units[at]}`;
    if (Math.round(value / worth) < 1000 || at + 1 === units.length) {
      return `${Math.round(value / worth)} ${units[at]}`;
    }
    worth *= 1000;
  }
  return '';
}

function size(bytes) {
  return bytes < 1000 ? `${bytes} B` : scaled(bytes, ['kB', 'MB', 'GB', 'TB']);
}

function duration(ns) {
  const tenths = Math.round(ns / 1e8);
  const seconds = Math.round(ns / 1e9);
  if (ns === 0) return '0 ms';
  if (ns < 1000) return `${ns} ns`;
  if (tenths >= 100 && tenths < 600) return `${(tenths / 10).toFixed(1)} s`;
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

// A date and time where whoever reads the page is; milliseconds since 1970.
function date(ms) {
  if (!ms) return 'unknown';
  const at = new Date(ms);
  const day = [at.getFullYear(), two(at.getMonth() + 1), two(at.getDate())].join('-');
  return `${day} ${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
}

// What a table has under a name, and not what every object has.
function own(table, name) {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

function byId(id) {
  return document.getElementById(id);
}

const STATUS = {
  ok: ['✓', 'good', 'answered with a result'],
  'tool-error': ['✗', 'bad', 'answered with a result that has isError'],
  error: ['✗', 'bad', 'answered with an error'],
  lost: ['✗', 'bad', 'the answering side ended, or went wrong, before it answered'],
  unanswered: ['✗', 'bad', 'the recording ended otherwise before there was an answer'],
  open: ['…', 'open', 'no answer yet: it was still being recorded'],
  listening: ['…', 'open', 'a subscription that stays open'],
  task: ['…', 'open', 'answered with a task'],
  'input-required': ['◆', 'open', 'the server asked for input first'],
  cancelled: ['⚠', 'warn', 'cancelled, and never answered'],
  late: ['⚠', 'warn', 'answered after it was cancelled'],
  'given-up': ['⚠', 'warn', 'not followed any longer, because too many were open'],
};

// The sign and the tone of an exchange: a refused probe for the newer era has not failed.
function statusOf(row) {
  const [sign, tone] = own(STATUS, row.s) || ['?', 'warn'];
  return tone === 'bad' && !row.failed ? ['⚠', 'warn'] : [sign, tone];
}

const SEVERITY = { error: ['✗', 'bad'], warning: ['⚠', 'warn'], note: ['•', 'faint'] };

function severityOf(word) {
  return own(SEVERITY, word) || SEVERITY.note;
}
