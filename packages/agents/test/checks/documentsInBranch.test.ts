import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GitWorkspace } from '@devs/agents';
import {
  type CheckRequest,
  documentFiles,
  type GraphState,
  Orchestrator,
  type ReviewRequest,
  type Run,
  type StageAgents,
} from '@devs/core';
import { fakeAgents } from '@devs/core/testing';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';

let dir: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'devs-documents-'));
});

afterEach(() => rmSync(dir, { recursive: true, force: true }));

const checks = {
  run: async ({ dir: folder, expect: wanted }: CheckRequest) => {
    const has = (path: string): boolean => existsSync(join(folder, path));
    const passed = wanted !== 'fail' && has('docs/devs/r/PRD.md') === has('implement/1.txt');
    return { passed, exitCode: passed ? 0 : 1, timedOut: false, output: '', command: 'check' };
  },
};

/** Every stage that edits writes over the design, too. */
function careless(reviews: ReviewRequest[]): StageAgents {
  const agents = fakeAgents({ tasks: 2 });
  const also =
    (work: StageAgents['implement']): StageAgents['implement'] =>
    async (request, call) => {
      const { files, ...result } = await work(request, call);
      return { ...result, files: [...files, { path: 'docs/devs/r/PRD.md', content: 'mine\n' }] };
    };
  return {
    ...agents,
    writeTest: also(agents.writeTest),
    implement: also(agents.implement),
    document: also(agents.document),
    review: (request, call) => {
      reviews.push(request);
      return agents.review(request, call);
    },
  };
}

const git = (...args: readonly string[]): string =>
  execFileSync('git', ['-C', dir, '-c', 'user.name=a', '-c', 'user.email=a@localhost', ...args], {
    encoding: 'utf8',
  }).trimEnd();

function commit(path: string): void {
  writeFileSync(join(dir, path), `${path}\n`);
  git('add', path);
  git('commit', '-qm', path);
}

/** A run `r` of the repository in `dir`, driven to its end. */
async function runOf(agents: StageAgents): Promise<Run> {
  git('init', '-q');
  commit('a.txt');
  const workspace = new GitWorkspace({ dir, repository: dir });
  const devs = await Orchestrator.open({ dir: join(dir, '.devs'), agents, workspace, checks });
  onTestFinished(() => devs.close());
  const gates = { design: 'auto', dag: 'auto' } as const;
  const run = await devs.start({ id: 'r', brief: '# R\n', gates, docsInBranch: true });
  expect(await run.resume()).toMatchObject({ status: 'completed', commits: { length: 2 } });
  return run;
}

/** The files of the branch, byte for byte. */
function inBranch(): Readonly<Record<string, Buffer>> {
  const names = git('ls-tree', '--name-only', 'devs/r:docs/devs/r').split('\n');
  const blob = (name: string) =>
    execFileSync('git', ['-C', dir, 'cat-file', 'blob', `devs/r:docs/devs/r/${name}`]);
  return Object.fromEntries(names.map((name) => [name, blob(name)]));
}

async function asDocuments(run: Run): Promise<Readonly<Record<string, Buffer>>> {
  const documents = documentFiles((await run.state()) as GraphState);
  expect(documents.map(({ path }) => path)).toEqual(
    expect.arrayContaining(['BRIEF.md', 'PRD.md', 'PLAN.md']),
  );
  return Object.fromEntries(documents.map(({ path, content }) => [path, Buffer.from(content)]));
}

test('the documents of a run are files of its branch, as approved, and no part of the work, also after rewind and sync', {
  timeout: 120_000, // some hundred processes of git
}, async () => {
  const reviews: ReviewRequest[] = [];
  const run = await runOf(careless(reviews));
  expect(inBranch()).toEqual(await asDocuments(run));
  for (const name of Object.keys(inBranch())) {
    expect(git('log', '--format=%s', 'devs/r', '--', `docs/devs/r/${name}`).split('\n')).toHaveLength(1);
  }
  expect(git('diff', '--name-only', 'devs/r~1', 'devs/r').split('\n')).toEqual([
    'document/2.txt',
    'implement/2.txt',
    'test/2.txt',
  ]);
  const tasks = (await run.state())?.tasks ?? [];
  expect(tasks.map(({ testFiles }) => testFiles)).toEqual([['test/1.txt'], ['test/2.txt']]);
  expect(reviews.map(({ files }) => files?.map(({ path }) => path))).toEqual([
    ['document/1.txt', 'implement/1.txt', 'test/1.txt'],
    ['document/2.txt', 'implement/2.txt', 'test/2.txt'],
  ]);

  const by = { kind: 'human', id: 'ada' } as const;
  await run.rewind('T1', { by });
  expect(await run.resume()).toMatchObject({ status: 'completed' });
  expect(inBranch()).toEqual(await asDocuments(run));

  commit('b.txt');
  expect(await run.sync({ by })).not.toBeNull();
  expect(git('ls-tree', '--name-only', 'devs/r')).toContain('b.txt');
  expect(inBranch()).toEqual(await asDocuments(run));
});
