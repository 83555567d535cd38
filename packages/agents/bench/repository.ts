import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Subject } from '../../core/bench/growth/subjects.ts';
import { median } from '../../core/bench/state/figures.ts';
import type { GitRunWorkspace } from '../src/workspace/GitRunWorkspace.ts';
import { GitWorkspace } from '../src/workspace/GitWorkspace.ts';

interface Repository {
  readonly dir: string;
  readonly root: string;
  readonly run: GitRunWorkspace;
  /** Of the folder of that run. */
  readonly tree: string;
  readonly close: () => void;
}

interface Shape {
  readonly files: number;
  /** Of each file; nothing in them can be compressed. */
  readonly bytes: number;
  /** Each changes one file. */
  readonly commits: number;
}

const FILES_IN_A_FOLDER = 50;

/** A repository as a user has it, checked out, all of it in one pack. */
async function makeRepository(root: string, { files, bytes, commits }: Shape): Promise<void> {
  const git = (...args: readonly string[]): void =>
    void execFileSync('git', ['-C', root, ...args], { stdio: 'ignore' });
  mkdirSync(root);
  git('init', '-q', '-b', 'main');
  const importing = spawn('git', ['-C', root, 'fast-import', '--quiet'], {
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  const write = async (text: string): Promise<void> => {
    if (!importing.stdin.write(text)) await once(importing.stdin, 'drain');
  };
  let seed = 1;
  for (let commit = 0; commit < commits; commit += 1) {
    await write(
      `commit refs/heads/main\ncommitter Ada <ada@example.org> ${1_700_000_000 + commit} +0000\ndata 1\nx\n`,
    );
    for (let file = 0; file < (commit === 0 ? files : 1); file += 1) {
      seed = (seed * 48_271) % 2_147_483_647;
      const text = noise(seed, bytes);
      await write(
        `M 100644 inline src/${Math.floor(file / FILES_IN_A_FOLDER)}/${file}.txt\ndata ${bytes}\n${text}\n`,
      );
    }
  }
  importing.stdin.end();
  await once(importing, 'close');
  git('reset', '-q', '--hard', 'main');
}

/** The same text for the same seed. */
function noise(seed: number, bytes: number): string {
  let text = '';
  for (let at = seed; text.length < bytes; at = (at * 48_271) % 2_147_483_647) text += at.toString(36);
  return text.slice(0, bytes);
}

async function opened(dir: string, shape: Shape): Promise<Repository> {
  const root = join(dir, 'user');
  await makeRepository(root, shape);
  const run = (await new GitWorkspace({ dir, repository: root }).open('first')) as GitRunWorkspace;
  const tree = await run.snapshot();
  return { dir, root, run, tree, close: () => undefined };
}

async function startAnother({ dir, root }: Repository, turn: number): Promise<void> {
  const workspace = new GitWorkspace({ dir, repository: root });
  await workspace.open(`run-${turn}`);
}

/** A file is there that was not there before. */
function change({ run }: Repository, turn: number): void {
  writeFileSync(join(run.dir, 'changed.txt'), `${turn}\n`);
}

/** Of the one CPU time that git takes for all files, however few have changed. */
const LOOKS = 'git looks at the time of every file';

const CLOCK_TICK_MS = 10;
const TURNS = 3;

/** CPU milliseconds of one turn, with those of the processes that it started: the median of some, after one that is not counted. */
async function cpuMsWithChildren(work: (turn: number) => unknown): Promise<number> {
  const used: number[] = [];
  for (let turn = 0; turn <= TURNS; turn += 1) {
    const before = ticks();
    await work(turn);
    if (turn > 0) used.push((ticks() - before) * CLOCK_TICK_MS);
  }
  return Math.max(median(used), CLOCK_TICK_MS);
}

/** User and system time of this process and the ended ones that it started. */
function ticks(): number {
  const stat = readFileSync('/proc/self/stat', 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
}

export const manyFiles: Subject<Repository> = {
  name: 'files',
  of: 'A repository of so many files of 1,200 bytes',
  sizes: [500, 5000, 50_000],
  open: (dir, files) => opened(dir, { files, bytes: 1200, commits: 1 }),
  cost: cpuMsWithChildren,
  looks: [
    { what: 'start a run', look: startAnother, grows: 'git writes every file' },
    {
      what: 'open a run that was begun',
      look: ({ dir, root }) => new GitWorkspace({ dir, repository: root }).open('first'),
    },
    {
      what: 'a snapshot after a change of one file',
      look: (repository, turn) => {
        change(repository, turn);
        return repository.run.snapshot();
      },
      grows: LOOKS,
    },
    {
      what: 'put back what a check left',
      look: (repository, turn) => {
        change(repository, turn);
        return repository.run.discard(repository.tree);
      },
      grows: LOOKS,
    },
  ],
};

export const longHistory: Subject<Repository> = {
  name: 'history',
  of: 'A repository of 20 files and so many commits, each with 20 kB of its own',
  sizes: [100, 1000, 10_000],
  open: (dir, commits) => opened(dir, { files: 20, bytes: 20_000, commits }),
  cost: cpuMsWithChildren,
  looks: [
    { what: 'start a run', look: startAnother },
    {
      what: 'a snapshot after a change of one file',
      look: (repository, turn) => {
        change(repository, turn);
        return repository.run.snapshot();
      },
    },
  ],
};
