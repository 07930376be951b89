// The line on top, the session as a whole, and all findings by rule.

// Findings of a rule that are shown at once.
const GROUP_PAGE = 50;

function showHeader() {
  const { session } = data;
  document.title = `${visible(session.title)} · mcpreel ${session.id.slice(0, 4)}`;
  const title = byId('title');
  title.append(element('span', 'id', `■ ${session.id.slice(0, 4)} `), peer('server', session.title));
  if (session.client) title.append(element('span', 'both', ' ⇄ '), peer('client', session.client));
  byId('facts').append(...headerFacts());
  const badge = byId('redaction');
  badge.textContent = session.redaction ? 'redacted' : 'NOT redacted';
  badge.classList.add(session.redaction ? 'good' : 'warn');
  badge.title = session.redaction
    ? visible(session.redaction)
    : 'Everything stands here as it was said, with whatever secrets are in it';
  const notices = session.notices.map((notice) => element('p', 'notice', peer('', notice)));
  byId('notices').append(...notices);
  showWhy();
}

function headerFacts() {
  const { session } = data;
  const calls = data.rows.filter((row) => row.s);
  const number = (fits) => calls.filter(fits).length;
  const [tone, phase] = phaseOf(session);
  const open = number((row) => row.s === 'open');
  const failed = number((row) => row.failed);
  const severe = (severity) => data.findings.filter((finding) => finding.severity === severity).length;
  const facts = [
    element('span', tone, phase),
    versionOf(session) && peer('', versionOf(session)),
    element('span', '', clock(session.t_last)),
    element('span', '', plural(calls.length, 'call')),
    open && element('span', 'open', `${count(open)} open`),
    failed && element('span', 'bad', `${count(failed)} failed`),
    severe('error') && element('span', 'bad', `✗ ${plural(severe('error'), 'error')}`),
    severe('warning') && element('span', 'warn', `⚠ ${plural(severe('warning'), 'warning')}`),
  ];
  return facts.filter(Boolean);
}

function phaseOf({ phase, ended }) {
  if (!ended) return ['warn', phase];
  if (ended.how === 'good') return ['', `ended, ${ended.short}`];
  return ended.how === 'bad' ? ['bad', `ended, ${ended.short}`] : ['warn', 'ended, how is unknown'];
}

function versionOf({ asked, agreed, eras }) {
  const version = asked && agreed && asked !== agreed ? `${asked} → ${agreed}` : agreed || (asked && `${asked} asked`);
  return version ? `${eras.join('+')} ${version}`.trim() : '';
}

function showWhy() {
  const [best] = data.session.causes;
  if (!best) return;
  const why = byId('why');
  why.hidden = false;
  why.classList.add(toneOfCause(best));
  const lines = element('span', 'lines', element('span', 'name', 'why'), peer('', best.sentence));
  why.append(lines);
  const others = data.session.causes.length - 1;
  if (others > 0) lines.append(element('span', 'aside', ` and ${plural(others, 'more thing')}`));
  why.addEventListener('click', () => setView('session'));
}

function showSession() {
  const box = byId('view-session');
  const { session } = data;
  const causes = element('div', 'causes', element('h2', '', 'Why'));
  causes.append(...session.causes.map(causeElement));
  if (session.causes_left_out) {
    causes.append(element('p', 'nothing', `${plural(session.causes_left_out, 'cause')} about what is not in this page`));
  }
  box.replaceChildren(causes, element('h2', '', 'Session'), sessionFacts(session));
}

function toneOfCause({ trouble, certainty }) {
  if (!trouble) return 'good';
  return certainty === 'possible' ? 'warn' : 'bad';
}

function causeElement(cause) {
  const box = element('article', `cause ${toneOfCause(cause)}`);
  box.append(element('h3', '', peer('', cause.sentence)));
  if (cause.trouble) box.append(element('p', 'sure', `${cause.certainty}: ${cause.means}`));
  const shown = element('ul', 'shown');
  for (const one of cause.shown) {
    const place = one.n ? linkTo(one.n) : element('span', 'seq', one.t ? since(one.t) : '–');
    shown.append(element('li', '', place, ' ', peer('', one.text)));
  }
  if (cause.shown.length) box.append(shown);
  if (cause.advice) box.append(element('p', 'advice', peer('', cause.advice)));
  return box;
}

function sessionFacts(session) {
  const facts = element('dl', 'about');
  const add = (name, value) => facts.append(element('dt', '', name), element('dd', '', peer('', value)));
  add('recording', `${session.id}, ${session.state}`);
  add('started', `${date(session.wall_ms)}, ${clock(session.t_last)} long`);
  for (const [name, value] of session.facts) add(name, value);
  return facts;
}

// All findings, the worst rules first.
function showFindings() {
  const groups = new Map();
  for (const finding of data.findings) addTo(groups, `${finding.severity} ${finding.rule}`, finding);
  const rank = { error: 0, warning: 1, note: 2 };
  const sorted = [...groups.values()].sort((a, b) => (
    (own(rank, a[0].severity) ?? 3) - (own(rank, b[0].severity) ?? 3) || b.length - a.length));
  const box = byId('view-findings');
  box.replaceChildren(...sorted.map(groupElement));
  if (!sorted.length) box.append(element('p', 'nothing', 'No rule found anything in what is in this page.'));
}

function groupElement(findings) {
  const [first] = findings;
  const rule = data.rules.get(first.rule);
  const [sign, tone] = severityOf(first.severity);
  const head = element('h3', '', element('span', `sign ${tone}`, `${sign} ${first.severity}`), peer('rule', first.rule));
  head.append(element('span', 'count', count(findings.length)));
  const box = element('article', 'finding', head);
  if (rule) box.append(element('p', 'text', rule.summary));
  const places = element('ul', 'shown');
  addPlaces(places, findings, 0);
  box.append(places);
  if (rule) box.append(aboutRule(rule));
  return box;
}

function addPlaces(places, findings, from) {
  for (const one of findings.slice(from, from + GROUP_PAGE)) {
    places.append(element('li', '', one.n ? linkTo(one.n) : element('span', 'seq', '–'), ' ', peer('', one.text)));
  }
  const rest = findings.length - from - GROUP_PAGE;
  if (rest <= 0) return;
  const more = button('more page', `${count(rest)} more`, () => {
    more.remove();
    addPlaces(places, findings, from + GROUP_PAGE);
  });
  places.append(more);
}
