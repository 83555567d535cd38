import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
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

const BIN = join(made, 'dist', 'bin.js');

interface LoadOptions {
  /** Its exit code. @defaultValue 0 */
  readonly ends?: number;
  /** @defaultValue the command */
  readonly program?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Sources and packages that a process of the command has loaded; what of the bundle, by what it was made from. */
function loadedBy(
  dir: string,
  argv: readonly string[],
  { ends = 0, program = BIN, env = {} }: LoadOptions = {},
): readonly string[] {
  const told = mkdtempSync(join(made, 'coverage-'));
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...argv], {
    cwd: dir,
    env: { ...process.env, XDG_STATE_HOME: stateHome(), NODE_V8_COVERAGE: told, ...env },
    encoding: 'utf8',
  });
  expect(status, stdout + stderr).toBe(ends);
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
    ['trace', RUN],
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

/** On a machine with much else to do; a second each on an idle one. */
const THREE_PROCESSES_MS = 180_000;

/** A run that waits at its first gate. */
const WAITS = 75;
/** One whose agents cannot work. */
const FAILS = 1;

/** A provider's model that nobody can reach. */
const MODEL = `export const initChatModel = async () => ({
  bindTools: () => model, stream: refused, invoke: refused, getName: () => 'unreachable' });
const refused = async () => { throw Object.assign(new Error('unreachable'), { status: 400 }); };
const model = { stream: refused, invoke: refused };`;

/** An app over a state file that is told to stop as soon as it works. */
const IDLE_APP = `export default {
  queue: { graph: 'idle', fingerprint: 'abcdabcdabcd' }, runs: null, close: async () => {},
  work: async () => { setTimeout(() => process.kill(process.pid, 'SIGTERM'), 50); return { busy: 0, stop: async () => 0 }; },
};`;

describe('LangGraph in the published command', () => {
  const OWN = /dist\/langgraph\.cjs$/;
  const fresh = (): string => mkdtempSync(join(made, 'project-'));
  const started = (agents: string): readonly string[] => [
    ...['run', '-m', 'Export the table as CSV.', '--id', 'csv', '--no-repository', '--no-sandbox'],
    ...['--agents', agents],
  ];
  const copies = (loaded: readonly string[]): readonly string[] => [
    ...(loaded.some((path) => OWN.test(path)) ? ['inside'] : []),
    ...(loaded.some((path) => LANGGRAPH.test(path) && path.includes('/langgraph/')) ? ['installed'] : []),
  ];

  test('is the one inside for a run without models, from its start to what follows a decision', {
    timeout: THREE_PROCESSES_MS,
  }, () => {
    const dir = fresh();
    expect(copies(loadedBy(dir, started('none'), { ends: WAITS }))).toEqual(['inside']);
    expect(copies(loadedBy(dir, ['resume', 'csv'], { ends: WAITS }))).toEqual(['inside']);
    expect(copies(loadedBy(dir, ['approve', 'csv', '--go'], { ends: WAITS }))).toEqual(['inside']);
  });

  test('is the installed one for models, whose packages share its @langchain/core', {
    timeout: THREE_PROCESSES_MS,
  }, () => {
    const langchain = join(made, 'node_modules', 'langchain');
    mkdirSync(join(langchain, 'chat_models'), { recursive: true });
    writeFileSync(join(langchain, 'package.json'), '{ "type": "module", "exports": { "./*": "./*.js" } }');
    writeFileSync(join(langchain, 'chat_models', 'universal.js'), MODEL);
    const dir = fresh();
    const env = { OPENAI_API_KEY: 'key' };
    const loaded = loadedBy(dir, started('openai:gpt-5'), { ends: FAILS, env });
    expect(loaded.filter((path) => path.includes('node_modules/langchain/'))).not.toEqual([]);
    expect(copies(loaded)).toEqual(['installed']);
    expect(copies(loadedBy(dir, ['resume', 'csv'], { ends: FAILS, env }))).toEqual(['installed']);
  });

  test('is neither for a worker of an app of yours, which brings its own', () => {
    const dir = fresh();
    writeFileSync(join(dir, 'app.mjs'), IDLE_APP);
    const loaded = loadedBy(dir, ['worker', 'app.mjs']);
    expect(loaded.some((path) => path.endsWith('app.mjs'))).toBe(true);
    expect(copies(loaded)).toEqual([]);
  });

  test('is the installed one in a program that may run more than one command', () => {
    const program = join(made, 'program.mjs');
    const io = `{ stdin: process.stdin, stdout: process.stdout, stderr: process.stderr, env: process.env,
      cwd: process.cwd(), signal: new AbortController().signal }`;
    writeFileSync(
      program,
      `import { main } from './dist/index.js'; main(process.argv.slice(2), ${io}).then((code) => process.exit(code));`,
    );
    expect(copies(loadedBy(fresh(), started('none'), { ends: WAITS, program }))).toEqual(['installed']);
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
