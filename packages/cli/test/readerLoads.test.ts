import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { stateHome } from './support/stateHome.ts';
import { driveShop, RUN } from './support/waitingProject.ts';

const CLI = fileURLToPath(new URL('../', import.meta.url));

/** What the script that makes the published files tells of them, by their paths from the package. */
interface Bundler {
  bundleCli(dist: string): Promise<{
    readonly inputs: Readonly<
      Record<
        string,
        { readonly imports: readonly { readonly original?: string; readonly external?: boolean }[] }
      >
    >;
    readonly outputs: Readonly<
      Record<string, { readonly inputs: Readonly<Record<string, { readonly bytesInOutput: number }>> }>
    >;
  }>;
}

const bundler = (await import(new URL('../../../scripts/bundle-cli.mjs', import.meta.url).href)) as Bundler;
/** In the package, so that it finds LangChain and the driver as the published one does. */
const home = join(CLI, 'node_modules', '.cache');
mkdirSync(home, { recursive: true });
const made = mkdtempSync(join(home, 'devs-bundle-'));
const { inputs: madeFrom, outputs } = await bundler.bundleCli(join(made, 'dist'));
copyFileSync(join(CLI, 'package.json'), join(made, 'package.json'));
afterAll(() => {
  for (const folder of [made, shop]) rmSync(folder, { recursive: true });
});

/** Sources and packages that a process of the command has loaded; what of the bundle, by what it was made from. */
function loadedBy(dir: string, argv: readonly string[]): readonly string[] {
  const told = mkdtempSync(join(made, 'coverage-'));
  execFileSync(process.execPath, [join(made, 'dist', 'bin.js'), ...argv], {
    cwd: dir,
    env: { ...process.env, XDG_STATE_HOME: stateHome(), NODE_V8_COVERAGE: told },
    stdio: 'ignore',
  });
  const scripts = readdirSync(told).flatMap((name) => {
    const { result } = JSON.parse(readFileSync(join(told, name), 'utf8')) as {
      readonly result: readonly { readonly url: string }[];
    };
    return result.map(({ url }) => url).filter((url) => url.startsWith('file:'));
  });
  const files = new Set(scripts.map((url) => fileURLToPath(url)));
  const parts = Object.entries(outputs).flatMap(([path, { inputs }]) =>
    files.has(resolve(CLI, path))
      ? Object.entries(inputs).flatMap(([input, { bytesInOutput }]) => (bytesInOutput > 0 ? input : []))
      : [],
  );
  return [...files, ...parts].map((path) => path.replaceAll('\\', '/'));
}

const LANGGRAPH = /node_modules\/(?:@langchain|langchain|langsmith)\//;
/** The driver of runs, the pipeline's nodes, agents that work, and what they need. */
const WORK =
  /node_modules\/(?:yaml|tinyglobby|@agentclientprotocol)\/|core\/src\/(?:engine\/drive\/drive|orchestration\/nodes\/\w+Node)\.ts|agents\/src\/(?:workspace|checks|sandbox|coding)\//;

/** What knows PostgreSQL. */
const CLUSTER = /node_modules\/pg[-/]|packages\/postgres\//;
/** What makes schemas. */
const ZOD = /dist\/zod\.cjs$/;
/** What opens a state file, and what reads it. */
const STATE = /better-sqlite3|core\/src\/(?:db|state|engine|orchestration|surface)\//;

/** A project with a run that waits for a human; its only decision is made last. */
const shop = mkdtempSync(join(tmpdir(), 'devs-shop-'));
const [gate] = (await driveShop(shop)).gates;
if (gate === undefined) throw new Error('The run has no open gate.');

const found = (argv: readonly string[], wanted: RegExp): readonly string[] =>
  loadedBy(shop, argv).filter((path) => wanted.test(path));

describe('the published command', () => {
  test.for([['--help'], ['--version'], ['admin', '--help']])(
    'loads for %j nothing that opens a state file, and no verb',
    (argv) => {
      const loaded = loadedBy(shop, argv);
      expect(loaded.filter((path) => STATE.test(path) || ZOD.test(path))).toEqual([]);
      expect(loaded.filter((path) => /src\/commands\//.test(path))).toEqual(['src/commands/verbs.ts']);
    },
  );

  test.for([
    ['status'],
    ['status', RUN],
    ['gates'],
    ['gates', '--all'],
    ['show', RUN],
    ['log', RUN],
    ['docs', RUN],
  ])('loads for %j what it shows', (argv) => {
    const loaded = loadedBy(shop, argv);
    expect(loaded.some((path) => path.endsWith('src/main.ts'))).toBe(true);
    const more = [LANGGRAPH, WORK, ZOD, CLUSTER];
    expect(loaded.filter((path) => more.some((each) => each.test(path)))).toEqual([]);
  });

  test('loads for a decision what it records', () => {
    const loaded = loadedBy(shop, ['approve', gate.sessionId, '--hash', gate.artifactHash]);
    expect(loaded.filter((path) => LANGGRAPH.test(path) || WORK.test(path))).toEqual([]);
    expect(loaded.filter((path) => ZOD.test(path))).toHaveLength(1);
  });

  test('would be found loading more: what goes on with a run does', () => {
    expect(found(['cancel', RUN], LANGGRAPH)).not.toEqual([]);
    expect(found(['init', '--help'], WORK)).not.toEqual([]);
  });

  test('has the licence of every package whose code is in it', () => {
    const text = readFileSync(join(made, 'dist', 'THIRD_PARTY_LICENSES.txt'), 'utf8');
    for (const name of ['commander', 'diff', 'yaml', 'zod', '@agentclientprotocol/sdk'])
      expect(text).toMatch(new RegExp(`^${name} \\d`, 'm'));
  });
});

test('the demo installs all that our sources in the command import', () => {
  const demo = readFileSync(join(CLI, '..', '..', 'tools', 'demo', 'package.json'), 'utf8');
  const { dependencies } = JSON.parse(demo) as { readonly dependencies: Readonly<Record<string, string>> };
  const ours = Object.entries(madeFrom).filter(([input]) => !input.includes('node_modules'));
  const imported = ours.flatMap(([, { imports }]) =>
    imports.flatMap(({ original, external }) => (external === true ? [] : (original ?? []))),
  );
  const names = imported.flatMap((name) => /^(?!@devs\/|\.|\/|devs:)(?:@[^/]+\/)?[^/]+/.exec(name) ?? []);
  expect([...new Set(names)].filter((name) => dependencies[name] === undefined)).toEqual([]);
  expect(names).toContain('commander');
});
