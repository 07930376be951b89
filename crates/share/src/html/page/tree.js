// A JSON text as a tree. What is folded is not in the document, and long lists come in pages.

// Values that one unfolding shows.
const TREE_PAGE = 100;

// Values that are unfolded at the start, and by "unfold all"; how deep the latter goes: browsers
// lay out no document of any depth.
const FIRST_NODES = 100;
const ALL_NODES = 2000;
const ALL_LEVELS = 60;

// Characters of a string that stand in its row; the whole of it is one key away.
const SHORT_STRING = 240;

// The tree of a text, or of the item at `part` if the text is an array.
function treeOf(text, part, cutNote) {
  const { root, fault } = parseJson(text);
  const tree = setAttributes(element('div', 'tree'), { role: 'tree' });
  if (root) {
    const picked = (root.kind === 'array' && root.items[part]?.[1]) || root;
    const top = treeItem({ text, tree }, [null, picked], 1, '');
    top.tabIndex = 0;
    tree.append(top);
    unfoldAll(tree, FIRST_NODES);
    unfold(top);
  }
  if (cutNote) tree.append(element('p', 'cut', cutNote));
  else if (fault >= 0) {
    const note = element('p', 'broken', `✗ from character ${count(fault + 1)} on it is no JSON`);
    if (fault < text.length) note.append(element('br'), peer('code', text.slice(fault, fault + 80)));
    tree.append(note);
  }
  tree.addEventListener('click', onTreeClick);
  tree.addEventListener('keydown', onTreeKey);
  return tree;
}

function treeItem(context, [name, value], level, path) {
  const { text } = context;
  const line = element('div', 'leaf', element('span', 'fold', value.items.length ? '▸' : ''));
  line.style.paddingInlineStart = `${Math.min(level - 1, 24) * 16}px`;
  if (name !== null) {
    const kind = typeof name === 'string' ? 'key' : 'nth';
    line.append(peer(kind, bareKey(name)), element('span', 'colon', ': '));
  }
  line.append(value.items.length ? foldedOf(text, value) : plainOf(text, value));
  const item = Object.assign(element('div', 'node', line), { context, value, path, level, tabIndex: -1 });
  setAttributes(item, { role: 'treeitem', 'aria-level': level });
  if (value.items.length) item.setAttribute('aria-expanded', 'false');
  return item;
}

// A name without its quotes where it is a plain one.
function bareKey(name) {
  return String(name).replace(/^"([A-Za-z_$][\w$./-]*)"$/, '$1');
}

function foldedOf(text, value) {
  const many = plural(value.items.length, value.kind === 'object' ? 'member' : 'item');
  const number = element('span', 'many', ` ${many}${value.unfinished ? ', cut' : ''}`);
  return element('span', 'folded', peer('preview', previewOf(text, value, 120)), number);
}

function plainOf(text, value) {
  const source = text.slice(value.start, value.end);
  if (value.kind !== 'string') return peer(value.kind, source);
  const node = element('span', 'value', peer('string', source.slice(0, SHORT_STRING)));
  const isLong = source.length > SHORT_STRING;
  if (isLong || /\\[nrt]/.test(source)) {
    const label = isLong ? `… ${plural(source.length - SHORT_STRING, 'character')} more` : '¶';
    node.append(button('more', label, (event) => toggleWhole(event.target.closest('[role=treeitem]'))));
  }
  return node;
}

// Shows a string with its lines below its row, or takes it away.
function toggleWhole(item) {
  const open = item.querySelector(':scope > .whole');
  if (open) {
    open.remove();
    return;
  }
  const { context: { text }, value: { start, end } } = item;
  const whole = element('pre', 'whole');
  whole.append(wire(decoded(text.slice(start, end)), '\n\t'));
  item.append(whole);
}

function isFolded(item) {
  return item.getAttribute('aria-expanded') === 'false';
}

function setFolded(item, folded) {
  item.setAttribute('aria-expanded', String(!folded));
  item.querySelector('.fold').textContent = folded ? '▸' : '▾';
}

function unfold(item) {
  if (!isFolded(item)) return;
  setFolded(item, false);
  const { context, value, path, level } = item;
  const group = setAttributes(element('div', 'group'), { role: 'group' });
  item.append(group);
  addPage(group, value.items, TREE_PAGE, ([name, below]) => {
    const step = typeof name === 'number' ? `[${name}]` : `${path ? '.' : ''}${bareKey(name)}`;
    return treeItem(context, [name, below], level + 1, path + step);
  });
}

function fold(item) {
  setFolded(item, true);
  item.querySelector(':scope > .group').remove();
}

function toggleNode(item) {
  if (isFolded(item)) unfold(item);
  else if (item.value.items.length) fold(item);
  else if (item.value.kind === 'string') toggleWhole(item);
}

// Unfolds everything, level by level, up to so many values.
function unfoldAll(tree, most) {
  let left = most;
  const waiting = [...tree.querySelectorAll('[aria-expanded]')];
  for (const item of waiting) {
    left -= Math.min(item.value.items.length, TREE_PAGE);
    if (left < 0) return;
    if (item.level <= ALL_LEVELS) unfold(item);
    waiting.push(...item.querySelectorAll(':scope > .group > [aria-expanded=false]'));
  }
}

function onTreeClick(event) {
  const item = event.target.closest('[role=treeitem]');
  if (!item || event.target.closest('.whole, button')) return;
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

function toParent(item) {
  if (item.value.items.length && !isFolded(item)) fold(item);
  else focusNode(item.parentElement.closest('[role=treeitem]'));
}

function toChild(item) {
  if (isFolded(item)) unfold(item);
  else stepNode(item, 1);
}

const TREE_KEYS = {
  ArrowDown: (item) => stepNode(item, 1),
  j: (item) => stepNode(item, 1),
  ArrowUp: (item) => stepNode(item, -1),
  k: (item) => stepNode(item, -1),
  ArrowRight: toChild,
  l: toChild,
  ArrowLeft: toParent,
  h: toParent,
  ' ': toggleNode,
  Enter: toggleNode,
  o: (item) => unfoldAll(item.context.tree, ALL_NODES),
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
  byId('detail').querySelector('footer.path').replaceChildren(peer('', item.path || 'the whole of it'));
}
