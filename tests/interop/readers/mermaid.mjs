// What Mermaid's own parser sees in a diagram.
import { readFileSync } from 'node:fs';
import { JSDOM } from 'jsdom';

const dom = new JSDOM('');
globalThis.window = dom.window;
globalThis.document = dom.window.document;
const { default: mermaid } = await import('mermaid');

const text = readFileSync(process.argv[2], 'utf8');
const { diagramType } = await mermaid.parse(text);
const { db } = await mermaid.mermaidAPI.getDiagramFromText(text);
console.log(JSON.stringify({
  type: diagramType,
  actors: [...db.getActors().keys()],
  messages: db.getMessages().length,
}));
