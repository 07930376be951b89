// A small part of the filter language of mcpreel; what it takes means the same here. A filter is a
// list of conditions { deny, fits(row) } that must all hold, with the words that are looked for in
// bodies.

const WORDS = {
  status: Object.keys(STATUS),
  kind: ['request', 'response', 'notification', 'stderr', 'other', 'event'],
  dir: ['c2s', 's2c'],
  severity: ['error', 'warning', 'note'],
};

const TIMES = { h: 3.6e12, m: 6e10, min: 6e10, s: 1e9, ms: 1e6, us: 1e3, 'µs': 1e3, ns: 1 };
const SIZES = { gb: 1e9, mb: 1e6, kb: 1e3, b: 1, kib: 1024, mib: 1024 ** 2, gib: 1024 ** 3 };

// Fields: what kind of value they take, and the values of a row.
const FIELDS = {
  method: ['text', (row) => [row.m]],
  tool: ['text', (row) => (row.m === 'tools/call' ? [row.name] : [])],
  name: ['text', (row) => [row.name]],
  status: ['word', (row) => [row.s]],
  kind: ['word', (row) => [row.k]],
  dir: ['word', (row) => [row.d]],
  latency: ['time', (row) => [row.latency]],
  size: ['size', (row) => [row.k === 'event' ? undefined : (row.size || 0) + (row.ressize || 0)]],
  seq: ['number', (row) => [row.n]],
  id: ['json', (row) => [row.id]],
  code: ['json', (row) => [row.code]],
  finding: ['text', (row) => findingsOf(row).map((finding) => finding.rule)],
  severity: ['word', (row) => findingsOf(row).map((finding) => finding.severity)],
};

const FLAGS = {
  failed: (row) => Boolean(row.failed),
  open: (row) => row.s === 'open',
  late: (row) => row.s === 'late',
  slow: (row) => row.latency > data.session.slow,
  notification: (row) => row.k === 'notification',
  waiting: (row) => row.waited > 0,
  modern: (row) => row.era === 'modern',
  legacy: (row) => row.era === 'legacy',
  marked: (row) => notesOf(row).some((one) => one.mark !== undefined),
  noted: (row) => notesOf(row).some((one) => one.note),
};

class FilterFault extends Error {}

// Reads a filter; throws a FilterFault with a sentence.
function parseFilter(text) {
  const conditions = [];
  let denied = false;
  for (const token of tokensOf(text)) {
    if (token === 'AND') continue;
    if (token === 'NOT') {
      denied = !denied;
      continue;
    }
    if (token === 'OR' || /^-?\(/.test(token) || token.endsWith(')')) {
      throw new FilterFault('this page knows no OR and no parentheses; the program does');
    }
    conditions.push(conditionOf(token, denied));
    denied = false;
  }
  if (denied) throw new FilterFault('NOT stands before nothing');
  return conditions;
}

// Words, with quoted texts whole.
function tokensOf(text) {
  const tokens = text.match(/(?:[^\s"]|"(?:[^"\\]|\\.)*(?:"|$))+/g) || [];
  const open = tokens.find((token) => (token.replace(/\\./g, '').match(/"/g) || []).length % 2);
  if (open) throw new FilterFault(`the text ${open} does not end`);
  return tokens;
}

function conditionOf(token, denied) {
  const minus = token.startsWith('-') && token.length > 1;
  const body = minus ? token.slice(1) : token;
  const deny = denied !== minus;
  const match = /^([a-z_][a-z_.0-9]*|[a-z]+\[.*?)(!=|>=|<=|!~|[:=<>~])(.*)$/i.exec(body);
  if (!match || body.startsWith('"')) return { deny, ...wordCondition(unquoted(body)) };
  const [, name, op, value] = match;
  if (name === 'is') return { deny, fits: flagOf(value) };
  if (name === 'text' && op === ':') return { deny, ...wordCondition(unquoted(value)) };
  const field = own(FIELDS, name);
  if (!field) throw new FilterFault(unknown('field', name, Object.keys(FIELDS)));
  if (op.includes('~')) throw new FilterFault('this page knows no expressions (~); the program does');
  if (value === '') throw new FilterFault(`${name}${op} lacks a value`);
  return { deny: deny !== (op === '!='), fits: testOf(name, field, op === '!=' ? '=' : op, value) };
}

function flagOf(value) {
  const flag = own(FLAGS, value);
  if (!flag) throw new FilterFault(unknown('flag', value, Object.keys(FLAGS)));
  return flag;
}

function testOf(name, [type, values], op, value) {
  const test = valueTest(name, type, op, value);
  return (row) => values(row).some((one) => one !== undefined && one !== null && test(one));
}

function valueTest(name, type, op, value) {
  const wanted = unquoted(value);
  if (type === 'time' || type === 'size' || type === 'number') return quantityTest(name, type, op, value);
  if (op !== ':' && op !== '=') throw new FilterFault(`${name} takes : or =`);
  if (type === 'json') return (one) => one === value;
  if (type === 'word') {
    if (!WORDS[name].includes(wanted)) throw new FilterFault(unknown(name, wanted, WORDS[name]));
    return (one) => one === wanted;
  }
  if (op === '=') return (one) => one === wanted;
  const lower = wanted.toLowerCase();
  return (one) => one.toLowerCase().includes(lower);
}

function quantityTest(name, type, op, value) {
  const range = /^(.+?)\.\.(.+)$/.exec(value);
  if (range && (op === ':' || op === '=')) {
    const [low, high] = [quantity(name, type, range[1]), quantity(name, type, range[2])];
    return (one) => one >= low.value && one < high.value + high.step;
  }
  const { value: wanted, step } = quantity(name, type, value);
  switch (op) {
    case '>': return (one) => one > wanted;
    case '>=': return (one) => one >= wanted;
    case '<': return (one) => one < wanted;
    case '<=': return (one) => one <= wanted;
    case ':': return (one) => one >= wanted && one < wanted + step;
    default: return (one) => one === wanted;
  }
}

// A quantity, and how far apart two of its precision are.
function quantity(name, type, text) {
  const match = /^(\d+(?:\.(\d+))?)\s*([a-zµ]*)$/i.exec(text);
  const units = type === 'time' ? TIMES : type === 'size' ? SIZES : { '': 1 };
  const unit = match && (type === 'time' ? match[3] : match[3].toLowerCase());
  const bare = match && unit === '' && (match[1] === '0' || type !== 'time') ? 1 : undefined;
  const worth = match && (own(units, unit) || bare);
  if (!worth) {
    const example = { time: '500ms or 2s', size: '64KiB or 1MB', number: '1187 or 100..200' }[type];
    throw new FilterFault(`${name} takes a ${type === 'number' ? 'number' : type}, for example ${example}`);
  }
  const step = Math.max(worth / 10 ** (match[2] || '').length, 1);
  return { value: Number(match[1]) * worth, step };
}

function unquoted(text) {
  if (!text.startsWith('"')) return text;
  return text.slice(1, -1).replace(/\\(.)/g, '$1');
}

function unknown(what, name, known) {
  const distances = known.map((one) => [distance(name, one), one]).sort((a, b) => a[0] - b[0]);
  const [far, near] = distances[0];
  const hint = far <= Math.max(2, name.length / 3) ? `did you mean ${near}?` : `there are ${known.join(', ')}`;
  return `this page knows no ${what} ${name}; ${hint}`;
}

// How many letters have to be changed.
function distance(a, b) {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const change = row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(change, row[j] + 1, next[j - 1] + 1));
    }
    row = next;
  }
  return row[b.length];
}

function fitsAll(row, conditions) {
  return conditions.every((condition) => condition.fits(row) !== condition.deny);
}
