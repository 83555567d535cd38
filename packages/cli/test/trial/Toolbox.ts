import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Repository, Tarball } from './Repository.ts';

const run = promisify(execFile);

const fromHere = createRequire(new URL('../../package.json', import.meta.url));
const fromRoot = createRequire(new URL('../../../../package.json', import.meta.url));

/** Where a package of the workspace lies. */
function installed(name: string): string {
  for (const from of [fromHere, fromRoot]) {
    try {
      return dirname(from.resolve(`${name}/package.json`));
    } catch {
      // Not of this one.
    }
  }
  throw new Error(`${name} is not installed in this workspace.`);
}

/** What an installed package calls by its own name; scripts of a manifest find it in `.bin`. */
function programOf(name: string): string {
  const folder = installed(name);
  const { bin } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    readonly bin: string | Readonly<Record<string, string>>;
  };
  return join(folder, typeof bin === 'string' ? bin : (bin[name] ?? ''));
}

/** Where a repository's sources and tools come from. */
export interface Toolbox {
  /** The folder of an unpacked tarball. */
  readonly unpacked: (tarball: Tarball) => Promise<string>;
  /** The target of each link of `node_modules`; `''` is the whole folder. */
  readonly links: (repository: Repository) => Promise<Readonly<Record<string, string>>>;
  /** What tests a repository. */
  readonly check: (repository: Repository) => readonly string[];
}

/** Nothing but what the workspace has installed. The lockfile pins each package by its integrity. */
export const LOCAL: Toolbox = {
  unpacked: async ({ name, version }) => {
    const folder = installed(name);
    const found = (JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string })
      .version;
    if (found !== version)
      throw new Error(`The workspace has ${name} ${found}, the trial is about ${version}.`);
    return folder;
  },
  links: async ({ local }) =>
    Object.fromEntries(
      (local?.links ?? []).flatMap((name) => [
        [name, installed(name)],
        [`.bin/${name}`, programOf(name)],
      ]),
    ),
  check: ({ local, name }) => {
    if (local === undefined) throw new Error(`${name} needs packages from the registry.`);
    return local.check;
  },
};

/** From the registry, once: kept in a folder below the temporary one. */
export class Registry implements Toolbox {
  readonly #cache: string;
  readonly #say: (line: string) => void;

  constructor(
    say: (line: string) => void,
    cache: string = join(tmpdir(), `devs-trial-${process.getuid?.() ?? 0}`),
  ) {
    this.#say = say;
    this.#cache = cache;
    mkdirSync(cache, { recursive: true, mode: 0o700 });
  }

  /** @throws Error when the tarball is not the one that was pinned. */
  unpacked = (tarball: Tarball): Promise<string> =>
    this.#once(`${tarball.name}-${tarball.version}`, async (dir) => {
      const spec = `${tarball.name}@${tarball.version}`;
      this.#say(`fetching ${spec}`);
      await run('npm', ['pack', spec, '--silent', '--pack-destination', dir], { cwd: dir });
      const file = join(dir, `${tarball.name}-${tarball.version}.tgz`);
      const integrity = `sha512-${createHash('sha512').update(readFileSync(file)).digest('base64')}`;
      if (integrity !== tarball.integrity)
        throw new Error(`${spec} is ${integrity}, not ${tarball.integrity}.`);
      await run('tar', ['xzf', file, '--strip-components=1'], { cwd: dir });
      rmSync(file);
    });

  links = async ({
    tools,
    name,
  }: Pick<Repository, 'tools' | 'name'>): Promise<Readonly<Record<string, string>>> => {
    const specs = Object.entries(tools).map(([tool, version]) => `${tool}@${version}`);
    if (specs.length === 0) return {};
    const key = createHash('sha256').update(JSON.stringify(specs)).digest('hex').slice(0, 16);
    const dir = await this.#once(`tools-${key}`, async (folder) => {
      this.#say(`installing for ${name}: ${specs.join(' ')}`);
      writeFileSync(join(folder, 'package.json'), '{ "private": true }\n');
      const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--silent', '--save-exact'];
      await run('npm', ['install', ...quiet, ...specs], { cwd: folder, maxBuffer: 1 << 26 });
    });
    return { '': join(dir, 'node_modules') };
  };

  check = (): readonly string[] => ['npm', 'run', '--silent', 'test'];

  async #once(name: string, make: (dir: string) => Promise<void>): Promise<string> {
    const dir = join(this.#cache, name);
    if (existsSync(dir)) return dir;
    const half = `${dir}.${process.pid}`;
    rmSync(half, { recursive: true, force: true });
    mkdirSync(half, { recursive: true });
    await make(half);
    renameSync(half, dir);
    return dir;
  }
}

/** Copies a package without what its installation put there. */
export const copyPackage = (from: string, to: string): void =>
  cpSync(from, to, { recursive: true, dereference: true, filter: (path) => !path.endsWith('/node_modules') });
