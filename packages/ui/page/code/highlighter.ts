import { createLowlight } from 'lowlight';
import { LANGUAGES } from './languages.ts';
import type { Piece, Tone } from './Piece.ts';

const lowlight = createLowlight();
type Node = ReturnType<typeof lowlight.highlight>['children'][number];

const loading = new Map<string, Promise<void>>();

/** Lines of a text in pieces of one colour each. @param language - One of `LANGUAGES`. */
export async function highlight(language: string, text: string): Promise<readonly (readonly Piece[])[]> {
  await register(language);
  const lines: Piece[][] = [[]];
  addPieces(lowlight.highlight(language, text).children, null, lines);
  return lines;
}

function register(language: string): Promise<void> {
  const known = loading.get(language) ?? load(language);
  loading.set(language, known);
  return known;
}

async function load(language: string): Promise<void> {
  const grammar = await LANGUAGES[language]?.();
  if (grammar !== undefined) lowlight.register(language, grammar.default);
}

function addPieces(nodes: readonly Node[], tone: Tone | null, lines: Piece[][]): void {
  for (const node of nodes) {
    if (node.type === 'element') addPieces(node.children, toneOf(node) ?? tone, lines);
    if (node.type !== 'text') continue;
    for (const [at, text] of node.value.split('\n').entries()) {
      if (at > 0) lines.push([]);
      if (text !== '') lines.at(-1)?.push({ text, tone });
    }
  }
}

/** The eight colours of the page, by the names of `highlight.js`. */
const TONES: Readonly<Record<string, Tone>> = {
  ...{ 'hljs-keyword': 'k', 'hljs-selector-tag': 'k', 'hljs-meta': 'k', 'hljs-tag': 'p', 'hljs-name': 'k' },
  ...{ 'hljs-string': 's', 'hljs-symbol': 's', 'hljs-link': 's', 'hljs-code': 's', 'hljs-char': 's' },
  ...{ 'hljs-number': 'n', 'hljs-literal': 'n', 'hljs-bullet': 'n', 'hljs-variable': 'n' },
  ...{ 'hljs-title': 'f', 'hljs-section': 'f', 'hljs-selector-class': 'f', 'hljs-selector-id': 'f' },
  ...{ 'hljs-type': 't', 'hljs-built_in': 't', 'hljs-attr': 't', 'hljs-attribute': 't', 'hljs-class': 't' },
  ...{ 'hljs-regexp': 'r', 'hljs-comment': 'c', 'hljs-quote': 'c', 'hljs-doctag': 'c' },
  ...{ 'hljs-punctuation': 'p', 'hljs-operator': 'p' },
};

function toneOf({ properties }: Extract<Node, { readonly type: 'element' }>): Tone | null {
  const names = Array.isArray(properties['className']) ? properties['className'] : [];
  if (names.includes('class_')) return 't';
  return names.map((name) => TONES[String(name)]).find((tone) => tone !== undefined) ?? null;
}
