// The names of the packages: what each entry exports, what the packages take of each other's, and which names several
// files declare. Reads the sources as text; exits with 1 where something outside the packages takes an internal name.
//   node scripts/names.mjs               a report
//   node scripts/names.mjs --json        the same as JSON, with every name
//   node scripts/names.mjs --worst N     the N names that most files declare, with the files
//   node scripts/names.mjs --entry E     the names of one entry, such as @devs/core/langgraph
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, posix, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { withoutComments } from './imports.mjs';
import { publishedNames } from './published.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

/** The entry that promises nothing: the sibling packages alone may import it. */
export const INTERNAL = '@devs/core/internal';

/** Imports that nobody makes: what the layer check has to find. */
const PLANTED = 'scripts/layer-violations.mjs';

const IDENTIFIER = '[A-Za-z_$][\\w$]*';
const DECLARED = new RegExp(
  `^(export )?(?:default )?(?:declare )?(?:abstract )?(?:async )?(?:(?:const|let|class|interface|type|enum) |function ?\\*? ?)(${IDENTIFIER})`,
  'gm',
);
const LISTED = /^export\s+(?:type\s+)?\{([^}]*)\}(?:\s*from\s*['"]([^'"\n]+)['"])?/gm;
const ALL_OF = new RegExp(
  `^export\\s+(?:type\\s+)?\\*(?:\\s+as\\s+(${IDENTIFIER}))?\\s*from\\s*['"]([^'"\\n]+)['"]`,
  'gm',
);
const IMPORTED = /(?:^|\s)import\s+(?:type\s+)?([\w$*\s{},]+?)\s*from\s*['"](@devs\/[^'"\n]+)['"]/g;
const CALLED = /\bimport\s*\(\s*['"](@devs\/[^'"\n]+)['"]\s*\)(?:\s*\.\s*([A-Za-z_$][\w$]*))?/g;

/** The items of `{ a, type B, c as d }` as `{ from, to }`. */
function itemsOf(list) {
  return list
    .split(',')
    .map((item) => item.trim().replace(/^type\s+/, ''))
    .filter((item) => item !== '')
    .map((item) => item.split(/\s+as\s+/))
    .map(([from, to = from]) => ({ from, to }));
}

/** Names that a module declares at its top level, exported or not. */
export function declaredIn(text) {
  return [...new Set([...withoutComments(text).matchAll(DECLARED)].map(([, , name]) => name))];
}

/** Names that a module exports; `read` gives the text of another one, or `null`. */
export function exportedBy(path, read, seen = new Set()) {
  const text = seen.has(path) ? null : read(path);
  seen.add(path);
  if (text === null) return [];
  const code = withoutComments(text);
  const own = [...code.matchAll(DECLARED)].filter(([, exported]) => exported).map(([, , name]) => name);
  const listed = [...code.matchAll(LISTED)].flatMap(([, list]) => itemsOf(list).map(({ to }) => to));
  const all = [...code.matchAll(ALL_OF)].flatMap(([, as, target]) =>
    as === undefined ? exportedBy(posix.join(posix.dirname(path), target), read, seen) : [as],
  );
  return [...new Set([...own, ...listed, ...all])].sort();
}

/** What a module imports of `@devs/…`, as `{ entry, name }`; `*` where it takes all of it, or nobody can say. */
export function takenBy(text) {
  const code = withoutComments(text);
  const named = [...code.matchAll(IMPORTED)].flatMap(([, clause, entry]) => {
    const list = /\{([^}]*)\}/.exec(clause)?.[1];
    return list === undefined
      ? [{ entry, name: '*' }]
      : itemsOf(list).map(({ from }) => ({ entry, name: from }));
  });
  const called = [...code.matchAll(CALLED)].map(([, entry, name = '*']) => ({ entry, name }));
  const listed = [...code.matchAll(LISTED)]
    .filter(([, , target]) => target?.startsWith('@devs/'))
    .flatMap(([, list, entry]) => itemsOf(list).map(({ from }) => ({ entry, name: from })));
  return [...named, ...called, ...listed];
}

/** Names with the files that declare them, where there are several; those that most files declare first. */
export function declaredTwice(sources) {
  const files = new Map();
  for (const { path, text } of sources) {
    for (const name of declaredIn(text)) files.set(name, [...(files.get(name) ?? []), path]);
  }
  const several = [...files].filter(([, paths]) => paths.length > 1);
  several.sort(([a, x], [b, y]) => y.length - x.length || (a < b ? -1 : 1));
  return { names: files.size, several: several.map(([name, paths]) => ({ name, files: paths })) };
}

const isTest = (path) => /__tests__\/|\.test\.[a-z]+$|\/test\//.test(path);
const isSource = (path) => /^packages\/[^/]+\/(?:src|page)\//.test(path) && !isTest(path);

/** Every source below `folder`, as `{ path, text }` with paths from the root. */
function filesBelow(folder) {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return /^(?:node_modules|dist|out)$/.test(entry.name) ? [] : filesBelow(path);
    if (!/\.(?:[cm]?[jt]s|tsx)$/.test(path)) return [];
    return [{ path, text: readFileSync(join(root, path), 'utf8') }];
  });
}

/** The entries of a package with the source of each, as `{ entry, path }`. */
function entriesOf(name) {
  const { exports } = JSON.parse(readFileSync(join(root, 'packages', name, 'package.json'), 'utf8'));
  return Object.entries(exports)
    .filter(([, target]) => typeof target === 'object')
    .map(([subpath, target]) => ({
      entry: posix.join('@devs', name, subpath),
      path: posix.join('packages', name, target['@devs/source']),
    }));
}

const inOrder = (names) => [...new Set(names)].sort();

/** Per entry of core, which names each sibling package's sources take. */
function takenFromCore(files) {
  const taken = {};
  for (const { path, text } of files) {
    const sibling = path.split('/')[1];
    if (!isSource(path) || sibling === 'core') continue;
    for (const { entry, name } of takenBy(text)) {
      if (entry !== '@devs/core' && !entry.startsWith('@devs/core/')) continue;
      taken[entry] ??= {};
      taken[entry][sibling] = inOrder([...(taken[entry][sibling] ?? []), name]);
    }
  }
  return taken;
}

/** Who takes an internal name and may not: anything outside core but the sources of its siblings. */
function outsiders(files) {
  return files
    .filter(({ path }) => !path.startsWith('packages/core/') && !isSource(path) && path !== PLANTED)
    .flatMap(({ path, text }) => {
      const names = takenBy(text).filter(({ entry }) => entry === INTERNAL);
      return names.length === 0 ? [] : [{ path, names: names.map(({ name }) => name) }];
    });
}

/** Everything that the report says, with every name. */
export function survey() {
  const files = ['packages', 'examples', 'scripts', 'tools'].flatMap(filesBelow);
  const texts = new Map(files.map(({ path, text }) => [path, text]));
  const read = (path) => texts.get(path) ?? null;
  const packages = publishedNames().sort();
  const entries = Object.fromEntries(
    packages.flatMap(entriesOf).map(({ entry, path }) => [entry, exportedBy(path, read)]),
  );
  const ofCore = Object.entries(entries).filter(
    ([entry]) => /^@devs\/core(?:\/|$)/.test(entry) && entry !== INTERNAL,
  );
  const taken = takenFromCore(files);
  return {
    entries,
    publicOfCore: inOrder(ofCore.flatMap(([, names]) => names)),
    taken,
    internal: inOrder(Object.values(taken[INTERNAL] ?? {}).flat()),
    outsiders: outsiders(files),
    declared: declaredTwice(files.filter(({ path }) => isSource(path))),
  };
}

const inColumns = (names) =>
  `      ${names.join(' ')}`.replace(/(.{1,110})(?:\s|$)/g, '$1\n      ').trimEnd();

function report({ entries, publicOfCore, taken, internal, outsiders: wrong, declared }) {
  const lines = ['public names'];
  for (const [entry, names] of Object.entries(entries)) {
    lines.push(`  ${String(names.length).padStart(4)}  ${entry}${entry === INTERNAL ? ' (no promise)' : ''}`);
  }
  lines.push(`  ${String(publicOfCore.length).padStart(4)}  of @devs/core in all, each counted once`);
  lines.push('', `names that sibling packages take of ${INTERNAL}: ${internal.length}`);
  for (const [sibling, names] of Object.entries(taken[INTERNAL] ?? {})) {
    lines.push(`  ${String(names.length).padStart(4)}  ${sibling}`, inColumns(names));
  }
  lines.push('', `takes an internal name from outside, and may not: ${wrong.length}`);
  lines.push(...wrong.map(({ path, names }) => `      ${path}: ${names.join(' ')}`));
  const { several, names } = declared;
  lines.push('', `names that several files declare: ${several.length} of ${names}`);
  const declarations = several.reduce((sum, { files }) => sum + files.length, 0);
  lines.push(`      ${declarations} declarations; --worst N lists them`);
  return lines;
}

const OPTIONS = {
  json: { type: 'boolean' },
  help: { type: 'boolean' },
  worst: { type: 'string' },
  entry: { type: 'string' },
};

function linesOf(options) {
  const found = survey();
  if (options.json) return [JSON.stringify(found, null, 2)];
  if (options.entry !== undefined) return found.entries[options.entry] ?? [`no entry ${options.entry}`];
  if (options.worst === undefined) return report(found);
  const worst = found.declared.several.slice(0, Number(options.worst));
  return worst.flatMap(({ name, files }) => [
    `${files.length} ${name}`,
    ...files.map((file) => `      ${file}`),
  ]);
}

function main(args) {
  const { values } = parseArgs({ args, options: OPTIONS });
  if (values.help) {
    const [, ...usage] = readFileSync(fileURLToPath(import.meta.url), 'utf8').split(/^\/\/ {3}/m);
    process.stdout.write(usage.map((line) => `${line.split('\n')[0]}\n`).join(''));
    return;
  }
  process.stdout.write(`${linesOf(values).join('\n')}\n`);
  if (survey().outsiders.length > 0) process.exitCode = 1;
}

if (resolve(process.argv[1] ?? '') === fileURLToPath(import.meta.url)) main(process.argv.slice(2));
