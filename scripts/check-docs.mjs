// Checks the documentation: relative links lead to a file and, with an anchor, to a heading of it; every DEVS_* variable, error
// code, event and public name is documented; the words "reserved" and "not emitted" are right; the pages of the guide are short;
// pages that sources name are there.
import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { survey } from './names.mjs';
import { trackedFiles } from './trackedFiles.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (path) => readFileSync(join(root, path), 'utf8');
const LINK = /\]\(([^)\s#]*)(?:#([^)\s]*))?\)/g;
const CODE = /^ {0,3}```[\s\S]*?^ {0,3}```|`[^`\n]*`/gm;
const FENCE = /^ *```[\s\S]*?^ *```/gm;
const NAMED = /(?<![\w./-])docs\/[\w/-]+\.md\b/g;
/** Examples of the files of a user. */
const OF_A_USER = ['docs/PRD.md', 'docs/ui-ux.md', 'docs/architecture.md'];
const PAGE_WORDS = 1500;
const GUIDE_WORDS = 28_000;

const anchors = new Map();

/** The anchors that GitHub gives to the headings of a page. */
function anchorsOf(path) {
  const known = anchors.get(path);
  if (known !== undefined) return known;
  const found = new Map();
  const names = new Set();
  for (const [, heading] of read(path)
    .replaceAll(FENCE, '')
    .matchAll(/^#{1,6} +(.+?)\s*#*$/gm)) {
    const slug = slugOf(heading);
    const times = found.get(slug) ?? 0;
    names.add(times === 0 ? slug : `${slug}-${times}`);
    found.set(slug, times + 1);
  }
  anchors.set(path, names);
  return names;
}

const slugOf = (heading) =>
  heading
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/[*`]/g, '')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-');

function brokenLinks(path) {
  return [...read(path).replaceAll(CODE, '').matchAll(LINK)].flatMap(([, target, anchor]) => {
    if (/^[a-z]+:/.test(target) || (target === '' && anchor === undefined)) return [];
    const file = target === '' ? path : join(dirname(path), target);
    if (!existsSync(join(root, file))) return [`${path}: leads nowhere: ${target}`];
    const isLost = anchor !== undefined && file.endsWith('.md') && !anchorsOf(file).has(anchor);
    return isLost ? [`${path}: no such heading: ${target}#${anchor}`] : [];
  });
}

/** Pages that sources and scripts name, in a message or a comment. */
function lostPages() {
  const sources = trackedFiles(
    root,
    'packages/*/src/**/*.ts',
    'packages/*.agent.md',
    'packages/*/bench/*.ts',
    'scripts/*.mjs',
  );
  return sources
    .filter((path) => !path.includes('__tests__'))
    .flatMap((path) =>
      [...new Set(read(path).match(NAMED))]
        .filter((page) => !OF_A_USER.includes(page) && !existsSync(join(root, page)))
        .map((page) => `${path}: names a page that is not there: ${page}`),
    );
}

/** Words outside code blocks. The cells of tables count, their lines do not. */
const wordsOf = (path) =>
  read(path)
    .replaceAll(FENCE, '')
    .match(/\S*[\p{L}\p{N}]\S*/gu)?.length ?? 0;

/** The guide has limits: for each page, and for all of it. */
function lengthComplaints() {
  const pages = trackedFiles(root, 'docs/guide/*.md').map((path) => ({ path, words: wordsOf(path) }));
  const all = pages.reduce((sum, { words }) => sum + words, 0);
  return [
    ...pages
      .filter(({ words }) => words > PAGE_WORDS)
      .map(({ path, words }) => `${path}: ${words} words, at most ${PAGE_WORDS}`),
    ...(all > GUIDE_WORDS ? [`docs/guide: ${all} words, at most ${GUIDE_WORDS}`] : []),
  ];
}

function undocumentedVariables() {
  const documented = read('docs/configuration.md');
  const used = new Set(source.match(/\bDEVS_[A-Z_]+\b/g));
  return [...used]
    .filter((name) => !documented.includes(`\`${name}\``))
    .map((name) => `docs/configuration.md: no ${name}`);
}

/** Every code has a page, listed in the index; no page is left of a code that is gone. */
function errorComplaints() {
  const [, list] = /ERROR_CODES = \[([^\]]*)\]/.exec(read('packages/core/src/errors/DevsError.ts'));
  const codes = list.match(/\b[A-Z_]+\b/g);
  const index = read('docs/errors/README.md');
  const found = trackedFiles(root, 'docs/errors/*.md').map((path) => basename(path, '.md'));
  return [
    ...found
      .filter((name) => name !== 'README' && !codes.includes(name))
      .map((name) => `docs/errors/${name}.md: no such code`),
    ...codes
      .filter((code) => !index.includes(`(${code}.md)`))
      .map((code) => `docs/errors/README.md: no ${code}`),
    ...codes.filter((code) => !found.includes(code)).map((code) => `docs/errors: no page ${code}.md`),
    ...codes.filter((code) => found.includes(code)).flatMap(wronglyReserved),
  ];
}

function wronglyReserved(code) {
  const path = `docs/errors/${code}.md`;
  const isReserved = read(path).includes('Reserved:');
  const isRaised = source.includes(`code: '${code}'`);
  if (isReserved !== isRaised) return [];
  return [
    `${path}: ${isRaised ? 'says reserved, but it is raised' : 'it is raised nowhere: call it reserved'}`,
  ];
}

/** Every event has a row in docs/reference/events.md. */
function eventComplaints() {
  const names = read('packages/core/src/events/events.ts').match(/^ {2}[A-Z_]+(?=:)/gm);
  const rows = read('docs/reference/events.md').split('\n');
  return names.flatMap((spaced) => {
    const name = spaced.trim();
    const row = rows.find((line) => line.startsWith(`| \`${name}\` |`));
    if (row === undefined) return [`docs/reference/events.md: no row for ${name}`];
    const isEmitted = new RegExp(`\\b(?:emit\\(\\s*|record\\(\\s*|(?:event|name): )'${name}'`).test(source);
    if (row.includes('not emitted yet') !== isEmitted) return [];
    return [
      `docs/reference/events.md: ${name} ${isEmitted ? 'is emitted by now' : 'is emitted nowhere: say so'}`,
    ];
  });
}

/** Pages that users read: the API is on one of them. */
const PAGES_OF_NAMES = ['README.md', 'packages/*/README.md', 'docs/guide/*.md', 'docs/reference/*.md'];

/** Every name that a package exports to users is written as code on a page for them. */
function undocumentedNames() {
  const code = trackedFiles(root, ...PAGES_OF_NAMES).flatMap((path) => read(path).match(CODE) ?? []);
  const words = new Set(code.flatMap((text) => text.match(/[A-Za-z_$][\w$]*/g) ?? []));
  return Object.entries(survey().entries)
    .filter(([entry]) => !entry.endsWith('/internal'))
    .flatMap(([entry, names]) => names.map((name) => ({ entry, name })))
    .filter(({ name }, at, all) => all.findIndex((other) => other.name === name) === at)
    .filter(({ name }) => !words.has(name))
    .map(({ entry, name }) => `${entry}: no page under docs/reference or docs/guide has ${name}`);
}

const source = trackedFiles(root, 'packages/*/src/**/*.ts')
  .filter((path) => !path.includes('__tests__'))
  .map(read)
  .join('\n');
const pages = trackedFiles(root, '*.md');
const complaints = [
  ...pages.flatMap(brokenLinks),
  ...undocumentedVariables(),
  ...errorComplaints(),
  ...eventComplaints(),
  ...undocumentedNames(),
  ...lengthComplaints(),
  ...lostPages(),
];
for (const complaint of complaints) process.stderr.write(`${complaint}\n`);
process.stdout.write(`docs: ${pages.length} pages, ${complaints.length} complaints\n`);
process.exitCode = complaints.length === 0 ? 0 : 1;
