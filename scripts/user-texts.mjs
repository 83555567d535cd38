#!/usr/bin/env node
// Lists every text of the sources that a user can read: messages of errors, remedies, help, sentences and labels.
//
//   node scripts/user-texts.mjs [--json | --prose] [--kind KIND] [--help] [PATH...]
//
//   PATH     a folder or a file below packages/; without one, the sources of all packages and the page of `devs ui`
//   --json   one array of { file, line, kind, text }
//   --prose  one paragraph for each text, as Markdown: save it to a file and measure it with prose-check.mjs
//   --kind   only texts of this kind: error, remedy, help, page or text
//
// A value in a text is written as `X`. Prompts, what only agents read, SQL and test code are left out.
import { readFileSync, realpathSync } from 'node:fs';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseAst } from 'vitest/node';
import { trackedFiles } from './trackedFiles.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const SOURCES = ['packages/*/src/**', 'packages/ui/page/**'];
const LEFT_OUT =
  /\/__tests__\/|\.test\.|\.d\.ts$|\/migrations\/|\/core\/src\/testing\/|\/conformance\/src\/|\/masking\/|[pP]rompts|\/models\/stage|\/recipes\.ts$/;
/** What only agents read: tools, schemas of answers, verdicts of checks. Recordings keep these texts. */
const FOR_AGENTS =
  /\/models\/(FileDesk|FileSearch|checkTools|fileTools|claims|matchLines|liveAgents|renderRequest|modelTool)\.ts$|\/agents\/src\/answers\.ts$|\/orchestration\/(checks|nodes)\//;
const SQL =
  /^\s*(SELECT|INSERT|UPDATE|DELETE|CREATE|WITH|PRAGMA|BEGIN|ALTER|DROP|SAVEPOINT|RELEASE|ROLLBACK|AND|OR|WHERE|FROM|ORDER|LEFT|JOIN|VACUUM|ATTACH|EXISTS|NOT EXISTS|SET|LISTEN|LOCK|GRANT|CASE|IN)\b/;
const HELP = new Set([
  'description',
  'option',
  'addHelpText',
  'argument',
  'summary',
  'examples',
  'requiredOption',
]);

/** Every text of one source, in its order. */
export function textsIn(source, file) {
  const texts = [];
  const lineAt = (at) => source.slice(0, at).split('\n').length;
  const visit = (node, kind) => {
    if (node === null || typeof node !== 'object') return;
    if (Array.isArray(node)) {
      for (const child of node) visit(child, kind);
      return;
    }
    if (typeof node.type !== 'string' || /^(Import|TS|Export(All|Named)Decl)/.test(node.type) === true) {
      if (!/^TS(As|Satisfies|NonNull)|^ExportNamed/.test(node.type ?? '')) return;
      visit(node.declaration ?? node.expression, kind);
      return;
    }
    const text = textOf(node);
    if (text !== null) {
      if (isProse(text, kind))
        texts.push({
          file,
          line: lineAt(node.start),
          kind,
          text: oneLine(text),
        });
      if (node.type === 'TemplateLiteral') for (const part of node.expressions) visit(part, kind);
      return;
    }
    const inner = kindInside(node, kind);
    for (const key of Object.keys(node)) if (key !== 'type') visit(node[key], inner);
  };
  visit(parseAst(source, { lang: extname(file).slice(1) }).body, file.includes('/page/') ? 'page' : 'text');
  return texts;
}

function kindInside(node, kind) {
  if (node.type === 'NewExpression' && /Error$/.test(node.callee.name ?? '')) return 'error';
  if (node.type === 'Property' && node.key.name === 'remedy') return 'remedy';
  if (node.type === 'Property' && node.key.name === 'description' && kind === 'text') return 'help';
  const called = node.type === 'CallExpression' ? (node.callee.property?.name ?? node.callee.name ?? '') : '';
  if (HELP.has(called)) return 'help';
  return /Error$|^refus/i.test(called) ? 'error' : kind;
}

/** Texts joined by `+` are one text. */
function textOf(node) {
  if (node.type === 'Literal') return typeof node.value === 'string' ? node.value : null;
  if (node.type === 'JSXText') return node.value;
  if (node.type === 'TemplateLiteral')
    return node.quasis.map((quasi) => quasi.value.cooked ?? quasi.value.raw).join('X');
  if (node.type !== 'BinaryExpression' || node.operator !== '+') return null;
  const [left, right] = [textOf(node.left), textOf(node.right)];
  return left === null || right === null ? null : left + right;
}

const oneLine = (text) => text.trim().replace(/\s+/g, ' ');

function isProse(text, kind) {
  if (SQL.test(text) || !/[a-z]{2}/i.test(text.replaceAll('X', ''))) return false;
  const isSentence =
    /[a-z]{2}\S* +\S*[a-z]/i.test(text) && !/^[\w-]+(\.\w+)* (=|<|>|IS|IN|AND|DESC|ASC)/.test(text);
  return isSentence || (kind === 'page' && /^\s*[A-Z][a-z]+\W*\s*$/.test(text));
}

/** The sources below the paths, or all. */
function sources(paths) {
  const listed = trackedFiles(
    root,
    ...(paths.length === 0 ? SOURCES.map((path) => `:(glob)${path}`) : paths),
  );
  return listed.filter(
    (path) => /\.tsx?$/.test(path) && !LEFT_OUT.test(`/${path}`) && !FOR_AGENTS.test(`/${path}`),
  );
}

/** Every text below the paths; without one, in all packages. */
export function userTexts(paths = []) {
  return sources(paths).flatMap((file) => textsIn(readFileSync(`${root}/${file}`, 'utf8'), file));
}

/** The texts as paragraphs of Markdown, for a measure of prose. */
export function asProse(texts) {
  return `${texts.map(({ text }) => text.replace(/^[#|>*+-]+ */, '').replaceAll('`', '')).join('\n\n')}\n`;
}

function main(argv) {
  if (argv.includes('--help')) {
    const source = readFileSync(new URL(import.meta.url), 'utf8');
    console.log(
      source
        .split('\n')
        .slice(1, 11)
        .map((line) => line.replace(/^\/\/ ?/, ''))
        .join('\n'),
    );
    return;
  }
  const at = argv.indexOf('--kind');
  const kind = at === -1 ? null : argv[at + 1];
  const paths = argv.filter((word, index) => !word.startsWith('--') && (at === -1 || index !== at + 1));
  const texts = userTexts(paths).filter((text) => kind === null || text.kind === kind);
  if (argv.includes('--json')) console.log(JSON.stringify(texts, null, 2));
  else if (argv.includes('--prose')) process.stdout.write(asProse(texts));
  else for (const { file, line, kind: of, text } of texts) console.log(`${file}:${line}: ${of}: ${text}`);
}

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url))
  main(process.argv.slice(2));
