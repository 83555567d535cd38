// Checks what neither linter can say: which folder may import which, that the rooms of a folder point one way, that no files
// import each other in a circle, and where SQL may stand.
//   node scripts/check-layers.mjs              the repository
//   node scripts/check-layers.mjs --self-test  plants every violation in memory and expects to find it
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { circlesOfFiles } from './circles.mjs';
import { importsOf, withoutComments } from './imports.mjs';
import { PLANTED, PLANTED_CIRCLES, PLANTED_HOUSES } from './layer-violations.mjs';
import { house, sourcesIn } from './rooms.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

/** A folder of packages/core/src may import its own rank and below. */
const RANK = {
  errors: 0,
  config: 0,
  events: 0,
  values: 0,
  masking: 0,
  db: 1,
  state: 2,
  engine: 3,
  orchestration: 4,
  brief: 5,
  surface: 6,
};
/** The highest rank each entry point may reach; the remaining files directly in src/ may reach all. */
const ENTRY_RANK = { 'state.ts': RANK.state, 'langgraph.ts': RANK.engine };
const ENTRY_MAY_USE_LANGCHAIN = new Set(['index.ts', 'langgraph.ts']);
const ALLOWED_PACKAGES = {
  core: [],
  agents: ['core'],
  mcp: ['core', 'agents', 'postgres'],
  server: ['core'],
  ui: ['core'],
  postgres: ['core'],
  cli: ['core', 'agents', 'mcp', 'server', 'ui', 'postgres'],
};

/** Entries that promise nothing: sources of the sibling packages alone may import them. */
const INTERNAL = /^@devs\/[^/]+\/internal$/;

/** What tests of any package may import by path: shared support, and the examples they prove. */
const SHARED_WITH_TESTS = [
  'packages/agents/test/clis/',
  'packages/core/test/support/',
  'packages/postgres/test/support/',
  'packages/ui/test/support/',
  'packages/core/bench/',
  'examples/',
];

/** The package of cases that every storage of runs keeps to: it is private, part of tests, and looks inside core. */
const CASES = 'conformance';

/** The package whose published files hold what they are made of: its dependencies are what is left outside. */
const BUNDLED = 'cli';

/** Files of packages/postgres whose matter is SQL of PostgreSQL: what they do in a transaction is awaited. */
const POSTGRES_SQL =
  /^packages\/postgres\/src\/(?:(?:cluster|files|jobs|rows|server)\/\w+|openSchema|schema)\.ts$/;

const SQL =
  /\b(?:INSERT\s+(?:OR\s+\w+\s+)?INTO|DELETE\s+FROM|UPDATE\s+\w+\s+SET|SELECT\s+[\w*(][\s\S]*?\bFROM|CREATE\s+(?:TABLE|INDEX|TRIGGER|VIEW)|PRAGMA\s+\w)\b/;
const STATEMENT = /\.prepare\s*\(|\b(?:db|database)\.exec\s*\(|\.pragma\s*\(/;
const FILE_ACCESS =
  /\b(?:readFile|writeFile|appendFile|copyFile|rename|unlink|rm|open|truncate|createReadStream|createWriteStream)(?:Sync)?\([^\n]*sqlite/;

/** A file as the rules see it: `packages/<pkg>/<area>/<inner>`. */
function parseFile(path, text) {
  const [, pkg, area, ...inner] = path.split('/');
  const code = withoutComments(text);
  const isTest = area !== 'src' || inner.includes('__tests__') || pkg === CASES;
  return {
    path,
    pkg,
    area,
    inner: inner.join('/'),
    folder: inner[0],
    isTest,
    code,
    imports: importsOf(code),
  };
}

const isSharedWithTests = (path) => SHARED_WITH_TESTS.some((folder) => path.startsWith(folder));
const resolveFrom = (file, target) => posix.join(posix.dirname(file.path), target);
const packageName = (target) =>
  target
    .split('/')
    .slice(0, target.startsWith('@') ? 2 : 1)
    .join('/');
const inCore = (file, ...folders) => file.pkg === 'core' && folders.includes(file.folder);

function staysInPackage(file) {
  return file.imports
    .filter(({ target }) => target.startsWith('.'))
    .filter(({ target }) => !`${resolveFrom(file, target)}/`.startsWith(`packages/${file.pkg}/`))
    .filter(({ target }) => !(file.isTest && isSharedWithTests(resolveFrom(file, target))))
    .filter(
      ({ target }) => !(file.pkg === CASES && resolveFrom(file, target).startsWith('packages/core/src/')),
    )
    .map(({ target }) => `relative import leaves the package: ${target}`);
}

function rankOf(file) {
  if (file.inner.includes('/')) return RANK[file.folder] ?? Number.POSITIVE_INFINITY;
  return ENTRY_RANK[file.inner] ?? Number.POSITIVE_INFINITY;
}

function respectsLayers(file) {
  if (file.pkg !== 'core' || file.isTest) return [];
  const own = rankOf(file);
  return file.imports
    .filter(({ target }) => target.startsWith('.'))
    .map(({ target }) => parseFile(resolveFrom(file, target), ''))
    .filter((imported) => own !== Number.POSITIVE_INFINITY && rankOf(imported) > own)
    .map((imported) => `${file.inner} may not import ${imported.inner}: it is in a higher layer`);
}

function usesDeclaredPackages(file, manifests) {
  if (file.isTest) return [];
  const { dependencies, peerDependencies, devDependencies } = manifests[file.pkg] ?? {};
  const declared = { ...dependencies, ...peerDependencies, ...(file.pkg === BUNDLED && devDependencies) };
  return file.imports
    .map(({ target }) => packageName(target))
    .filter((name) => !name.startsWith('.') && !isBuiltin(name))
    .filter((name) => !(name in declared) && name !== `@devs/${file.pkg}`)
    .map((name) => `${name} is not a dependency of packages/${file.pkg}`);
}

function usesPackageExports(file, manifests) {
  return file.imports
    .filter(({ target }) => target.startsWith('@devs/'))
    .flatMap(({ target }) => {
      const other = target.split('/')[1];
      const subpath = `.${target.slice(`@devs/${other}`.length)}`;
      if (other === file.pkg)
        return file.isTest ? [] : [`a package may not import itself by name: ${target}`];
      if (!file.isTest && !ALLOWED_PACKAGES[file.pkg]?.includes(other))
        return [`may not depend on @devs/${other}`];
      return manifests[other]?.exports?.[subpath] === undefined ? [`${target} is not exported`] : [];
    });
}

function takesInternalsInSourcesOnly(file) {
  const isSource = file.path.startsWith('packages/') && !file.isTest;
  const taken = file.imports.filter(({ target }) => INTERNAL.test(target));
  return isSource ? [] : taken.map(({ target }) => `${target} is for the sources of sibling packages alone`);
}

function mayUse(file, name) {
  if (name === 'better-sqlite3') return file.path === 'packages/core/src/db/connect.ts';
  if (name.startsWith('@modelcontextprotocol/')) return file.pkg === 'mcp';
  if (!name.startsWith('@langchain/')) return true;
  const entry = file.pkg === 'core' && ENTRY_MAY_USE_LANGCHAIN.has(file.inner);
  return file.pkg === 'agents' || inCore(file, 'engine', 'orchestration', 'testing') || entry;
}

function keepsLibrariesInPlace(file) {
  if (file.isTest) return [];
  return file.imports
    .filter(({ target, typeOnly }) => !(typeOnly && target === 'better-sqlite3'))
    .filter(({ target }) => !mayUse(file, packageName(target)))
    .map(({ target }) => `${target} may not be imported here`);
}

function keepsSqlInPlace(file) {
  if (file.isTest || inCore(file, 'db', 'state') || POSTGRES_SQL.test(file.path)) return [];
  const found = SQL.exec(file.code) ?? STATEMENT.exec(file.code);
  return found === null
    ? []
    : [`SQL outside db/ and state/: ${found[0].replaceAll(/\s+/g, ' ').slice(0, 60)}`];
}

function awaitsNothingInTransactions(file) {
  const isOfSqlite = !file.isTest && !POSTGRES_SQL.test(file.path);
  return isOfSqlite && /\.transaction\s*\(\s*async\b/.test(file.code)
    ? ['an async transaction commits nothing of what follows its first await']
    : [];
}

function leavesTheStateFileAlone(file) {
  if (file.isTest || inCore(file, 'db')) return [];
  const found = FILE_ACCESS.exec(file.code);
  return found === null ? [] : [`the state file is touched past SQLite: ${found[0].slice(0, 60)}`];
}

/** [9_ROADMAP-RISK-401]: the flat adapter is a loop; its name occurs with a call bracket only where it is defined. */
function adapterDoesNotRecurse(file) {
  if (!file.path.endsWith('/flatIterativeAdapter.ts')) return [];
  const calls = [...file.code.matchAll(/\brunGraphIteratively\s*(?:<[^>()]*>)?\(/g)].length;
  return calls > 1 ? ['runGraphIteratively calls itself'] : [];
}

const RULES = [
  staysInPackage,
  respectsLayers,
  usesDeclaredPackages,
  usesPackageExports,
  takesInternalsInSourcesOnly,
  keepsLibrariesInPlace,
  keepsSqlInPlace,
  awaitsNothingInTransactions,
  leavesTheStateFileAlone,
  adapterDoesNotRecurse,
];

function violationsIn(path, text, manifests) {
  const file = parseFile(path, text);
  return RULES.flatMap((rule) =>
    rule(file, manifests).map((message) => ({ rule: rule.name, path, message })),
  );
}

function readManifests() {
  const names = readdirSync(join(root, 'packages'));
  const manifest = (name) => JSON.parse(readFileSync(join(root, 'packages', name, 'package.json'), 'utf8'));
  return Object.fromEntries(names.map((name) => [name, manifest(name)]));
}

/** Programs outside the packages: examples, and scripts that use a package as a user does. */
const OUTSIDE = ['examples', 'scripts', 'tools'];

function* outsideSources() {
  for (const folder of OUTSIDE) {
    for (const entry of readdirSync(join(root, folder), { recursive: true })) {
      const path = posix.join(folder, entry.replaceAll('\\', '/'));
      if (/\.[cm]?[jt]sx?$/.test(path) && !/\/(?:node_modules|dist|out)\//.test(path)) yield path;
    }
  }
}

/** Of files outside the packages one rule is asked: the others are about packages. */
function internalsOutside(path, text) {
  const file = parseFile(path, text);
  return takesInternalsInSourcesOnly(file).map((message) => ({ path, message }));
}

function* sourcesOf(name, areas = ['src', 'test', 'bench']) {
  for (const area of areas) {
    const folder = join(root, 'packages', name, area);
    if (!existsSync(folder)) continue;
    for (const entry of readdirSync(folder, { recursive: true })) {
      if (/\.[cm]?tsx?$/.test(entry)) yield posix.join('packages', name, area, entry.replaceAll('\\', '/'));
    }
  }
}

/** Folders with rooms of their own: no room imports one that imports it, directly or through others. */
const HOUSES = [
  ...['core/src/state', 'core/src/db', 'core/src/masking', 'core/src/engine', 'core/src/orchestration'],
  ...['agents/src', 'postgres/src', 'mcp/src', 'ui/src', 'cli/src', 'conformance/src'],
].map((folder) => `packages/${folder}`);

function circlesIn(sources) {
  return house(sources).circles.map((way) => `rooms import each other in a circle: ${way.join(', ')}`);
}

/** In the sources of the packages, pages too, without tests. */
function fileCircles(manifests) {
  const sources = Object.keys(manifests)
    .flatMap((name) => [...sourcesOf(name, ['src', 'page'])])
    .filter((path) => !path.includes('/__tests__/'))
    .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));
  return circlesOfFiles(sources).map((way) => ({
    path: way[0],
    message: `files import each other in a circle: ${[...way, way[0]].join(' -> ')}`,
  }));
}

function checkRepository(manifests) {
  const files = Object.keys(manifests).flatMap((name) => [...sourcesOf(name)]);
  const violations = files.flatMap((path) =>
    violationsIn(path, readFileSync(join(root, path), 'utf8'), manifests),
  );
  for (const path of outsideSources()) {
    violations.push(...internalsOutside(path, readFileSync(join(root, path), 'utf8')));
  }
  violations.push(
    ...HOUSES.flatMap((path) => circlesIn(sourcesIn(join(root, path))).map((message) => ({ path, message }))),
  );
  violations.push(...fileCircles(manifests));
  for (const { path, message } of violations) process.stderr.write(`${path}: ${message}\n`);
  process.stdout.write(`layers: ${files.length} files, ${violations.length} violations\n`);
  return violations.length;
}

/** A planted case names the one rule that must find it, or null where nothing may be found. */
function selfTest(manifests) {
  const wrong = PLANTED.filter(({ path, text, rule }) => {
    const found = [...new Set(violationsIn(path, text, manifests).map((violation) => violation.rule))];
    return rule === null ? found.length > 0 : found.join() !== rule;
  });
  const unproven = RULES.filter(({ name }) => !PLANTED.some(({ rule }) => rule === name));
  wrong.push(...PLANTED_HOUSES.filter(({ isCircle, sources }) => circlesIn(sources).length > 0 !== isCircle));
  wrong.push(
    ...PLANTED_CIRCLES.filter(({ isCircle, sources }) => circlesOfFiles(sources).length > 0 !== isCircle),
  );
  for (const { path, text } of wrong) process.stderr.write(`judged wrongly: ${path}: ${text}\n`);
  for (const { name } of unproven) process.stderr.write(`no planted violation for ${name}\n`);
  const planted = PLANTED.length + PLANTED_HOUSES.length + PLANTED_CIRCLES.length;
  process.stdout.write(`layers: ${planted} planted cases, ${wrong.length + unproven.length} wrong\n`);
  return wrong.length + unproven.length;
}

const manifests = readManifests();
process.exitCode =
  (process.argv.includes('--self-test') ? selfTest : checkRepository)(manifests) === 0 ? 0 : 1;
