import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RunWorkspace, Workspace } from '@devs/core';
import { createDatabase } from '@devs/core/state';
import { gitPacksOf, tablesOf } from '../../../core/test/support/insides.ts';
import { GitWorkspace, type GitWorkspaceOptions } from '../../src/workspace/GitWorkspace.ts';

type Driver = NonNullable<NonNullable<Parameters<Workspace['open']>[1]>['driver']>;

export const RUN = 'csv';

export const gitIn = (dir: string, ...args: readonly string[]): string =>
  execFileSync('git', ['-C', dir, ...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();

/** A bare repository with one commit. Returns its URL. */
export function bareRepository(root: string, files: Readonly<Record<string, string>>): string {
  const [seed, bare] = [join(root, 'seed'), join(root, 'origin.git')];
  execFileSync('git', ['init', '-q', '-b', 'main', seed]);
  for (const [path, content] of Object.entries(files)) writeFileSync(join(seed, path), content);
  gitIn(seed, 'add', '.');
  const who = ['-c', 'user.name=ada', '-c', 'user.email=ada@localhost'];
  gitIn(seed, ...who, 'commit', '-q', '-m', 'First');
  execFileSync('git', ['clone', '-q', '--bare', seed, bare]);
  return `file://${bare}`;
}

/** An open state file, as far as git needs one. */
export type OpenFile = ReturnType<typeof openFile>;

const openFile = gitPacksOf;

/** The file of a run where every machine finds it: what arrived last. */
export class SharedFile {
  readonly #dir: string;
  #image: Uint8Array;
  #copies = 0;

  constructor(dir: string) {
    this.#dir = dir;
    mkdirSync(dir, { recursive: true });
    const db = createDatabase({ dbPath: join(dir, 'new.sqlite') });
    const about = { projectId: RUN, workspace: null, briefSha256: null, graphFingerprint: 'f', policies: {} };
    tablesOf(db).threads.create({ threadId: RUN, ...about });
    this.#image = db.serialize();
    db.close();
  }

  /** A copy to write in. */
  take(): OpenFile {
    this.#copies += 1;
    const dbPath = join(this.#dir, `copy-${this.#copies}.sqlite`);
    writeFileSync(dbPath, this.#image);
    const db = createDatabase({ dbPath, synchronous: 'normal' });
    db.pragma('synchronous = OFF');
    return openFile(db);
  }

  /** Everybody finds what is in the copy. */
  arrive({ db }: OpenFile): void {
    this.#image = db.serialize();
  }
}

/** A machine with folders of its own, which drives the run over a copy of its file. */
export class Machine {
  readonly dir: string;
  readonly file: SharedFile;
  readonly #options: Omit<GitWorkspaceOptions, 'dir'>;
  #store: OpenFile | null = null;

  constructor(dir: string, file: SharedFile, options: Omit<GitWorkspaceOptions, 'dir'>) {
    this.dir = dir;
    this.file = file;
    this.#options = options;
    mkdirSync(dir, { recursive: true });
  }

  /** Takes the file and opens the workspace under the next epoch. */
  async drive(epoch: number, isGone = true): Promise<RunWorkspace> {
    const store = this.file.take();
    this.#store?.db.close();
    this.#store = store;
    const driver: Driver = {
      epoch,
      holder: `${this.dir}#${epoch}`,
      isCurrent: () => true,
      isGone: () => isGone,
    };
    return this.workspace.open(RUN, { driver, record: store.recordOf(RUN) });
  }

  get workspace(): GitWorkspace {
    const now = (): Date => new Date(0);
    return new GitWorkspace({ dir: this.dir, now, ...this.#options });
  }

  get store(): OpenFile {
    if (this.#store === null) throw new TypeError('Expected a machine that drives.');
    return this.#store;
  }

  /** What was done here is there for everybody. */
  arrive(): void {
    this.file.arrive(this.store);
  }

  /** `-C` of the run's store. */
  get gitDir(): string {
    return join(this.dir, '.devs', 'git', `${RUN}.git`);
  }

  /** Every file of the folder but the engine's pointer. */
  get files(): Readonly<Record<string, string>> {
    const dir = this.workspace.dirOf(RUN);
    const names = readdirSync(dir, { recursive: true, encoding: 'utf8' }).filter(
      (name) => name !== '.git' && statSync(join(dir, name)).isFile(),
    );
    return Object.fromEntries(names.toSorted().map((name) => [name, readFileSync(join(dir, name), 'utf8')]));
  }

  /** The machine is thrown away. */
  vanish(): void {
    this.#store?.db.close();
    this.#store = null;
    rmSync(this.dir, { recursive: true, force: true });
  }
}
