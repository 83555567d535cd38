// Uses the built packages as a consumer does: ESM and CommonJS, through their published entry points.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const names = readdirSync(join(root, 'packages'));
const manifestOf = (name) => JSON.parse(readFileSync(join(root, 'packages', name, 'package.json'), 'utf8'));

/** A folder outside the repository whose node_modules holds only our packages, linked. */
function makeConsumer() {
  const dir = mkdtempSync(join(tmpdir(), 'devs-consumer-'));
  mkdirSync(join(dir, 'node_modules', '@devs'), { recursive: true });
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

const IN_MEMORY = `
  const core = require('@devs/core');
  const { runMigrations } = require('@devs/core/dist/db/migrate.js');
  const db = core.createDatabase({ dbPath: ':memory:' });
  runMigrations(db);
  const columns = db.prepare('PRAGMA table_info(hitl_failure_gates)').all();
  console.log(columns.length);`;

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
  langchainIsThereOnce();
  process.stdout.write(`packages: ${names.length} packages load as ESM and as CommonJS\n`);
} finally {
  rmSync(consumer, { recursive: true });
}
