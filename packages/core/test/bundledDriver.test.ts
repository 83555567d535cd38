import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';

const SOURCE = fileURLToPath(new URL('../src/db/createDatabase.ts', import.meta.url));
const require = createRequire(import.meta.url);
/** tsx's own compiler. */
const esbuild = createRequire(require.resolve('tsx/package.json'))('esbuild') as {
  buildSync(options: object): unknown;
};

const PROGRAM = `
import { createDatabase } from ${JSON.stringify(SOURCE)};
try { createDatabase({ dbPath: 'state.sqlite' }).close(); console.log('opened'); }
catch (error) { console.log(error.code, error.message, error.remedy); }
`;

/** What a small program prints that was bundled and lies in an empty folder. */
function printedBy(options: {
  readonly format: 'cjs' | 'esm';
  readonly external?: readonly string[];
}): string {
  const dir = mkdtempSync(join(tmpdir(), 'devs-bundled-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  writeFileSync(join(dir, 'server.ts'), PROGRAM);
  const file = join(dir, 'out', options.format === 'cjs' ? 'server.cjs' : 'server.mjs');
  const about = { bundle: true, platform: 'node', logLevel: 'silent', outfile: file, nodePaths: NODE_PATHS };
  esbuild.buildSync({ ...about, ...options, entryPoints: [join(dir, 'server.ts')] });
  if (options.external !== undefined) {
    mkdirSync(join(dir, 'out', 'node_modules'));
    symlinkSync(DRIVER, join(dir, 'out', 'node_modules', 'better-sqlite3'));
  }
  return spawnSync(process.execPath, [file], { cwd: dirname(file), encoding: 'utf8' }).stdout.trim();
}

const DRIVER = dirname(require.resolve('better-sqlite3/package.json'));
const NODE_PATHS = [join(dirname(SOURCE), '..', '..', 'node_modules')];

test('a driver that was bundled says that it must be left out, not that it must be compiled', () => {
  const printed = printedBy({ format: 'cjs' });
  expect(printed).toContain('CONFIG_INVALID better-sqlite3 was bundled into this program');
  expect(printed).toContain('--external:better-sqlite3');
  expect(printed).not.toMatch(/rebuild|node-gyp/);
});

test('a program that leaves it out opens a state file, in both forms of a module', () => {
  for (const format of ['cjs', 'esm'] as const)
    expect(printedBy({ format, external: ['better-sqlite3'] })).toBe('opened');
});
