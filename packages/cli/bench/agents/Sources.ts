import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { CodingCli } from '../../../agents/test/clis/codingClis.ts';
import { installCli } from '../../../agents/test/clis/installCli.ts';
import { Registry } from '../../test/trial/Toolbox.ts';
import type { Job, Source } from './Job.ts';
import type { Programs } from './Programs.ts';

export interface SourcesOptions {
  readonly cache: string;
  /** A folder with bare repositories `OWNER+NAME`, in the place of GitHub. */
  readonly from: string | undefined;
  readonly say: (line: string) => void;
  readonly programs: Programs;
}

/** Repositories, their tools and coding CLIs; each fetched once, into a folder outside of this repository. */
export class Sources {
  readonly #options: SourcesOptions;
  readonly #registry: Registry;

  constructor(options: SourcesOptions) {
    this.#options = options;
    mkdirSync(options.cache, { recursive: true, mode: 0o700 });
    this.#registry = new Registry(options.say, options.cache);
  }

  /** Makes a checkout of the pinned commit with its history, on the branch `main`, as somebody's. */
  async checkout(source: Source, dir: string): Promise<void> {
    const git = (...args: readonly string[]): Promise<string> =>
      this.#options.programs.done(['git', ...args]);
    await git('clone', '--quiet', '--no-checkout', await this.#repository(source), dir);
    await git('-C', dir, 'checkout', '--quiet', '-B', 'main', source.commit);
    await git('-C', dir, 'remote', 'remove', 'origin');
    await git('-C', dir, 'config', 'user.name', 'Somebody');
    await git('-C', dir, 'config', 'user.email', 'somebody@localhost');
  }

  /** The folder that becomes `node_modules`. */
  async modules({ name, tools }: Job): Promise<string> {
    return (await this.#registry.links({ name, tools }))[''] as string;
  }

  /** The folder of the programs of an installed CLI. */
  async cli(cli: CodingCli): Promise<string> {
    const { package: named, version } = cli.source;
    const dir = await this.#once(`${named.replaceAll('/', '+')}-${version}`, async (half) => {
      this.#options.say(`installing ${named}@${version}`);
      await installCli(cli, half);
    });
    return join(dir, 'node_modules', '.bin');
  }

  async #repository({ repository }: Source): Promise<string> {
    const name = repository.replace('/', '+');
    const { from, programs, say } = this.#options;
    if (from !== undefined)
      return [join(from, name, 'repo'), join(from, name)].find((dir) => existsSync(dir)) ?? join(from, name);
    return this.#once(`${name}.git`, async (half) => {
      say(`fetching ${repository}`);
      await programs.done(['git', 'clone', '--quiet', '--bare', `https://github.com/${repository}`, half]);
    });
  }

  async #once(name: string, make: (half: string) => Promise<void>): Promise<string> {
    const dir = join(this.#options.cache, name);
    if (existsSync(dir)) return dir;
    const half = `${dir}.${process.pid}`;
    rmSync(half, { recursive: true, force: true });
    await make(half);
    renameSync(half, dir);
    return dir;
  }
}
