import { access, constants, readFile, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { WorkspacePort } from '@devs/core/internal';
import { type GitRepository, splitNul } from './GitRepository.ts';
import { BASE, readRef } from './refs.ts';
import { namedFiles } from './trees.ts';
import type { UserRepository } from './UserRepository.ts';
import { readUserSettings } from './userGitDir.ts';

/** Parts of the user's git for commits: a signature, and hooks in the sandbox of the checks. */
export interface CommitWishes {
  /** Sign the commits of tasks, with the program and key of the user's own configuration. @defaultValue false */
  readonly sign?: boolean;
  /** Run `pre-commit` and `commit-msg`. @defaultValue false */
  readonly hooks?: boolean;
}

/** The filters that attributes name for some paths, by path; paths are asked for where there are any filters. */
type FiltersOf = (paths: () => Promise<readonly string[]>) => Promise<ReadonlyMap<string, string>>;

const HOOKS = ['pre-commit', 'commit-msg'] as const satisfies readonly WorkspacePort.HookName[];

/** Bytes of a hook that is read. */
const MAX_HOOK = 256 * 1024;

/** How commits are made in the repository that a run works for. */
export class CommitCustoms {
  readonly #git: GitRepository;
  readonly #user: UserRepository | null;
  readonly #wishes: CommitWishes;
  readonly #filtersOf: FiltersOf;

  constructor(git: GitRepository, user: UserRepository | null, wishes: CommitWishes, filtersOf: FiltersOf) {
    this.#filtersOf = filtersOf;
    this.#git = git;
    this.#user = user;
    this.#wishes = wishes;
  }

  /** Of the last commits before the run's own, newest first. */
  async messages(limit: number): Promise<readonly string[]> {
    const base = await readRef(this.#git, BASE);
    if (base === null) return [];
    const args = ['log', '-z', '--no-merges', `--max-count=${limit}`, '--format=%B', base, '--'];
    return (await this.#git.run(args)).split('\0').filter((text) => text.trim() !== '');
  }

  async hook(name: WorkspacePort.HookName): Promise<WorkspacePort.CommitHook | null> {
    if (this.#wishes.hooks !== true) return null;
    const script = await this.#script(name);
    return script === null ? null : { script, interpreter: interpreterOf(script) };
  }

  /** Differences from the user's own commits. @param tip - The newest commit of the run. */
  async notes(tip: string | null): Promise<readonly string[]> {
    if (this.#user === null || tip === null) return [];
    return [...(await this.#unsigned(tip)), ...(await this.#unrun()), ...(await this.#unfiltered(tip))];
  }

  /** Files that the user's git would have sent through a filter. */
  async #unfiltered(tip: string): Promise<readonly string[]> {
    const base = await readRef(this.#git, BASE);
    if (base === null) return [];
    const args = ['diff-tree', '-r', '-z', '--name-only', '--no-renames', '--diff-filter=AM', base, tip];
    const filters = await this.#filtersOf(async () => splitNul(await this.#git.run(args)));
    // Those of Git LFS are pointers, as it stores them.
    const files = [...filters].filter(([, filter]) => filter !== 'lfs');
    if (files.length === 0) return [];
    const names = [...new Set(files.map(([, filter]) => filter))].join(', ');
    return [
      `${namedFiles(files.map(([path]) => path))}: stored without your git filter (${names}), which did not run.`,
    ];
  }

  async #unsigned(tip: string): Promise<readonly string[]> {
    const settings = new Map(await readUserSettings(this.#git));
    if (!isTrue(settings.get('commit.gpgsign'))) return [];
    const commit = await this.#git.run(['cat-file', 'commit', tip]);
    if (/^gpgsig(?:-sha256)? /m.test(commit.slice(0, commit.indexOf('\n\n')))) return [];
    const how =
      this.#wishes.sign === true
        ? 'signing failed: sign them when you merge'
        : 'set "git": { "sign": true } in .devs/config.json, or sign them when you merge';
    return [`Your git signs commits, and these are not signed; ${how}.`];
  }

  async #unrun(): Promise<readonly string[]> {
    if (this.#wishes.hooks === true) return [];
    const there: string[] = [];
    for (const name of HOOKS) if ((await this.#script(name)) !== null) there.push(name);
    if (there.length === 0) return [];
    const words = `${there.join(' and ')} of your repository did not run`;
    return [`${words}; set "git": { "hooks": true } in .devs/config.json to run them in the sandbox.`];
  }

  /** The hook that is part of the files, as husky has it, else that of the user's git dir. */
  async #script(name: WorkspacePort.HookName): Promise<string | null> {
    const shared = await textOf(join(this.#git.workTree, '.husky', name));
    if (shared !== null) return shared;
    const folder = await this.#user?.hooksFolder();
    const file = folder == null ? null : resolve(folder, name);
    return file === null || !(await isExecutable(file)) ? null : textOf(file);
  }
}

const isTrue = (value: string | undefined): boolean => /^(?:true|yes|on|1)$/i.test(value ?? '');

async function textOf(file: string): Promise<string | null> {
  const found = await stat(file).catch(() => null);
  if (found?.isFile() !== true || found.size > MAX_HOOK) return null;
  return readFile(file, 'utf8').catch(() => null);
}

const isExecutable = (file: string): Promise<boolean> =>
  access(file, constants.X_OK).then(
    () => true,
    () => false,
  );

/** By its first line; a hook without one is for a shell. */
function interpreterOf(script: string): readonly string[] {
  const [, line = ''] = /^#!\s*(\S.*)$/m.exec(script.split('\n', 1)[0] ?? '') ?? [];
  const [program = '/bin/sh', ...args] = line === '' ? ['/bin/sh', '-e'] : line.split(/\s+/);
  return /(?:^|\/)env$/.test(program) ? args.filter((word) => word !== '-S') : [program, ...args];
}
