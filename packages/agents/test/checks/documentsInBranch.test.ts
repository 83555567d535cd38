import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GitWorkspace } from '@devs/agents';
import { type CheckRequest, Orchestrator, type ReviewRequest, type StageAgents } from '@devs/core';
import { fakeAgents } from '@devs/core/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';

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

async function runOf(agents: StageAgents, docsInBranch: boolean) {
  const git = (...args: readonly string[]): string =>
    execFileSync('git', ['-C', dir, ...args], { encoding: 'utf8' }).trimEnd();
  git('init', '-q');
  writeFileSync(join(dir, 'a.txt'), 'a\n');
  git('add', '-A');
  git('-c', 'user.name=a', '-c', 'user.email=a@localhost', 'commit', '-qm', 'First');
  const workspace = new GitWorkspace({ dir, repository: dir });
  const devs = await Orchestrator.open({ dir: join(dir, '.devs'), agents, workspace, checks });
  const gates = { design: 'auto', dag: 'auto' } as const;
  const run = await devs.start({ id: 'r', brief: '# R\n', gates, docsInBranch });
  const result = await run.drive();
  const documents = await run.documents();
  const tasks = (await run.state())?.tasks ?? [];
  devs.close();
  return { result, documents, tasks, git };
}

test('the documents of a run are files of its branch, as approved, and no part of the work', async () => {
  const reviews: ReviewRequest[] = [];
  const { result, documents, tasks, git } = await runOf(careless(reviews), true);
  expect(result).toMatchObject({ status: 'completed', commits: { length: 2 } });
  expect(documents.map(({ path }) => path)).toEqual(
    expect.arrayContaining(['BRIEF.md', 'PRD.md', 'PLAN.md']),
  );
  for (const { path, content } of documents) {
    expect(git('show', `devs/r:docs/devs/r/${path}`)).toBe(content.trimEnd());
    expect(git('log', '--format=%s', 'devs/r', '--', `docs/devs/r/${path}`).split('\n')).toHaveLength(1);
  }
  expect(git('diff', '--name-only', 'devs/r~1', 'devs/r').split('\n')).toEqual([
    'document/2.txt',
    'implement/2.txt',
    'test/2.txt',
  ]);
  expect(tasks.map(({ testFiles }) => testFiles)).toEqual([['test/1.txt'], ['test/2.txt']]);
  expect(reviews.map(({ files }) => files?.map(({ path }) => path))).toEqual([
    ['document/1.txt', 'implement/1.txt', 'test/1.txt'],
    ['document/2.txt', 'implement/2.txt', 'test/2.txt'],
  ]);
});
