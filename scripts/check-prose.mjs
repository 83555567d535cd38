#!/usr/bin/env node
// How plain the English is that a reader meets: guide and reference are held to fixed targets; other pages and comments never get worse.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { commentProse, countProse, debt, markdownProse, rates, sourceComments, sum } from './prose.mjs';
import { publicComments } from './public-docs.mjs';
import { trackedFiles } from './trackedFiles.mjs';
import { asProse, userTexts } from './user-texts.mjs';

const HELP = `Usage: node scripts/check-prose.mjs [--save] [--json] [--worst N] [FILE…]

Checks the prose of this repository; \`pnpm lint\` runs it. With FILE: prints the figures of these files.

Options:
  --save     after an improvement: write the numbers that may not rise again (docs/prose-limits.json)
  --moved    with --save: a part may rise where the sum of all does not (text was moved, not written)
  --json     print the figures as JSON
  --worst N  print the N files with the most hard words per 1,000 words
  --help     print this

Examples:
  node scripts/check-prose.mjs docs/guide/streaming.md
  node scripts/check-prose.mjs --worst 10
  node scripts/check-prose.mjs --save

The hard words: what; told, tell, say; who, whose; none, nobody, nothing, no, never. A sentence of more than 25 words is long.
Write the actor, a verb and the thing: "devs delivers each signal once", not "nothing is told twice".
`;

const root = fileURLToPath(new URL('..', import.meta.url));
const LIMITS = 'docs/prose-limits.json';

/** Per 1,000 words; `median` and `p90` in words of a sentence. */
const TARGETS = {
  guide: { max: { what: 2, told: 1, who: 1.5, none: 6, median: 13, p90: 22 }, min: { you: 8, verbs: 8 } },
  reference: { max: { what: 3, told: 1.5, who: 2, none: 8, median: 14, p90: 24 }, min: { verbs: 4 } },
  comments: { max: { what: 3, told: 1.5, who: 2, none: 8, median: 10, p90: 18 }, min: {} },
  // "No runs" is a plain answer of a command.
  texts: { max: { what: 3, told: 1.5, who: 2, none: 12, median: 14, p90: 24 }, min: {} },
};

/** Packages whose public names are commented for users. */
const PUBLIC = ['core', 'agents', 'cli', 'mcp', 'postgres', 'server', 'ui'];

/** A single page of a shelf may be this much above its target: a short page has few words. */
const PAGE_ROOM = 2;

const SHELVES = [
  { name: 'guide', pattern: /^(README\.md$|docs\/guide\/)/, target: TARGETS.guide },
  { name: 'reference', pattern: /^docs\/(reference|errors)\//, target: TARGETS.reference },
];

const isSource = (path) =>
  /^packages\/[^/]+\/(src|page)\/.*\.(ts|tsx|mjs|js)$/.test(path) && !path.includes('__tests__');

/** Written for people, and by hand: no generated page, prompt, brief or recorded document. */
const isPage = (path) =>
  /^([A-Z]+\.md$|docs\/|packages\/[^/]+\/README\.md$|examples\/.*README\.md$)|\.agent\.md$/.test(path) &&
  !/^CHANGELOG\.md|specification-ledger\.md$|docs\/reference\/help\.md$|\/script\//.test(path) &&
  path.endsWith('.md');

function countFile(path) {
  const text = readFileSync(join(root, path), 'utf8');
  const blocks = path.endsWith('.md')
    ? markdownProse(text)
    : sourceComments(text, path).flatMap(commentProse);
  return { path, ...countProse(blocks) };
}

/** Where a file's debt is kept: a page by itself, comments by package. */
const partOf = (path) =>
  path.endsWith('.md') ? path : `comments of ${path.split('/').slice(0, 2).join('/')}`;

function complaintsOfTarget(label, numbers, { max, min }, room) {
  const high = Object.entries(max).filter(([name, limit]) => numbers[name] > limit * room);
  const low = Object.entries(min).filter(([name, limit]) => numbers[name] < limit / room);
  return [
    ...high.map(([name, limit]) => `${label}: ${name} is ${numbers[name]}, at most ${limit * room}`),
    ...low.map(([name, limit]) => `${label}: ${name} is ${numbers[name]}, at least ${limit / room}`),
  ];
}

function shelfComplaints({ name, pattern, target }, files) {
  const pages = files.filter(({ path }) => pattern.test(path));
  if (pages.length === 0) return [];
  const long = pages.filter(({ words }) => words >= 400);
  return [
    ...complaintsOfTarget(`the ${name}`, rates(sum(pages)), target, 1),
    ...long.flatMap((page) =>
      complaintsOfTarget(page.path, rates(page), { max: target.max, min: {} }, PAGE_ROOM),
    ),
  ];
}

/** The debt of each part that has no target. */
function debts(files) {
  const parts = new Map();
  for (const file of files) {
    if (SHELVES.some(({ pattern }) => pattern.test(file.path))) continue;
    parts.set(partOf(file.path), [...(parts.get(partOf(file.path)) ?? []), file]);
  }
  return Object.fromEntries([...parts].map(([part, counted]) => [part, debt(sum(counted))]).sort());
}

const allOf = (parts) => Object.values(parts).reduce((total, part) => total + totalOf(part), 0);
const totalOf = (part) => Object.values(part).reduce((total, number) => total + number, 0);

function risen(now, kept) {
  return Object.entries(now).flatMap(([part, numbers]) => {
    const limits = kept[part] ?? {};
    const higher = Object.entries(numbers).filter(([name, number]) => number > (limits[name] ?? 0));
    if (higher.length === 0) return [];
    const each = higher.map(([name, number]) => `${name} ${number} (${limits[name] ?? 0} before)`);
    return [`${part}: ${each.join(', ')}`];
  });
}

function save(now, kept, isMoved) {
  const isFirst = Object.keys(kept).length === 0;
  const worse = isMoved || isFirst ? [] : risen(now, kept);
  if (isMoved && allOf(now) > allOf(kept)) worse.push(`all: ${allOf(now)}, ${allOf(kept)} before`);
  if (worse.length === 0) writeFileSync(join(root, LIMITS), `${JSON.stringify(now, null, 2)}\n`);
  return worse;
}

const kept = () =>
  existsSync(join(root, LIMITS)) ? JSON.parse(readFileSync(join(root, LIMITS), 'utf8')) : {};

function line(label, numbers) {
  const { words, what, told, who, none, you, verbs, median, p90 } = numbers;
  const columns = [words, what, told, who, none, you, verbs, median, p90];
  return `${columns.map((column) => String(column).padStart(7)).join('')}  ${label}\n`;
}

const TITLE = `${['words', 'what', 'told', 'who', 'none', 'you', 'verbs', 'median', 'p90'].map((name) => name.padStart(7)).join('')}\n`;

/** What is not in a file of its own: comments of public names, and texts that the program prints. */
function spread() {
  const comments = publicComments({ packages: PUBLIC }).map(({ text }) => text);
  return [
    {
      name: 'comments of public names',
      target: TARGETS.comments,
      counted: countProse(comments.flatMap(commentProse)),
    },
    {
      name: 'texts of the program',
      target: TARGETS.texts,
      counted: countProse(markdownProse(asProse(userTexts()))),
    },
  ];
}

function figures(files, others) {
  const comments = files.filter(({ path }) => !path.endsWith('.md'));
  const rest = files.filter(
    ({ path }) => path.endsWith('.md') && !SHELVES.some(({ pattern }) => pattern.test(path)),
  );
  const shelves = SHELVES.map(({ name, pattern }) => [name, files.filter(({ path }) => pattern.test(path))]);
  const all = [...shelves, ['other pages', rest], ['comments', comments]];
  return Object.fromEntries([
    ...all.filter(([, some]) => some.length > 0).map(([name, some]) => [name, rates(sum(some))]),
    ...others.map(({ name, counted }) => [name, rates(counted)]),
  ]);
}

function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      save: { type: 'boolean' },
      moved: { type: 'boolean' },
      json: { type: 'boolean' },
      worst: { type: 'string' },
      help: { type: 'boolean' },
    },
  });
  if (values.help) return print(HELP);
  if (positionals.length > 0)
    return print(TITLE + positionals.map((path) => line(path, rates(countFile(path)))).join(''));
  const files = trackedFiles(root, '*.md', 'packages')
    .filter((path) => isPage(path) || isSource(path))
    .map(countFile);
  const others = spread();
  const found = figures(files, others);
  if (values.json) print(`${JSON.stringify(found, null, 2)}\n`);
  else
    print(
      TITLE +
        Object.entries(found)
          .map(([name, numbers]) => line(name, numbers))
          .join(''),
    );
  if (values.worst !== undefined) print(worst(files, Number(values.worst)));
  const now = debts(files);
  const complaints = [
    ...SHELVES.flatMap((shelf) => shelfComplaints(shelf, files)),
    ...others.flatMap(({ name, target, counted }) => complaintsOfTarget(name, rates(counted), target, 1)),
    ...(values.save ? save(now, kept(), values.moved) : risen(now, kept())),
  ];
  for (const complaint of complaints) process.stderr.write(`${complaint}\n`);
  process.exitCode = complaints.length === 0 ? 0 : 1;
}

const hard = ({ words, counts }) =>
  (counts.what + counts.told + counts.who + counts.none) / Math.max(words, 1);

function worst(files, count) {
  const long = files.filter(({ words }) => words >= 150);
  const sorted = long.toSorted((one, other) => hard(other) - hard(one));
  return sorted
    .slice(0, count)
    .map((file) => line(file.path, rates(file)))
    .join('');
}

const print = (text) => void process.stdout.write(text);

main();
