import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

// What a user installs: the dependencies of the packages as they are published, each at the version this user gets.

const root = fileURLToPath(new URL('../../../..', import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

/** The JSON that code of `scripts/published.mjs` prints in a process of its own. */
function published(expression: string): unknown {
  const names = 'PACKAGES, closureOf, installScripts, manifestOf';
  const code = `import { ${names} } from './scripts/published.mjs'; console.log(JSON.stringify(${expression}));`;
  return JSON.parse(
    execFileSync(process.execPath, ['--input-type=module', '-e', code], {
      ...{ cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 },
    }),
  );
}

interface Installed {
  readonly name: string;
  readonly version: string;
  readonly scripts: readonly string[];
}

interface Manifest {
  readonly version: string;
  readonly engines: unknown;
  readonly publishConfig: unknown;
  readonly dependencies?: Readonly<Record<string, string>>;
}

const DESCRIBED = '((at) => ({ ...manifestOf(at), scripts: installScripts(at) }))';

const manifests = published('PACKAGES.map((at) => manifestOf(at))') as readonly Manifest[];

test('no dependency of the published packages has an install script', () => {
  const everything = `PACKAGES.flatMap((at) => [...closureOf(at, { optional: true })]).map(${DESCRIBED})`;
  const needed = published(everything) as readonly Installed[];
  const scripted = needed.filter(({ scripts }) => scripts.length > 0).map(({ name }) => name);
  // Of OpenTelemetry's optional exporters: it prints a word about its version, and works without that.
  expect([...new Set(scripted)].filter((name) => name !== 'protobufjs')).toEqual([]);
  expect(needed.find(({ name }) => name === 'better-sqlite3')?.version).toMatch(/^13\./);
  expect(needed.length).toBeGreaterThan(40);
});

test('the driver of this checkout on Node.js 20 has one, and is seen to', () => {
  const driver = join(root, 'node_modules/.pnpm/better-sqlite3@12.11.1/node_modules/better-sqlite3');
  expect(published(`${DESCRIBED}(${JSON.stringify(driver)})`)).toMatchObject({
    version: '12.11.1',
    scripts: ['install', 'binding.gyp'],
  });
});

test('users get the newest driver of the range that is published', () => {
  const workspace = read('pnpm-workspace.yaml');
  expect(/^catalogs:[\s\S]*^ {4}better-sqlite3: (.+)$/m.exec(workspace)?.[1]).toBe('^12.11.1 || ^13');
  const ranges = manifests.flatMap(({ dependencies }) => dependencies?.['better-sqlite3'] ?? []);
  expect(new Set(ranges)).toEqual(new Set(['catalog:peers']));
});

test('all packages have one version, and say which Node.js they need where they are published', () => {
  expect(new Set(manifests.map(({ version }) => version)).size).toBe(1);
  for (const { engines, publishConfig } of manifests) {
    expect(engines).toEqual({ node: '>=20.19' });
    expect(publishConfig).toMatchObject({ access: 'public', engines: { node: '>=22.12' } });
  }
});

test('what publishes is pinned by commit, and only its last job has an identity', () => {
  const workflow = read('.github/workflows/release.yml');
  const uses = [...workflow.matchAll(/uses: (\S+)(.*)/g)].map(
    ([, action = '', tag = '']) => `${action}${tag}`,
  );
  expect(uses.length).toBeGreaterThan(0);
  for (const each of uses) expect(each).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  const [before, publish] = workflow.split('\n  publish:\n');
  expect(before).not.toContain('id-token');
  expect(publish).toContain('id-token: write');
  expect(workflow).toContain('\npermissions: {}\n');
  expect(workflow).not.toContain('secrets.');
});
