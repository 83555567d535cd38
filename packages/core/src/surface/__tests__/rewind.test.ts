import path from 'node:path';
import { describe, expect } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { openOrchestrator } from '../../../test/support/runs/orchestrator.ts';
import { notThroughRuns } from '../../../test/support/runs/where.ts';
import { openReadOnly } from '../../db/createDatabase.ts';
import type { GateAnswer } from '../../engine/gates/Gate.ts';
import { DevsError } from '../../errors/DevsError.ts';
import type { BranchMove, CommitRequest, StageAgents } from '../../orchestration/ports.ts';
import { CheckpointPersister } from '../../state/CheckpointPersister.ts';
import { doctor } from '../../state/doctor/doctor.ts';
import { HitlSessionStore } from '../../state/gates/HitlSessionStore.ts';
import { FailureGateStore } from '../../state/guards/FailureGateStore.ts';
import { RewindStore } from '../../state/runs/RewindStore.ts';
import { StepStore } from '../../state/steps/StepStore.ts';
import { ThreadStore } from '../../state/threads/ThreadStore.ts';
import { aPlan } from '../../testing/fakeAgents.ts';
import { fakeAgents, MemoryWorkspace, scriptedChecks } from '../../testing/index.ts';
import { MemoryRunWorkspace } from '../../testing/MemoryWorkspace.ts';
import type { OrchestratorOptions } from '../Orchestrator.ts';

const ADA = { kind: 'human', id: 'ada' } as const;
const AUTO = { design: 'auto', dag: 'auto' } as const;

/** A run of three tasks, each depending on the one before; its state file stays readable when it is driven. */
async function start(
  dbPath: string,
  options: Partial<OrchestratorOptions> = {},
  agents: Partial<StageAgents> = {},
) {
  const calls: string[] = [];
  const workspace = new MemoryWorkspace();
  const devs = await openOrchestrator({
    dir: path.dirname(dbPath),
    agents: { ...fakeAgents({ onCall: (what) => calls.push(what) }), ...agents },
    workspace,
    checks: scriptedChecks(),
    ...options,
  });
  const run = await devs.start({ id: 'r', brief: '# B', gates: AUTO });
  return { devs, run, calls, workspace };
}

function reading<T>(dbPath: string, read: (db: ReturnType<typeof openReadOnly>) => T): T {
  const db = openReadOnly({ dbPath });
  try {
    return read(db);
  } finally {
    db.close();
  }
}

const statusesOf = async ({ run }: Awaited<ReturnType<typeof start>>): Promise<readonly string[]> =>
  (await run.status()).tasks.map(({ status }) => status);

/** T1 passes its checks; T2 never does, and a human is asked. */
const stuckAtT2 = (): Partial<OrchestratorOptions> => ({
  checks: scriptedChecks([false, true, true, ...Array.from({ length: 60 }, () => false)]),
  config: { maxRecursionDepth: 6, hitlEntropyThreshold: 1 },
});

/** Fails the first `times` calls in a way that ends the drive and leaves the visit begun. */
function outage(times = 1): Partial<StageAgents> {
  const { review } = fakeAgents();
  let left = times;
  return {
    review: async (request, call) => {
      if (request.task.taskId === 'r:2' && left-- > 0)
        throw new DevsError('Gone.', { code: 'SANDBOX_MISSING', remedy: 'Come back.' });
      return review(request, call);
    },
  };
}

describe('Run.rewind', () => {
  test('sets a finished run back, tells who did it, and the run ends again', async ({ dbPath }) => {
    const project = await start(dbPath);
    const { run, calls } = project;
    await run.resume();
    const before = calls.length;
    const secret = `ghp_${'a1B2'.repeat(9)}`;
    const rewound = await run.rewind('T1', { by: ADA, reason: `T2 has the token ${secret}` });
    expect(rewound).toMatchObject({ target: { label: 'T1' }, undone: [{ label: 'T2' }, { label: 'T3' }] });
    expect(await statusesOf(project)).toEqual(['completed', 'pending', 'pending']);
    expect((await run.status()).status).toBe('paused');
    const [view] = (await run.status()).rewinds;
    expect(view).toMatchObject({ target: 'T1', undone: ['T2', 'T3'], principal: 'human:ada', state: 'done' });
    expect(JSON.stringify([view, await run.log()])).not.toContain(secret);
    expect((await run.log()).at(-1)).toMatchObject({
      name: 'REWOUND',
      payload: { undone: 2, tasks: ['r:2', 'r:3'] },
    });

    expect(await run.resume()).toMatchObject({ status: 'completed' });
    const again = calls.slice(before);
    expect(again.some((call) => call.startsWith('T1'))).toBe(false);
    expect(again.filter((call) => call === 'T2 implement')).toHaveLength(1);
    expect(reading(dbPath, (db) => doctor(db).ok)).toBe(true);
  });

  test('keeps the approval of the plan, and asks nobody again', async ({ dbPath }) => {
    const { run } = await start(dbPath);
    await run.resume();
    await run.rewind('T1', { by: ADA });
    await run.resume();
    const decided = (await run.log()).filter(({ name }) => name === 'HITL_SESSION_DECIDED');
    expect(decided).toHaveLength(2);
  });

  test('deletes the turns of what it undid from the journal, and keeps calls with their cost', async ({
    dbPath,
  }) => {
    const { run } = await start(dbPath);
    await run.resume();
    const turns = (task: string) =>
      reading(dbPath, (db) => new CheckpointPersister(db).loadForTask(task).length);
    const steps = () => reading(dbPath, (db) => new StepStore(db).listForThread('r').length);
    const [kept, recorded] = [turns('r:1'), steps()];
    await run.rewind('T1', { by: ADA });
    expect([turns('r:1'), turns('r:2'), turns('r:3')]).toEqual([kept, 0, 0]);
    expect(steps()).toBe(recorded);
  });

  test('withdraws the question that the run waits at', async ({ dbPath }) => {
    const { run } = await start(dbPath, stuckAtT2());
    const { gates } = await run.resume();
    expect(gates).toHaveLength(1);
    const [gate] = gates;
    await run.rewind('T1', { by: ADA });
    expect(await run.gates()).toEqual([]);
    reading(dbPath, (db) => {
      expect(new HitlSessionStore(db).require(gate?.sessionId ?? '').status).toBe('superseded');
      expect(new FailureGateStore(db).findByTask('r:2')).toBeNull();
    });
    await expect(run.decide(gate as never, { action: 'continue', by: ADA })).rejects.toThrow(
      expect.objectContaining({ code: 'GATE_STALE' }),
    );
    expect(await run.state()).toMatchObject({ pendingSuspension: null, activeTaskId: null });
  });

  test('begins a task anew whose driver went away in the middle', async ({ dbPath }) => {
    const project = await start(dbPath, {}, outage());
    const { run, calls } = project;
    await expect(run.resume()).rejects.toMatchObject({ code: 'SANDBOX_MISSING' });
    const written = calls.filter((call) => call === 'T2 implement').length;
    expect(written).toBe(1);
    expect(await run.rewind('T1', { by: ADA })).not.toBeNull();
    expect(await statusesOf(project)).toEqual(['completed', 'pending', 'pending']);
    expect(await run.resume()).toMatchObject({ status: 'completed' });
    expect(calls.filter((call) => call === 'T2 implement')).toHaveLength(2);
  });

  test('takes the task under way as target, too: it is begun anew', async ({ dbPath }) => {
    const project = await start(dbPath, stuckAtT2());
    const { run } = project;
    expect((await run.resume()).status).toBe('waiting');
    const [first, second] = await statusesOf(project);
    expect(first).toBe('completed');
    expect(['failed', 'in_progress']).toContain(second);
    const rewound = await run.rewind('r:2', { by: ADA });
    expect(rewound).toMatchObject({ target: { label: 'T2' }, undone: [{ label: 'T2' }] });
    expect(await statusesOf(project)).toEqual(['completed', 'pending', 'pending']);
  });

  test('has nothing to do when nothing was begun after the task', async ({ dbPath }) => {
    const { run } = await start(dbPath);
    await run.resume();
    const lines = (await run.log()).length;
    expect(await run.rewind('T3', { by: ADA })).toBeNull();
    expect(await run.log()).toHaveLength(lines);
    expect((await run.status()).rewinds).toEqual([]);
  });

  test('previews what it would undo, and changes nothing', async ({ dbPath }) => {
    const project = await start(dbPath);
    await project.run.resume();
    const lines = (await project.run.log()).length;
    expect(await project.run.previewRewind('T2')).toMatchObject({
      undone: [{ label: 'T3', status: 'completed' }],
    });
    expect(await statusesOf(project)).toEqual(['completed', 'completed', 'completed']);
    expect(await project.run.log()).toHaveLength(lines);
  });

  test('refuses agents and policies, other tasks, and runs that are driven or cancelled', async ({
    dbPath,
  }) => {
    const refused: unknown[] = [];
    const { implement } = fakeAgents();
    const { run, devs } = await start(
      dbPath,
      {},
      {
        implement: async (request, call) => {
          refused.push(await run.rewind('T1', { by: ADA }).catch((error: DevsError) => error.code));
          return implement(request, call);
        },
      },
    );
    await expect(run.rewind('T1', { by: ADA })).rejects.toMatchObject({
      context: { reason: 'unknown_task' },
    });
    await run.resume({ only: 'T1' });
    expect(refused).toEqual(['THREAD_BUSY']);
    await expect(run.rewind('T9', { by: ADA })).rejects.toMatchObject({
      code: 'REWIND_REFUSED',
      context: { reason: 'unknown_task' },
    });
    await expect(run.rewind('T2', { by: ADA })).rejects.toMatchObject({ context: { reason: 'not_begun' } });
    await expect(run.rewind('T1', { by: { kind: 'agent', id: 'a' } })).rejects.toMatchObject({
      code: 'AGENT_MAY_NOT_DECIDE',
    });
    await expect(run.rewind('T1', { by: { kind: 'policy', id: 'p' } })).rejects.toMatchObject({
      code: 'POLICY_NOT_DECLARED',
    });
    await run.cancel();
    await run.resume();
    await expect(run.rewind('T1', { by: ADA })).rejects.toMatchObject({ context: { reason: 'ended' } });
    expect((await run.status()).rewinds).toEqual([]);
    devs.close();
  });

  test('works without agents, where there are no files', async ({ dbPath }) => {
    const devs = await openOrchestrator({ dir: path.dirname(dbPath) });
    const run = await devs.start({ id: 'r', brief: '# B', gates: AUTO, tasks: aPlan(2) });
    await run.resume();
    expect(await run.rewind('T1', { by: ADA })).toMatchObject({ commit: null, kept: null, delivery: null });
    expect(await run.resume()).toMatchObject({ status: 'completed' });
  });
});

describe('a rewind of a run whose code is reviewed', () => {
  const reviewed = async (dbPath: string, options: Partial<OrchestratorOptions> = {}) => {
    const project = await start(dbPath, options);
    const { devs } = project;
    return {
      ...project,
      run: await devs.start({ id: 'reviewed', brief: '# B', gates: AUTO, review: 'task' }),
    };
  };
  type Reviewed = Awaited<ReturnType<typeof reviewed>>['run'];

  /** Drives to the next review and answers it; returns the tasks it showed. */
  async function review(run: Reviewed, answer: object): Promise<readonly string[]> {
    const [gate] = (await run.resume()).gates;
    if (gate === undefined) throw new Error('No review is due.');
    await run.decide(gate, { ...answer, by: ADA } as GateAnswer);
    return (gate.artifact as { readonly taskIds: readonly string[] }).taskIds;
  }

  test('shows what is done anew again: an approval holds for the code that was shown', async ({ dbPath }) => {
    const { run } = await reviewed(dbPath);
    for (let task = 1; task <= 3; task += 1) await review(run, { approved: true });
    expect((await run.resume()).status).toBe('completed');
    await run.rewind('T1', { by: ADA });
    expect(await review(run, { approved: true })).toEqual(['reviewed:2']);
    expect(await review(run, { approved: true })).toEqual(['reviewed:3']);
    expect((await run.resume()).status).toBe('completed');
  });

  test('withdraws a review that waits, and asks it anew', async ({ dbPath }) => {
    const { run } = await reviewed(dbPath);
    await review(run, { approved: true });
    const [waiting] = (await run.resume()).gates;
    await run.rewind('T1', { by: ADA });
    expect(await run.gates()).toEqual([]);
    const [again] = (await run.resume()).gates;
    expect(again).toMatchObject({ kind: 'review', artifact: { taskIds: ['reviewed:2'] } });
    expect(again?.sessionId).not.toBe(waiting?.sessionId);
  });

  test('takes every commit of a task out that a human had sent back', async ({ dbPath }) => {
    const { run, workspace } = await reviewed(dbPath);
    await review(run, { approved: true });
    await review(run, { approved: false, feedback: 'Shorter.' });
    expect(await review(run, { approved: true })).toEqual(['reviewed:2']);
    const folder = await workspace.open('reviewed');
    const subjects = (await folder.log()).map(({ subject }) => subject);
    expect(subjects).toEqual(['Task 1', 'Task 2', 'Task 2 (rework 1)']);
    await run.rewind('T1', { by: ADA });
    expect(await folder.list()).toEqual(['document/1.txt', 'implement/1.txt', 'test/1.txt']);
    await run.resume();
    expect((await folder.log()).at(-1)).toMatchObject({ subject: 'Task 2' });
    expect((await run.state())?.guidance).toMatchObject([{ text: 'Shorter.' }]);
  });

  test('goes back to a task that a human had sent back: it is begun anew', async ({ dbPath }) => {
    const workspace = new DyingWorkspace(3);
    const { run } = await reviewed(dbPath, { workspace });
    await review(run, { approved: true });
    await review(run, { approved: false, feedback: 'Shorter.' });
    await expect(run.resume()).rejects.toMatchObject({ code: 'WORKSPACE_FAILED' });
    const folder = await workspace.open('reviewed');
    expect((await folder.log()).at(-1)).toMatchObject({ subject: 'Task 2 (rework 1)' });
    await run.rewind('T2', { by: ADA });
    expect(await folder.list()).toEqual(['document/1.txt', 'implement/1.txt', 'test/1.txt']);
  });
});

describe('a visit that died after its commit', () => {
  test('has its commit taken out, though the state knows nothing of it', async ({ dbPath }) => {
    const workspace = new DyingWorkspace(2);
    const { run } = await start(dbPath, { workspace });
    await expect(run.resume()).rejects.toMatchObject({ code: 'WORKSPACE_FAILED' });
    const folder = await workspace.open('r');
    expect((await folder.log()).map(({ subject }) => subject)).toEqual(['Task 1', 'Task 2']);
    await run.rewind('T1', { by: ADA });
    expect(await folder.list()).toHaveLength(3);
    expect(await run.resume()).toMatchObject({ status: 'completed' });
  });
});

/** Makes a commit of a run, the `last` one, and dies before it says so. */
class DyingWorkspace extends MemoryWorkspace {
  readonly #last: number;
  #isDead = false;

  constructor(last: number) {
    super();
    this.#last = last;
  }

  override async open(threadId: string) {
    const run = await super.open(threadId);
    const commit = MemoryRunWorkspace.prototype.commit.bind(run);
    return Object.assign(run, {
      commit: async (request: CommitRequest) => {
        const made = await commit(request);
        if (this.#isDead || (await run.log()).length < this.#last) return made;
        this.#isDead = true;
        throw new DevsError('Dead.', { code: 'WORKSPACE_FAILED', remedy: 'Again.' });
      },
    });
  }
}

/** A workspace whose folder cannot follow, as often as `failures` says. */
class StuckWorkspace extends MemoryWorkspace {
  failures = 1;

  override async open(threadId: string) {
    const run = await super.open(threadId);
    const follow = MemoryRunWorkspace.prototype.follow.bind(run);
    return Object.assign(run, {
      follow: async (move: BranchMove) => {
        if (this.failures-- > 0) throw new DevsError('No.', { code: 'WORKSPACE_FAILED', remedy: 'Again.' });
        return follow(move);
      },
    });
  }
}

describe('a rewind that is cut off after it was recorded', () => {
  test(
    'is finished by the next drive, before any node',
    notThroughRuns('asks another method'),
    async ({ dbPath }) => {
      const workspace = new StuckWorkspace();
      const project = await start(dbPath, { workspace });
      const { run } = project;
      await run.resume();
      await expect(run.rewind('T1', { by: ADA })).rejects.toMatchObject({ code: 'WORKSPACE_FAILED' });
      expect((await run.status()).rewinds).toMatchObject([{ state: 'unfinished' }]);
      expect(await statusesOf(project)).toEqual(['completed', 'pending', 'pending']);
      const tip = (await run.commits()).length;

      expect(await run.resume()).toMatchObject({ status: 'completed' });
      expect((await run.status()).rewinds).toMatchObject([{ state: 'done' }]);
      const subjects = (await run.commits()).slice(tip).map(({ subject }) => subject);
      expect(subjects).toEqual(['Go back to the end of T1', 'Task 2', 'Task 3']);
    },
  );

  test('keeps the run from going on until its files have followed', async ({ dbPath }) => {
    const workspace = new StuckWorkspace();
    workspace.failures = 2;
    const { run, calls } = await start(dbPath, { workspace });
    await run.resume();
    await expect(run.rewind('T1', { by: ADA })).rejects.toThrow();
    const before = calls.length;
    await expect(run.resume()).rejects.toMatchObject({ code: 'WORKSPACE_FAILED' });
    expect(calls).toHaveLength(before);
    expect(await run.resume()).toMatchObject({ status: 'completed' });
  });
});

describe('Run.undoRewind', () => {
  test('puts tasks, commits and files back, and a finished run is finished', async ({ dbPath }) => {
    const project = await start(dbPath);
    const { run, workspace } = project;
    await run.resume();
    const before = { status: await run.status(), files: await (await workspace.open('r')).list() };
    await run.rewind('T1', { by: ADA });
    expect(await run.undoRewind({ by: ADA, reason: 'by mistake' })).toMatchObject({ target: 'T1' });
    const after = await run.status();
    expect(after.tasks).toEqual(before.status.tasks);
    expect([after.status, await (await workspace.open('r')).list()]).toEqual(['completed', before.files]);
    expect((await run.status()).rewinds).toMatchObject([{ target: 'T1', state: 'undone' }]);
    expect(reading(dbPath, (db) => new RewindStore(db).list('r').map(({ state }) => state))).toEqual([
      'undone',
      'done',
    ]);
    expect((await run.log()).at(-1)).toMatchObject({
      name: 'REWIND_UNDONE',
      payload: { principal: 'human:ada', reason: 'by mistake' },
    });
    expect(await run.resume()).toMatchObject({ status: 'completed' });
  });

  test('is refused once another node has committed, without a rewind, twice, and to agents', async ({
    dbPath,
  }) => {
    const { run } = await start(dbPath);
    const refused = { code: 'REWIND_REFUSED', context: { reason: 'moved_on' } };
    await run.resume();
    await expect(run.undoRewind({ by: ADA })).rejects.toMatchObject(refused);
    await run.rewind('T1', { by: ADA });
    await expect(run.undoRewind({ by: { kind: 'agent', id: 'a' } })).rejects.toMatchObject({
      code: 'AGENT_MAY_NOT_DECIDE',
    });
    await run.undoRewind({ by: ADA });
    await expect(run.undoRewind({ by: ADA })).rejects.toMatchObject(refused);
    await run.rewind('T1', { by: ADA });
    await run.resume({ only: 'T2' });
    await expect(run.undoRewind({ by: ADA })).rejects.toMatchObject(refused);
  });

  test('asks the question again that the run waited at', async ({ dbPath }) => {
    const { run } = await start(dbPath, stuckAtT2());
    const [asked] = (await run.resume()).gates;
    await run.rewind('T2', { by: ADA });
    await run.undoRewind({ by: ADA });
    const { status, gates } = await run.resume();
    expect(status).toBe('waiting');
    expect(gates.map(({ kind }) => kind)).toEqual([asked?.kind]);
    expect(gates[0]?.sessionId).not.toBe(asked?.sessionId);
  });
});

test('a rewind wakes whoever waits for the gate that it withdrew', async ({ dbPath }) => {
  const { run } = await start(dbPath, stuckAtT2());
  await run.resume();
  const stands = () => reading(dbPath, (db) => new ThreadStore(db).require('r'));
  expect(stands().wakeSeq).toBe(stands().handledSeq);
  await run.rewind('T2', { by: ADA });
  expect(stands().wakeSeq).toBeGreaterThan(stands().handledSeq);
  const pending = reading(dbPath, (db) => new ThreadStore(db).signals.pending('r'));
  expect(pending.filter(({ kind }) => kind === 'rewind')).toEqual([]);
});
