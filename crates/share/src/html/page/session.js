// The line on top, the session as a whole, and all findings by rule.

// Findings of a rule that are shown at once.
const GROUP_PAGE = 50;

function showHeader() {
  const { session } = data;
  const id = session.id.slice(0, 4);
  document.title = `${visible(session.title)} · mcpreel ${id}`;
  byId('title').append(element('span', 'id', `■ ${id} `), peer('server', session.title));
  if (session.client) byId('title').append(element('span', 'both', ' ⇄ '), peer('client', session.client));
  byId('facts').append(...headerFacts(session).filter(Boolean));
  const badge = byId('redaction');
  badge.textContent = session.redaction ? 'redacted' : 'NOT redacted';
  badge.classList.add(session.redaction ? 'good' : 'warn');
  badge.title = visible(session.redaction
    || 'Everything stands here as it was said, with whatever secrets are in it');
  byId('notices').append(...session.notices.map((notice) => element('p', 'notice', peer('', notice))));
  const [best, ...others] = session.causes;
  if (!best) return;
  const why = byId('why');
  why.hidden = false;
  why.classList.add(toneOfCause(best));
  why.append(element('span', 'lines', element('span', 'name', 'why'), peer('', best.sentence),
    others.length && element('span', 'aside', ` and ${plural(others.length, 'more thing')}`)));
  why.addEventListener('click', () => setView('session'));
}

function headerFacts({ phase, ended, asked, agreed, eras, t_last: last }) {
  const calls = data.rows.filter((row) => row.s);
  const open = calls.filter((row) => row.s === 'open').length;
  const failed = calls.filter((row) => row.failed).length;
  const severe = (word) => data.findings.filter(({ severity }) => severity === word).length;
  const [errors, warnings] = [severe('error'), severe('warning')];
  const both = asked && agreed && asked !== agreed && `${asked} → ${agreed}`;
  const version = both || agreed || (asked && `${asked} asked`);
  const tone = !ended ? 'warn' : { good: '', bad: 'bad' }[ended.how] ?? 'warn';
  return [
    element('span', tone, ended ? `ended, ${ended.short}` : phase),
    version && peer('', `${eras.join('+')} ${version}`.trim()),
    element('span', '', clock(last)),
    element('span', '', plural(calls.length, 'call')),
    open && element('span', 'open', `${count(open)} open`),
    failed && element('span', 'bad', `${count(failed)} failed`),
    errors && element('span', 'bad', `✗ ${plural(errors, 'error')}`),
    warnings && element('span', 'warn', `⚠ ${plural(warnings, 'warning')}`),
  ];
}

function toneOfCause({ trouble, certainty }) {
  if (!trouble) return 'good';
  return certainty === 'possible' ? 'warn' : 'bad';
}

function showSession() {
  const { session } = data;
  const causes = element('div', 'causes', element('h2', '', 'Why'), ...session.causes.map(causeElement));
  if (session.causes_left_out) {
    const number = plural(session.causes_left_out, 'cause');
    causes.append(element('p', 'nothing', `${number} about what is not in this page`));
  }
  const facts = element('dl', 'about');
  const all = [
    ['recording', `${session.id}, ${session.state}`],
    ['started', `${date(session.wall_ms)}, ${clock(session.t_last)} long`],
    ...session.facts,
  ];
  for (const [name, value] of all) facts.append(element('dt', '', name), element('dd', '', peer('', value)));
  byId('view-session').replaceChildren(causes, element('h2', '', 'Session'), facts);
}

function causeElement(cause) {
  const shown = cause.shown.map(({ n, t, text }) => placeElement(n, t ? since(t) : '–', text));
  return element('article', `cause ${toneOfCause(cause)}`,
    element('h3', '', peer('', cause.sentence)),
    cause.trouble && element('p', 'sure', `${cause.certainty}: ${cause.means}`),
    shown.length && element('ul', 'shown', ...shown),
    cause.advice && element('p', 'advice', peer('', cause.advice)));
}

// A text with a link to its frame, or a word instead of the link.
function placeElement(seq, word, text) {
  return element('li', '', seq ? linkTo(seq) : element('span', 'seq', word), ' ', peer('', text));
}

// All findings by rule, the worst rules first.
function showFindings() {
  const groups = new Map();
  for (const finding of data.findings) addTo(groups, `${finding.severity} ${finding.rule}`, finding);
  const rank = ([first]) => severityOf(first.severity)[2];
  const sorted = [...groups.values()].sort((a, b) => rank(a) - rank(b) || b.length - a.length);
  byId('view-findings').replaceChildren(...sorted.map((findings) => {
    const places = element('ul', 'shown');
    addPage(places, findings, GROUP_PAGE, ({ n, text }) => placeElement(n, '–', text));
    const rule = data.rules.get(findings[0].rule);
    return findingElement(findings[0], element('span', 'count', count(findings.length)),
      rule && element('p', 'text', rule.summary), places);
  }));
  if (!sorted.length) {
    byId('view-findings').append(element('p', 'nothing', 'No rule found anything in what is in this page.'));
  }
}
