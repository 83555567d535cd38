// Documentation that can be checked: relative links lead somewhere; every DEVS_* variable, error code, event and public name
// is documented; and what is called reserved or not emitted is exactly what no source raises or emits.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { survey } from './names.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (path) => readFileSync(join(root, path), 'utf8');
const LINK = /\]\(([^)\s#]+)(?:#[^)]*)?\)/g;
const CODE = /^ {0,3}```[\s\S]*?^ {0,3}```|`[^`\n]*`/gm;

/** Tracked and new files, without what git ignores. */
function filesNamed(...patterns) {
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--', ...patterns];
  const listed = execFileSync('git', args, { cwd: root, encoding: 'utf8' });
  return listed.split('\0').filter((path) => path !== '' && existsSync(join(root, path)));
}

function brokenLinks(path) {
  return [...read(path).replaceAll(CODE, '').matchAll(LINK)]
    .map(([, target]) => target)
    .filter((target) => !/^[a-z]+:/.test(target))
    .filter((target) => !existsSync(join(root, dirname(path), target)))
    .map((target) => `${path}: leads nowhere: ${target}`);
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
  const found = filesNamed('docs/errors/*.md').map((path) => basename(path, '.md'));
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

/** Every event has a row in docs/events.md. */
function eventComplaints() {
  const names = read('packages/core/src/events/events.ts').match(/^ {2}[A-Z_]+(?=:)/gm);
  const rows = read('docs/events.md').split('\n');
  return names.flatMap((spaced) => {
    const name = spaced.trim();
    const row = rows.find((line) => line.startsWith(`| \`${name}\` |`));
    if (row === undefined) return [`docs/events.md: no row for ${name}`];
    const isEmitted = new RegExp(`\\b(?:emit\\(\\s*|record\\(\\s*|(?:event|name): )'${name}'`).test(source);
    if (row.includes('not emitted yet') !== isEmitted) return [];
    return [`docs/events.md: ${name} ${isEmitted ? 'is emitted by now' : 'is emitted nowhere: say so'}`];
  });
}

/** Pages that users read: the API is on one of them. */
const PAGES_OF_NAMES = ['README.md', 'packages/*/README.md', 'docs/guide/*.md', 'docs/reference/*.md'];

/** Every name that a package exports to users is written as code on a page for them. */
function undocumentedNames() {
  const code = filesNamed(...PAGES_OF_NAMES).flatMap((path) => read(path).match(CODE) ?? []);
  const words = new Set(code.flatMap((text) => text.match(/[A-Za-z_$][\w$]*/g) ?? []));
  return Object.entries(survey().entries)
    .filter(([entry]) => !entry.endsWith('/internal'))
    .flatMap(([entry, names]) => names.map((name) => ({ entry, name })))
    .filter(({ name }, at, all) => all.findIndex((other) => other.name === name) === at)
    .filter(({ name }) => !words.has(name))
    .map(({ entry, name }) => `${entry}: no page under docs/reference or docs/guide has ${name}`);
}

const source = filesNamed('packages/*/src/**/*.ts')
  .filter((path) => !path.includes('__tests__'))
  .map(read)
  .join('\n');
const pages = filesNamed('*.md');
const complaints = [
  ...pages.flatMap(brokenLinks),
  ...undocumentedVariables(),
  ...errorComplaints(),
  ...eventComplaints(),
  ...undocumentedNames(),
];
for (const complaint of complaints) process.stderr.write(`${complaint}\n`);
process.stdout.write(`docs: ${pages.length} pages, ${complaints.length} complaints\n`);
process.exitCode = complaints.length === 0 ? 0 : 1;
