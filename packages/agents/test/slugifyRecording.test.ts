import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { CheckResult, PlanResult, RunWorkspace, TaskRequest } from '@devs/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NODE_TESTS } from '../../core/test/support/nodeTests.ts';
import { CommandChecks, GitWorkspace, ReplayAgents } from '../src/index.ts';
import { readRecording } from '../src/replay/Recording.ts';

const EXAMPLE = fileURLToPath(new URL('../../../examples/slugify/', import.meta.url));
const FILE = join(EXAMPLE, 'recording.jsonl');

/** The recording's answers to any request: this suite tries the files, not what a run would ask. */
function answersOnly(): ReplayAgents {
  const { header, calls } = readRecording(FILE);
  return new ReplayAgents({ header, calls: calls.map(({ request: _request, ...call }) => call) });
}

describe('the slugify recording', () => {
  const agents = answersOnly();
  const { signal } = new AbortController();
  const call = { idempotencyKey: 'k', signal, usage: () => undefined };
  const quick = new CommandChecks({ argv: NODE_TESTS });
  let dir: string;
  let run: RunWorkspace;
  let plan: PlanResult;

  const check = (checks = quick): Promise<CheckResult> => checks.run({ dir: run.dir, signal });
  const requestOf = (number: number): TaskRequest => {
    const task = plan.epics[0]?.tasks[number - 1];
    if (task === undefined) throw new RangeError(`The plan has no task ${number}.`);
    const { name, description, acceptanceCriteria } = task;
    return {
      task: { taskId: `slugify-000000:${number}`, name, description, acceptanceCriteria },
      documents: [],
      attempt: 1,
      lastFailure: null,
      guidance: [],
      workspace: run,
    };
  };

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'devs-slugify-'));
    run = await new GitWorkspace({ dir }).open('slugify');
    plan = await agents.distill({ brief: '', attempt: 1, documents: [], feedback: null }, call);
  });

  afterAll(() => rm(dir, { recursive: true, force: true }));

  it('is labelled scripted and covers the whole plan', async () => {
    const { documents } = await agents.design({ brief: '', attempt: 1, documents: [], feedback: null }, call);
    expect(agents.provenance).toBe('scripted');
    expect(documents.map(({ type }) => type)).toEqual(['PRD', 'TAS']);
    const tasks = plan.epics.flatMap((epic) => epic.tasks);
    const traced = new Set(tasks.flatMap((task) => task.requirements));
    expect([...traced].sort()).toEqual(plan.requirements.map(({ externalId }) => externalId));
    expect(tasks).toHaveLength(3);
  });

  it('says what the files in script/ say', async () => {
    const fresh = join(dir, 'fresh.jsonl');
    await promisify(execFile)(process.execPath, [join(EXAMPLE, 'make-recording.mjs'), fresh]);
    const answers = (file: string): readonly unknown[] =>
      readRecording(file).calls.map(({ request: _request, usage: _usage, ...call }) => call);
    expect(answers(FILE)).toEqual(answers(fresh));
  });

  it.each([1, 2, 3])(
    'has a test for task %i that fails before the code is there and passes after',
    async (n) => {
      const request = requestOf(n);
      await run.apply((await agents.writeTest(request, call)).files);
      expect(await check()).toMatchObject({ passed: false, timedOut: false, exitCode: 1 });
      await run.apply((await agents.implement(request, call)).files);
      expect(await check()).toMatchObject({ passed: true });
      expect(await agents.review(request, call)).toMatchObject({ approved: true });
      await run.apply((await agents.document(request, call)).files);
      await run.commit({ tree: await run.snapshot(), message: request.task.name, stepKey: `T${n}` });
    },
  );

  it('ends as a package whose npm test passes, with one commit per task', async () => {
    expect(await check(new CommandChecks())).toMatchObject({ passed: true, command: 'npm test' });
    expect(await run.log()).toHaveLength(3);
    expect((await readdir(run.dir)).sort()).toEqual(['.git', 'README.md', 'package.json', 'src', 'test']);
  });
});
