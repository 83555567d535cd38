import { renameSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, onTestFinished } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { only } from '../../../test/support/only.ts';
import { loadOrchestratorConfig } from '../../config/orchestratorConfig.ts';
import { createDatabase } from '../../db/createDatabase.ts';
import { DevsError, isDevsError } from '../../errors/DevsError.ts';
import { everyTable } from '../../orchestration/__tests__/everyTable.ts';
import { fakeAgents, MemoryWorkspace, scriptedChecks } from '../../testing/index.ts';
import { Orchestrator, type OrchestratorOptions } from '../Orchestrator.ts';
import type { Run } from '../Run.ts';
import type { PipelineResult } from '../views.ts';

const BRIEF = '# CSV export\n\nExport the table as CSV.\n';
const ada = { kind: 'human', id: 'ada' } as const;
const yes = { approved: true, by: ada } as const;

const withAgents = (calls: string[] = []): Pick<OrchestratorOptions, 'agents' | 'workspace' | 'checks'> => ({
  agents: fakeAgents({ onCall: (what) => calls.push(what) }),
  workspace: new MemoryWorkspace(),
  checks: scriptedChecks(),
});

/** An orchestrator on the folder of `dbPath`, closed after the test. */
async function open(dbPath: string, options: Partial<OrchestratorOptions> = {}): Promise<Orchestrator> {
  const devs = await Orchestrator.open({ dir: path.dirname(dbPath), ...options });
  onTestFinished(() => devs.close());
  return devs;
}

/** Approves every gate until the run ends. */
async function toTheEnd(run: Run): Promise<PipelineResult> {
  let result = await run.resume();
  while (result.status === 'waiting') {
    for (const gate of result.gates) await run.decide(gate, yes);
    result = await run.resume();
  }
  return result;
}

async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
  } catch (error) {
    return isDevsError(error) ? error.code : String(error);
  }
  return 'nothing was refused';
}

describe('Orchestrator', () => {
  test('takes a brief through both gates to one commit per task', async ({ dbPath }) => {
    const devs = await open(dbPath, withAgents());
    const run = await devs.start({ id: 'csv-export', brief: BRIEF });

    const atDesign = await run.resume();
    expect(atDesign).toMatchObject({ status: 'waiting', gates: [{ kind: 'design_approval' }] });
    await run.decide(only(atDesign.gates), yes);
    const atDag = await run.resume();
    expect(atDag).toMatchObject({ status: 'waiting', gates: [{ kind: 'dag_approval' }] });
    await run.decide(only(atDag.gates), yes);

    const done = await run.resume();
    expect(done.status).toBe('completed');
    expect(done.commits.map(({ subject }) => subject)).toEqual(['Task 1', 'Task 2', 'Task 3']);
  });

  test('goes on in another process at every gate, and asks no agent twice', async ({ dbPath }) => {
    const calls: string[] = [];
    const options = withAgents(calls);
    const first = await open(dbPath, options);
    await (await first.start({ id: 'csv-export', brief: BRIEF })).resume();
    first.close();
    let status = 'waiting';
    for (let processes = 0; status === 'waiting' && processes < 5; processes += 1) {
      const next = await open(dbPath, options);
      const run = await next.start({ brief: BRIEF, id: 'csv-export' });
      for (const gate of await run.gates()) await run.decide(gate, yes);
      ({ status } = await run.resume());
      next.close();
    }
    expect(status).toBe('completed');
    expect(calls).toHaveLength(new Set(calls).size);
  });

  test('refuses a limit that its agents do not report before anything is written, also of agents that take over', async ({
    db,
    dbPath,
  }) => {
    const calls: string[] = [];
    const given = withAgents(calls);
    const silent = { name: 'silent', tokens: false, cost: false };
    const mute = { ...given, agents: { ...fakeAgents(), name: 'silent', reports: [silent] } };
    const budget = { tokens: 1000 };
    const muted = await open(dbPath, { ...mute, budget });
    const before = everyTable(db);
    expect(await codeOf(muted.start({ brief: BRIEF }))).toBe('CONFIG_INVALID');
    expect(await codeOf(muted.start({ brief: BRIEF, budget: { perTask: { usd: 1 } } }))).toBe(
      'CONFIG_INVALID',
    );
    expect(everyTable(db)).toEqual(before);
    const run = await (await open(dbPath, given)).start({ id: 'counted', brief: BRIEF, budget });
    const taken = await (await open(dbPath, mute)).run('counted');
    await expect(taken.resume()).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining('silent does not report its tokens'),
    });
    expect(calls).toEqual([]);
    expect((await run.resume()).status).toBe('waiting');
    expect(await codeOf(taken.resume())).toBe('CONFIG_INVALID');
    // A run is not stopped by what its own agents have reported from its start.
    const free = await (await open(dbPath, mute)).start({ id: 'free', brief: BRIEF, budget: { calls: 90 } });
    expect((await free.resume()).status).toBe('waiting');
  });

  test('without agents runs the whole topology, and writes nothing outside its file', async ({ dbPath }) => {
    const devs = await open(dbPath);
    const run = await devs.start({ brief: BRIEF });
    expect(run.id).toMatch(/^csv-export-[0-9a-f]{6}$/);
    expect(await toTheEnd(run)).toEqual({
      status: 'completed',
      reason: null,
      gates: [],
      commits: [],
      cost: { tokensIn: 0, tokensOut: 0, costUsd: 0, calls: 0, requests: 0, unpriced: 0 },
      delivery: null,
    });
  });

  test('keeps secrets of a brief out of its file', async ({ db, dbPath }) => {
    const devs = await open(dbPath, withAgents());
    const secret = 'ghp_0123456789abcdefghijklmnopqrstuvwxyz';
    const run = await devs.start({ id: 'r', brief: `# Use ${secret}\n\nThe key is ${secret}.` });
    await toTheEnd(run);
    expect(everyTable(db)).not.toContain(secret);
    expect((await run.state())?.documents[0]?.content).toContain('[REDACTED:github]');
  });
});

describe('start', () => {
  test('is idempotent: the same brief under the same id is the same run', async ({ db, dbPath }) => {
    const devs = await open(dbPath);
    await devs.start({ id: 'r', brief: BRIEF });
    const before = everyTable(db);
    await devs.start({ id: 'r', brief: BRIEF, gates: { dag: 'auto' } });
    expect(everyTable(db)).toBe(before);
  });

  test('refuses another brief under a known id', async ({ db, dbPath }) => {
    const devs = await open(dbPath);
    await devs.start({ id: 'r', brief: BRIEF });
    const before = everyTable(db);
    await expect(devs.start({ id: 'r', brief: `${BRIEF}And more.` })).rejects.toMatchObject({
      code: 'THREAD_EXISTS',
    });
    expect(everyTable(db)).toBe(before);
  });

  test.for(['', '-a', 'a-', 'A', 'a/b', '..', 'a b', 'a.b', 'ü', 'x'.repeat(65)])(
    'refuses the id "%s", which cannot name a folder',
    async (id, { dbPath }) => {
      const devs = await open(dbPath);
      await expect(devs.start({ id, brief: BRIEF })).rejects.toThrow(RangeError);
      expect(await devs.list()).toEqual([]);
    },
  );

  test('refuses an empty brief', async ({ dbPath }) => {
    await expect((await open(dbPath)).start({ brief: ' \n' })).rejects.toThrow(TypeError);
  });

  test('needs workspace and checks together with agents', async ({ dbPath }) => {
    await expect(open(dbPath, { agents: fakeAgents() })).rejects.toThrow(/workspace/);
  });

  test('executes nothing', async ({ dbPath }) => {
    const calls: string[] = [];
    const devs = await open(dbPath, withAgents(calls));
    const run = await devs.start({ id: 'r', brief: BRIEF });
    expect(await run.status()).toMatchObject({ status: 'created', driver: null, tasks: [], gates: [] });
    expect([calls, await run.state(), await run.log()]).toEqual([[], null, []]);
  });
});

describe('policies', () => {
  test('declared for both gates leave nothing to a human, and are part of the record', async ({
    db,
    dbPath,
  }) => {
    const devs = await open(dbPath, withAgents());
    const run = await devs.start({ id: 'r', brief: BRIEF, gates: { design: 'auto', dag: 'auto' } });
    expect((await run.resume()).status).toBe('completed');
    const decided = db.prepare('SELECT kind, status, principal_kind, principal_id FROM hitl_sessions').all();
    expect(decided).toEqual([
      {
        kind: 'design_approval',
        status: 'resumed',
        principal_kind: 'policy',
        principal_id: 'design_approval=auto',
      },
      {
        kind: 'dag_approval',
        status: 'resumed',
        principal_kind: 'policy',
        principal_id: 'dag_approval=auto',
      },
    ]);
    const { hitlDecisions } = (await run.state()) ?? {};
    expect(hitlDecisions?.map(({ signal }) => signal.approvedBy)).toEqual([
      'design_approval=auto',
      'dag_approval=auto',
    ]);
  });

  test('cover only the gate they name', async ({ dbPath }) => {
    const devs = await open(dbPath);
    const run = await devs.start({ id: 'r', brief: BRIEF, gates: { design: 'auto' } });
    const { gates } = await run.resume();
    expect(only(gates).kind).toBe('dag_approval');
  });

  test('cannot be claimed by somebody who decides', async ({ db, dbPath }) => {
    const devs = await open(dbPath);
    const run = await devs.start({ id: 'r', brief: BRIEF, gates: { dag: 'auto' } });
    const gate = only((await run.resume()).gates);
    const before = everyTable(db);
    const claim = (by: object) => codeOf(run.decide(gate, { approved: true, by: by as typeof ada }));
    expect(await claim({ kind: 'policy', id: 'dag_approval=auto' })).toBe('POLICY_NOT_DECLARED');
    expect(await claim({ kind: 'agent', id: 'a' })).toBe('AGENT_MAY_NOT_DECIDE');
    expect(await claim({ kind: 'human', id: '' })).toMatch(/TypeError/);
    expect(await claim({ kind: 'root', id: 'a' })).toMatch(/TypeError/);
    expect(everyTable(db)).toBe(before);
  });
});

describe('a gate', () => {
  test('shows what will run, to the letter, and a rejection changes what is shown', async ({ dbPath }) => {
    const devs = await open(dbPath, withAgents());
    const run = await devs.start({ id: 'r', brief: BRIEF });
    const first = only((await run.resume()).gates);
    expect(first.artifact).toMatchObject({
      documents: [{ type: 'BRIEF' }, { type: 'RESEARCH' }, { type: 'PRD', content: 'Design 1', version: 1 }],
    });
    await run.decide(first, { approved: false, feedback: 'Smaller.', by: ada });
    const second = only((await run.resume()).gates);
    expect(second.artifact).toMatchObject({
      documents: [{}, {}, { type: 'PRD', content: 'Design 2', version: 2 }],
    });
    expect(await codeOf(run.decide({ ...second, artifactHash: first.artifactHash }, yes))).toBe('GATE_STALE');
    expect(await codeOf(run.decide(first, yes))).toBe('GATE_ALREADY_DECIDED');
    await run.decide(second, yes);
    expect(only((await run.resume()).gates).kind).toBe('dag_approval');
    expect((await run.state())?.hitlDecisions.at(-1)?.artifactHash).toBe(second.artifactHash);
  });
});

describe('a project that is moved', () => {
  /** Keeps its folders where `GitWorkspace` does. */
  class ProjectWorkspace extends MemoryWorkspace {
    readonly #project: string;

    constructor(project: string) {
      super();
      this.#project = project;
    }

    override dirOf(threadId: string): string {
      return path.join(this.#project, '.devs-work', threadId);
    }
  }

  test('keeps its runs, with their folders where they are now', async ({ dbPath }) => {
    const [before, after] = ['before', 'after'].map((name) => path.join(path.dirname(dbPath), name)) as [
      string,
      string,
    ];
    const openIn = (project: string): Promise<Orchestrator> => {
      const workspace = new ProjectWorkspace(project);
      return Orchestrator.open({ ...withAgents(), dir: path.join(project, '.devs'), workspace });
    };
    const devs = await openIn(before);
    const run = await devs.start({ id: 'r', brief: BRIEF });
    expect((await run.status()).workspace).toBe(path.join(before, '.devs-work', 'r'));
    devs.close();
    renameSync(before, after);
    const moved = await openIn(after);
    onTestFinished(() => moved.close());
    const movedRun = await moved.run('r');
    expect((await movedRun.status()).workspace).toBe(path.join(after, '.devs-work', 'r'));
    expect(await toTheEnd(movedRun)).toMatchObject({ status: 'completed' });
    const db = createDatabase({ dbPath: path.join(after, '.devs', 'state.sqlite') });
    expect(db.prepare('SELECT workspace FROM threads').pluck().all()).toEqual(['../.devs-work/r']);
    db.close();
  });
});

describe('reading', () => {
  test('tells where a run stands without driving it', async ({ dbPath }) => {
    const devs = await open(dbPath, withAgents());
    const run = await devs.start({ id: 'r', brief: BRIEF, agentsRef: 'fake' });
    await run.resume();
    for (const gate of await run.gates()) await run.decide(gate, yes);
    await run.resume();
    expect(await run.status()).toMatchObject({
      id: 'r',
      title: 'CSV export',
      status: 'waiting',
      reason: '1 open gate(s)',
      driver: null,
      degraded: false,
      agents: { name: 'fake', provenance: 'scripted' },
      workspace: '/memory/r',
      tasks: [
        { taskId: 'r:1', label: 'T1', name: 'Task 1', status: 'pending', gitHash: null },
        { label: 'T2' },
        { label: 'T3' },
      ],
      gates: [{ kind: 'dag_approval' }],
    });
    expect(await run.agentsRef()).toBe('fake');
    expect((await devs.list()).map(({ id }) => id)).toEqual(['r']);
  });

  test('tells the story of a run in order, and from any point on', async ({ dbPath }) => {
    const devs = await open(dbPath, withAgents());
    const run = await devs.start({ id: 'r', brief: BRIEF });
    await toTheEnd(run);
    const log = await run.log();
    expect(log.map(({ seq }) => seq)).toEqual(log.map(({ seq }) => seq).sort((a, b) => a - b));
    expect(log.filter(({ name }) => name === 'TASK_COMPLETED').map(({ taskId }) => taskId)).toEqual([
      'r:1',
      'r:2',
      'r:3',
    ]);
    expect(log.at(-1)).toMatchObject({ name: 'RUN_FINISHED', payload: { outcome: 'completed' } });
    const middle = log[10]?.seq ?? 0;
    expect(await run.log({ afterSeq: middle })).toEqual(log.slice(11));
  });

  test('tells the depth of a run: it grows without progress and falls with a decision', async ({
    dbPath,
  }) => {
    const devs = await open(dbPath, { config: { ...loadOrchestratorConfig(), maxRecursionDepth: 50 } });
    const run = await devs.start({ id: 'r', brief: BRIEF });
    expect(await run.recursionDepth()).toEqual({ current: 0, limit: 50, warningAt: 40 });
    await run.resume();
    expect((await run.recursionDepth()).current).toBe(3);
    for (const gate of await run.gates()) await run.decide(gate, yes);
    await run.resume();
    expect((await run.recursionDepth()).current).toBe(2);
  });

  test('of an unknown run is refused by name', async ({ dbPath }) => {
    const devs = await open(dbPath);
    expect(await codeOf(devs.run('nobody'))).toBe('THREAD_NOT_FOUND');
  });

  test('works beside a driver, and cannot decide or drive', async ({ dbPath }) => {
    const devs = await open(dbPath);
    const run = await devs.start({ id: 'r', brief: BRIEF });
    await run.resume();
    const viewer = await (await open(dbPath, { readOnly: true })).run('r');
    const gate = only(await viewer.gates());
    expect(await viewer.status()).toEqual(await run.status());
    await expect(viewer.decide(gate, yes)).rejects.toThrow();
    await expect(viewer.resume()).rejects.toThrow();
    expect(only(await run.gates())).toEqual(gate);
  });
});

describe('a run with agents', () => {
  test('cannot be driven without them', async ({ dbPath }) => {
    const devs = await open(dbPath, withAgents());
    await devs.start({ id: 'r', brief: BRIEF });
    const without = await open(dbPath);
    await expect((await without.run('r')).resume()).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  });

  test('ends what they keep running when its drive has ended, however it ended', async ({ dbPath }) => {
    const agents = fakeAgents();
    let closed = 0;
    const close = async (): Promise<void> => {
      closed += 1;
      throw new Error('cannot be closed');
    };
    const design: typeof agents.design = async () => {
      throw new TypeError('broken');
    };
    const waits = await open(dbPath, { ...withAgents(), agents: { ...agents, close } });
    const run = await waits.start({ id: 'r', brief: BRIEF });
    await run.resume();
    expect(closed).toBe(1);
    const fails = await open(dbPath, { ...withAgents(), agents: { ...agents, design, close } });
    await (await fails.start({ id: 's', brief: BRIEF })).resume().catch(() => undefined);
    expect(closed).toBe(2);
  });

  test('adds up what they cost', async ({ dbPath }) => {
    const agents = fakeAgents();
    const design: typeof agents.design = (request, call) => {
      call.usage({ tokensIn: 100, tokensOut: 20, costUsd: 0.5 });
      return agents.design(request, call);
    };
    const devs = await open(dbPath, { ...withAgents(), agents: { ...agents, design } });
    const run = await devs.start({ id: 'r', brief: BRIEF });
    expect((await run.resume()).cost).toEqual({
      tokensIn: 100,
      tokensOut: 20,
      costUsd: 0.5,
      calls: 1,
      requests: 2,
      unpriced: 1,
    });
  });

  test('that is stopped in the middle of a task repeats no call that is on record', async ({
    db,
    dbPath,
  }) => {
    const calls: string[] = [];
    const stop = new AbortController();
    const options = withAgents(calls);
    const devs = await open(dbPath, options);
    devs.events.on('STEP_FINISHED', ({ step }) => {
      if (step === 'implement') stop.abort();
    });
    const run = await devs.start({ id: 'r', brief: BRIEF, gates: { design: 'auto', dag: 'auto' } });
    expect((await run.resume({ drain: stop.signal })).status).toBe('paused');
    expect(calls.at(-1)).toBe('T1 implement');
    expect(db.prepare("SELECT count(*) FROM agent_steps WHERE state = 'intent'").pluck().get()).toBe(0);
    expect((await run.resume()).commits).toHaveLength(3);
    expect(calls).toHaveLength(new Set(calls).size);
  });

  test('leaves an engine fault as it is: the run stays resumable', async ({ dbPath }) => {
    const checks = scriptedChecks();
    let isFull = true;
    const devs = await open(dbPath, {
      ...withAgents(),
      checks: {
        run: async (request) => {
          if (!isFull) return checks.run(request);
          throw new DevsError('The disk is full.', { code: 'STATE_DISK_FULL', remedy: 'Free space.' });
        },
      },
    });
    const run = await devs.start({ id: 'r', brief: BRIEF, gates: { design: 'auto', dag: 'auto' } });
    await expect(run.resume()).rejects.toMatchObject({ code: 'STATE_DISK_FULL' });
    isFull = false;
    expect((await run.resume()).status).toBe('completed');
  });
});
