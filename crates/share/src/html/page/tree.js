// A JSON text as a tree. What is folded is not in the document, and long lists come in pages.

// Values that one unfolding shows.
const TREE_PAGE = 100;

// Values that are unfolded at the start, and by "unfold all".
const FIRST_NODES = 100;
const ALL_NODES = 2000;

// How deep the latter goes: browsers lay out no document of any depth.
const ALL_LEVELS = 60;

// Characters of a string that stand in its row; the whole of it is one key away.
const SHORT_STRING = 240;

function treeOf(text, cutNote, pick) {
  const { root, fault } = parseJson(text);
  const tree = element('div', 'tree');
  tree.setAttribute('role', 'tree');
  const picked = pick && root ? pick(root) : root;
  if (picked) {
    const left = { nodes: FIRST_NODES };
    tree.append(treeItem({ text, tree }, picked, null, 1, '', left));
  }
  if (fault) tree.append(faultNote(text, fault, cutNote));
  const first = tree.querySelector('[role=treeitem]');
  if (first) first.tabIndex = 0;
  tree.addEventListener('click', onTreeClick);
  tree.addEventListener('keydown', onTreeKey);
  return tree;
}

function faultNote(text, fault, cutNote) {
  if (cutNote) return element('p', 'cut', cutNote);
  const place = `from character ${count(fault.at + 1)} on it is no JSON: ${fault.why}`;
  const note = element('p', 'broken', `✗ ${place}`);
  if (fault.at < text.length) note.append(element('br'), peer('code', text.slice(fault.at, fault.at + 80)));
  return note;
}

function treeItem(context, node, name, level, path, left) {
  const item = element('div', 'node');
  item.setAttribute('role', 'treeitem');
  item.setAttribute('aria-level', String(level));
  item.tabIndex = -1;
  Object.assign(item, { context, value: node, path, level });
  item.append(lineOf(context.text, node, name, level));
  const length = lengthOf(node);
  if (length) {
    item.setAttribute('aria-expanded', 'false');
    left.nodes -= Math.min(length, TREE_PAGE);
    if (left.nodes > 0 || level === 1) unfold(item, left);
  }
  return item;
}

function lineOf(text, node, name, level) {
  const line = element('div', 'leaf');
  line.style.paddingInlineStart = `${Math.min(level - 1, 24) * 16}px`;
  line.append(element('span', 'fold', lengthOf(node) ? '▸' : ''));
  if (name !== null) {
    const isKey = typeof name === 'string';
    line.append(peer(isKey ? 'key' : 'nth', isKey ? bareKey(name) : String(name)), element('span', 'colon', ': '));
  }
  line.append(valueOf(text, node));
  return line;
}

// A name without its quotes where it is a plain one.
function bareKey(source) {
  return /^"[A-Za-z_$][\w$./-]*"$/.test(source) ? source.slice(1, -1) : source;
}

function valueOf(text, node) {
  const length = lengthOf(node);
  if (length) {
    const unfinished = node.unfinished ? ', cut' : '';
    const noun = node.kind === 'object' ? 'member' : 'item';
    const value = element('span', 'folded');
    value.append(peer('preview', previewOf(text, node, 120)), element('span', 'many', ` ${plural(length, noun)}${unfinished}`));
    return value;
  }
  const source = text.slice(node.start, node.end);
  if (node.kind !== 'string') return peer(node.kind, source);
  const value = element('span', 'value', peer('string', source.slice(0, SHORT_STRING)));
  if (source.length > SHORT_STRING || /\\[nrt]/.test(source)) {
    value.append(button('more', source.length > SHORT_STRING ? `… ${plural(source.length - SHORT_STRING, 'character')} more` : '¶', (event) => {
      event.stopPropagation();
      toggleWhole(event.target.closest('[role=treeitem]'));
    }));
  }
  return value;
}

// A string with its lines, below its row.
function toggleWhole(item) {
  const open = item.querySelector(':scope > .whole');
  if (open) {
    open.remove();
    return;
  }
  const { text } = item.context;
  const whole = element('pre', 'whole');
  whole.append(wire(decoded(text.slice(item.value.start, item.value.end)), '\n\t'));
  item.append(whole);
}

function unfold(item, left) {
  if (item.getAttribute('aria-expanded') !== 'false') return;
  item.setAttribute('aria-expanded', 'true');
  item.querySelector('.fold').textContent = '▾';
  const group = element('div', 'group');
  group.setAttribute('role', 'group');
  item.append(group);
  addPage(item, group, 0, left);
}

function addPage(item, group, from, left) {
  const { context, value, path, level } = item;
  for (const [name, node] of childrenOf(context.text, value, from, from + TREE_PAGE)) {
    const below = typeof name === 'number' ? `${path}[${name}]` : `${path}${path ? '.' : ''}${bareKey(name)}`;
    group.append(treeItem(context, node, name, level + 1, below, left));
  }
  const rest = lengthOf(value) - from - TREE_PAGE;
  if (rest <= 0) return;
  const more = button('more page', `${count(rest)} more`, () => {
    more.remove();
    addPage(item, group, from + TREE_PAGE, { nodes: 0 });
  });
  group.append(more);
}

function fold(item) {
  if (item.getAttribute('aria-expanded') !== 'true') return;
  item.setAttribute('aria-expanded', 'false');
  item.querySelector('.fold').textContent = '▸';
  item.querySelector(':scope > .group').remove();
}

function toggleNode(item) {
  const isExpanded = item.getAttribute('aria-expanded');
  if (isExpanded === 'true') fold(item);
  else if (isExpanded === 'false') unfold(item, { nodes: 0 });
  else if (item.value.kind === 'string') toggleWhole(item);
}

// Unfolds everything below, so far as a page can show it.
function unfoldAll(tree) {
  let left = ALL_NODES;
  const waiting = [...tree.querySelectorAll('[aria-expanded]')];
  while (waiting.length && left > 0) {
    const item = waiting.shift();
    if (item.level > ALL_LEVELS) continue;
    unfold(item, { nodes: 0 });
    const below = item.querySelectorAll(':scope > .group > [aria-expanded=false]');
    left -= lengthOf(item.value);
    waiting.push(...below);
  }
}

function onTreeClick(event) {
  const item = event.target.closest('[role=treeitem]');
  if (!item || event.target.closest('.whole') || event.target.closest('button')) return;
  focusNode(item);
  if (String(document.getSelection()) === '') toggleNode(item);
}

function onTreeKey(event) {
  const item = event.target.closest('[role=treeitem]');
  if (!item || event.ctrlKey || event.metaKey || event.altKey || event.target.closest('button')) return;
  const action = TREE_KEYS[event.key];
  if (!action) return;
  event.preventDefault();
  event.stopPropagation();
  action(item);
}

const TREE_KEYS = {
  ArrowDown: (item) => stepNode(item, 1),
  j: (item) => stepNode(item, 1),
  ArrowUp: (item) => stepNode(item, -1),
  k: (item) => stepNode(item, -1),
  ArrowRight: (item) => (item.getAttribute('aria-expanded') === 'false' ? unfold(item, { nodes: 0 }) : stepNode(item, 1)),
  l: (item) => TREE_KEYS.ArrowRight(item),
  ArrowLeft: (item) => (item.getAttribute('aria-expanded') === 'true' ? fold(item) : focusNode(item.parentElement.closest('[role=treeitem]'))),
  h: (item) => TREE_KEYS.ArrowLeft(item),
  ' ': (item) => toggleNode(item),
  Enter: (item) => toggleNode(item),
  o: (item) => unfoldAll(item.context.tree),
};

function stepNode(item, by) {
  const items = [...byId('detail').querySelectorAll('[role=treeitem]')];
  focusNode(items[items.indexOf(item) + by]);
}

function focusNode(item) {
  if (!item) return;
  for (const one of item.context.tree.querySelectorAll('[tabindex="0"]')) one.tabIndex = -1;
  item.tabIndex = 0;
  item.focus();
  showPath(item.path);
}
