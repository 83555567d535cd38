// Uses the built packages as a consumer does: ESM and CommonJS, through their published entry points; and looks at what is
// packed: its types, what is in it, and how large it is.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packAll, packedManifest } from './packAll.mjs';
import { bytesOf, closureOf, publishedNames } from './published.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const names = publishedNames();
const manifestOf = (name) => JSON.parse(readFileSync(join(root, 'packages', name, 'package.json'), 'utf8'));

/** A folder outside the repository whose node_modules holds only our packages, linked. */
function makeConsumer() {
  const dir = mkdtempSync(join(tmpdir(), 'devs-consumer-'));
  for (const scope of ['@devs', '@langchain'])
    mkdirSync(join(dir, 'node_modules', scope), { recursive: true });
  for (const name of names) {
    symlinkSync(join(root, 'packages', name), join(dir, 'node_modules', '@devs', name), 'dir');
  }
  return dir;
}

const runScript = (cwd, type, code) =>
  execFileSync(process.execPath, [`--input-type=${type}`, '-e', code], { cwd, encoding: 'utf8' });

function entryPoints(name) {
  const subpaths = Object.keys(manifestOf(name).exports).filter((subpath) => !subpath.endsWith('.json'));
  return subpaths.map((subpath) => `@devs/${name}${subpath.slice(1)}`);
}

/** Bytes of the tarball, and of all that is installed with the package: about a tenth above what they were when this was set. */
const BUDGET = {
  agents: { packed: 241_000, installed: 112_000_000 },
  cli: { packed: 1_690_000, installed: 118_000_000 }, // with what it is made of, 360 kB of it a LangGraph (langGraphDoor.mjs)
  core: { packed: 860_000, installed: 99_000_000 },
  mcp: { packed: 13_000, installed: 108_000_000 },
  server: { packed: 58_000, installed: 108_000_000 },
  postgres: { packed: 116_000, installed: 112_000_000 },
  ui: { packed: 238_000, installed: 108_000_000 }, // 53 kB of it are the languages of code
};

/** Declarations of sources that are not published lead nowhere; the rest is of no use to a user. */
const NOT_PUBLISHED = /\.map$|__tests__|tsbuildinfo|(?<!\.d)\.ts$/;

const filesIn = (tarball) => execFileSync('tar', ['-tzf', tarball], { encoding: 'utf8' }).trim().split('\n');

function assertPacked(name, tarball) {
  const useless = filesIn(tarball).filter((file) => NOT_PUBLISHED.test(file));
  assert.deepEqual(useless, [], `@devs/${name} has files that are of no use`);
  const text = packedManifest(tarball);
  assert.deepEqual(JSON.parse(text).engines, { node: '>=22.12' });
  assert.doesNotMatch(text, /catalog:|workspace:|@devs\/source/);
  const attw = join(root, 'node_modules', '.bin', 'attw');
  execFileSync(attw, [tarball, '--profile', 'esm-only'], { stdio: ['ignore', 'ignore', 'inherit'] });
}

/** Each module of the core is in one file: what its entry points share, too. */
function coreIsThereOnce(tarball) {
  const entries = Object.values(manifestOf('core').exports).map(({ default: file }) => file?.slice(2));
  const scripts = filesIn(tarball).flatMap((file) => /^package\/(.*\.js)$/.exec(file)?.[1] ?? []);
  const rest = scripts.filter((file) => !entries.includes(file) && !file.startsWith('dist/shared-'));
  assert.deepEqual(rest, [], '@devs/core has modules beside those that are bundled');
}

function assertSizes(name, tarball) {
  const folders = [...closureOf(join(root, 'packages', name))];
  const bytes = {
    packed: statSync(tarball).size,
    installed: folders.reduce((sum, folder) => sum + bytesOf(folder), 0),
  };
  for (const [what, most] of Object.entries(BUDGET[name])) {
    assert.ok(bytes[what] <= most, `@devs/${name}, ${what}: ${bytes[what]} bytes, more than ${most}`);
  }
  return `${name} ${(bytes.packed / 1e3).toFixed(0)} kB packed, ${(bytes.installed / 1e6).toFixed(0)} MB installed`;
}

const IN_MEMORY = `
  const core = require('@devs/core');
  const { runMigrations } = require('@devs/core/dist/db/migrate.js');
  const db = core.createDatabase({ dbPath: ':memory:' });
  runMigrations(db);
  const columns = db.prepare('PRAGMA table_info(hitl_failure_gates)').all();
  console.log(columns.length);`;

/** A CommonJS program has its own copy of LangChain, beside that of the engine. */
const OF_COMMONJS = `
  const { durable } = require('@devs/core/langgraph');
  const { MessagesAnnotation, START, StateGraph } = require('@langchain/langgraph');
  const { AIMessage } = require('@langchain/core/messages');
  const graph = new StateGraph(MessagesAnnotation)
    .addNode('say', () => ({ messages: [new AIMessage('hello')] })).addEdge(START, 'say');
  const app = durable(graph, { file: 'commonjs.sqlite' });
  app.run('r', { messages: [{ role: 'user', content: 'hi' }] })
    .then(() => app.values('r'))
    .then(({ messages }) => console.log(messages.map(({ text }) => text).join(), messages[1].constructor === AIMessage));`;

/** Read from the lockfile: node_modules keeps folders of earlier installs. */
function langchainIsThereOnce() {
  const [, resolved] = readFileSync(join(root, 'pnpm-lock.yaml'), 'utf8').split('\nsnapshots:\n');
  const copies = resolved.match(/^ {2}'@langchain\/core@[^']*':/gm);
  assert.equal(copies.length, 1, `one copy of @langchain/core expected, found ${copies.join(', ')}`);
}

const consumer = makeConsumer();
try {
  for (const entry of names.flatMap(entryPoints)) {
    runScript(consumer, 'module', `await import('${entry}');`);
    runScript(consumer, 'commonjs', `require('${entry}');`);
  }
  assert.ok(
    Number(runScript(consumer, 'commonjs', IN_MEMORY)) >= 6,
    'hitl_failure_gates has too few columns',
  );
  for (const name of ['core', 'langgraph'])
    symlinkSync(
      realpathSync(join(root, 'packages', 'core', 'node_modules', '@langchain', name)),
      join(consumer, 'node_modules', '@langchain', name),
      'dir',
    );
  assert.equal(runScript(consumer, 'commonjs', OF_COMMONJS), 'hi,hello true\n');
  langchainIsThereOnce();
  const tarballs = await packAll({ checkout: root, to: join(consumer, 'tarballs') });
  const sizes = names.map((name) => {
    assertPacked(name, tarballs[name]);
    return assertSizes(name, tarballs[name]);
  });
  coreIsThereOnce(tarballs.core);
  process.stdout.write(
    `packages: ${names.length} packages load as ESM and as CommonJS\n  ${sizes.join('\n  ')}\n`,
  );
} finally {
  rmSync(consumer, { recursive: true });
}
