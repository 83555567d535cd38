import { mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AgentCall, Orchestrator, type Run, type StageAgents, type TaskRequest } from '@devs/core';
import { fakeAgents, scriptedChecks } from '@devs/core/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { GitWorkspace } from '../../src/workspace/GitWorkspace.ts';
import { bareRepository, gitIn } from './Machine.ts';
import { SharedRuns } from './SharedRuns.ts';

const BRIEF = '# CSV export\n\nExport the table as CSV.\n';
const ID = 'csv-export';
const ada = { kind: 'human', id: 'ada' } as const;
const yes = { approved: true, by: ada } as const;

let root: string;
let url: string;
let runs: SharedRuns;
const calls: string[] = [];

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'devs-pipeline-'));
  url = bareRepository(root, { 'a.txt': 'a\n' });
  runs = new SharedRuns(join(root, 'cluster'));
  calls.length = 0;
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

const agents = (tasks = 2): StageAgents => fakeAgents({ tasks, onCall: (what) => calls.push(what) });

const beside = (name: string, working: StageAgents = agents()) => ({
  agents: working,
  checks: scriptedChecks(),
  workspace: new GitWorkspace({ dir: join(root, name), repository: url, now: () => new Date(0) }),
});

/** An orchestrator on a machine of its own. */
const machine = (name: string, working?: StageAgents): Promise<Orchestrator> =>
  Orchestrator.open({ runs, ...beside(name, working) });

const delivered = (id = ID): readonly string[] =>
  gitIn(join(root, 'origin.git'), 'log', '--reverse', '--format=%T %s', `main..devs/${id}`).split('\n');

async function decideAll(run: Run): Promise<void> {
  for (const gate of await run.gates()) await run.decide(gate, yes);
}

const AUTO = { design: 'auto', dag: 'auto' } as const;

describe('the pipeline on several machines', () => {
  it('goes on on another machine at every gate', async () => {
    const [one, two] = [await machine('one', agents(1)), await machine('two', agents(1))];
    const run = await one.start({ id: ID, brief: BRIEF });
    expect(await runs.work(await one.driver())).toBe(true);
    expect((await run.status()).gates).toMatchObject([{ kind: 'design_approval' }]);
    await decideAll(await two.run(ID));
    await runs.work(await two.driver());
    await decideAll(run);
    expect(await run.gates()).toEqual([]);
    await runs.work(await one.driver());
    expect(await runs.work(await two.driver())).toBe(false);
    expect(await run.status()).toMatchObject({ status: 'completed', driver: null, workspace: null });
    expect(delivered()).toEqual([expect.stringContaining('Task 1')]);
  });

  describe('that loses one in the middle of a task', () => {
    it('goes on with its commits, asks no agent twice, and records no path of any', async () => {
      let reach = (): void => {};
      const reached = new Promise<void>((resolve) => {
        reach = resolve;
      });
      const plain = agents();
      const dying: StageAgents = {
        ...plain,
        implement: (request: TaskRequest, call: AgentCall) =>
          request.task.name === 'Task 2' ? inFlight(call, reach) : plain.implement(request, call),
      };
      const one = await machine('one', dying);
      const run = await one.start({ id: ID, brief: BRIEF, gates: AUTO });
      const died = runs.work(await one.driver()).catch((error: unknown) => error);
      await reached;
      renameSync(join(root, 'one'), join(root, 'lost'));

      const two = await machine('two');
      const { status, commits } = await (await two.run(ID)).resume();
      expect(status).toBe('completed');
      expect(commits).toHaveLength(2);
      await died;
      expect(calls.filter((what) => what === 'T1 implement')).toHaveLength(1);
      expect(calls.filter((what) => what === 'T2 test')).toHaveLength(1);
      expect(delivered()).toHaveLength(2);
      expect((await run.status()).status).toBe('completed');
      expect(await tablesNaming(root)).toEqual([]);
    });
  });
});

/** Tables of the run's file with a row that has a text. */
async function tablesNaming(text: string): Promise<readonly string[]> {
  const { db, close } = await runs.open(ID);
  const all = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'";
  const tables = db.prepare<[], string>(all).pluck().all();
  const naming = tables.filter((table) =>
    db
      .prepare<[], object>(`SELECT * FROM ${table}`)
      .all()
      .some((row) => JSON.stringify(row).includes(text)),
  );
  close();
  return naming;
}

/** A call that has begun and ends with its driver. */
function inFlight({ signal }: AgentCall, begun: () => void): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    begun();
  });
}

describe('a handle on a run that is elsewhere', () => {
  let run: Run;
  let one: Orchestrator;

  beforeEach(async () => {
    one = await machine('one');
    run = await one.start({ id: ID, brief: BRIEF });
  });

  it('is the run that was started before, and no other of its name', async () => {
    expect((await one.start({ id: ID, brief: BRIEF })).id).toBe(ID);
    await expect(one.start({ id: ID, brief: 'Another one' })).rejects.toMatchObject({
      code: 'THREAD_EXISTS',
    });
    await expect(one.run('nobody')).rejects.toMatchObject({ code: 'THREAD_NOT_FOUND' });
    expect(await one.ids()).toEqual([ID]);
    expect(await one.list()).toMatchObject([{ id: ID, title: 'CSV export', status: 'created' }]);
  });

  it('refuses what a handle on a local one refuses, and tells nothing of it', async () => {
    await runs.work(await one.driver());
    const [gate] = await run.gates();
    if (gate === undefined) throw new TypeError('Expected a gate.');
    const agent = { kind: 'agent', id: 'a' } as never;
    await expect(run.decide(gate, { approved: true, by: agent })).rejects.toMatchObject({
      code: 'AGENT_MAY_NOT_DECIDE',
    });
    await expect(run.decide({ ...gate, artifactHash: 'f'.repeat(64) }, yes)).rejects.toMatchObject({
      code: 'GATE_STALE',
    });
    expect(await runs.work(await one.driver())).toBe(false);
    await run.decide(gate, yes);
    await expect(run.decide(gate, yes)).rejects.toMatchObject({ code: 'GATE_ALREADY_DECIDED' });
    expect((await one.gatesNamed(gate.sessionId)).map(({ sessionId }) => sessionId)).toEqual([
      gate.sessionId,
    ]);
  });

  it('edits, pauses and cancels by telling', async () => {
    await runs.work(await one.driver());
    const [gate] = await run.gates();
    if (gate === undefined) throw new TypeError('Expected a gate.');
    await run.decide(gate, { action: 'edit', ...(await run.draft(gate)), by: ada });
    await runs.work(await one.driver());
    const [again] = await run.gates();
    expect(again).toMatchObject({ kind: 'design_approval' });
    await run.cancel();
    await runs.work(await one.driver());
    expect(await run.status()).toMatchObject({ status: 'cancelled', gates: [] });
    expect(await one.gates()).toEqual([]);
  });

  it('says what works in a local file alone', async () => {
    const author = { name: 'ada', email: 'ada@localhost' };
    for (const work of [
      run.adopt({ by: ada, author }),
      run.commits(),
      one.verify(),
      one.collect(),
      one.backup('x'),
    ])
      await expect(work).rejects.toMatchObject({ code: 'RUN_ELSEWHERE' });
  });

  it('takes a change that is made while nobody drives', async () => {
    const { kept } = await run.prune({ keep: 1 } as never).catch(() => ({ kept: 0 }));
    expect(kept).toBe(0);
    await runs.work(await one.driver());
    expect(await run.agentsRef()).toBeNull();
    expect(await run.log({ limit: 3 })).toHaveLength(3);
  });
});
