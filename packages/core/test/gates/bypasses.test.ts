import { Command } from '@langchain/langgraph';
import type { Database } from 'better-sqlite3';
import { describe, expect } from 'vitest';
import { ada, says, twoSteps } from '../../src/engine/__tests__/ownGraph.ts';
import { internalsOf } from '../../src/engine/file/appInternals.ts';
import type { Gate } from '../../src/engine/gates/Gate.ts';
import { everyTable } from '../../src/orchestration/__tests__/everyTable.ts';
import { HitlSessionStore } from '../../src/state/gates/HitlSessionStore.ts';
import { test } from '../support/fixtures.ts';
import { only } from '../support/only.ts';
import { durable } from '../support/runs/durable.ts';
import { plant } from '../support/runs/places.ts';
import { notThroughRuns } from '../support/runs/where.ts';

/** A run whose second node is behind a gate, and what reached that node. */
async function aWaitingRun(db: Database) {
  db.pragma('synchronous = OFF'); // nothing dies here
  const guarded: string[] = [];
  const second = (): { readonly log: readonly string[] } => {
    guarded.push('ran');
    return { log: ['second'] };
  };
  const app = durable(twoSteps(says('first'), second), {
    db,
    gates: { second: { show: ({ log }) => log, onReject: () => ({ log: ['rejected'] }) } },
  });
  const gate = only((await app.run('run', {})).gates);
  const interruptId = internalsOf(app).store.sessions.require(gate.sessionId).interruptId ?? '';
  return { app, gate, interruptId, guarded };
}

type Waiting = Awaited<ReturnType<typeof aWaitingRun>>;

interface Bypass {
  readonly name: string;
  readonly attempt: (waiting: Waiting, db: Database) => unknown;
  /** Part of the error; `null` where the attempt is allowed and changes nothing. */
  readonly refusal: string | null;
}

const NO_LEASE = 'LEASE_LOST';
const thread = { configurable: { thread_id: 'run' } };
const APPROVED = { approved: true };
const withProto = JSON.parse('{"approved":true,"__proto__":{"approved":true}}') as object;

const decide =
  (answer: object, change: (gate: Gate) => Partial<Gate> = () => ({}), by: object = ada): Bypass['attempt'] =>
  ({ app, gate }) =>
    app.decide({ ...gate, ...change(gate) }, { ...answer, by } as never);

const raw =
  (input: (waiting: Waiting) => unknown, extra: object = {}): Bypass['attempt'] =>
  (waiting) =>
    waiting.app.graph.invoke(input(waiting) as never, { configurable: { ...thread.configurable, ...extra } });

const update =
  (values: object, asNode?: string): Bypass['attempt'] =>
  ({ app }) =>
    app.graph.updateState(thread, values as never, asNode as never);

/** Opens a gate of another run. */
const anotherGate = async ({ app }: Waiting, input: object): Promise<Gate> =>
  only((await app.run('other', input)).gates);

const THROUGH_THE_GRAPH: readonly Bypass[] = [
  { name: 'a bare resume', attempt: raw(() => new Command({ resume: APPROVED })), refusal: NO_LEASE },
  {
    name: 'a resume by interrupt id',
    attempt: raw(({ interruptId }) => new Command({ resume: { [interruptId]: APPROVED } })),
    refusal: NO_LEASE,
  },
  {
    name: 'a resume in the envelope of the engine',
    attempt: raw(({ app, interruptId, gate }) => {
      const { questionKey } = internalsOf(app).store.sessions.require(gate.sessionId);
      return new Command({ resume: { [interruptId]: { for: questionKey, value: APPROVED } } });
    }),
    refusal: NO_LEASE,
  },
  { name: 'a null input', attempt: raw(() => null), refusal: NO_LEASE },
  { name: 'a new input', attempt: raw(() => ({ log: ['again'] })), refusal: NO_LEASE },
  { name: 'a goto', attempt: raw(() => new Command({ goto: 'second' })), refusal: NO_LEASE },
  {
    name: 'an update with a goto',
    attempt: raw(() => new Command({ goto: 'second', update: { log: ['x'] } })),
    refusal: NO_LEASE,
  },
  { name: 'an old lease epoch', attempt: raw(() => null, { lease_epoch: 0 }), refusal: NO_LEASE },
  {
    name: 'the lease of another run',
    attempt: raw(() => new Command({ resume: APPROVED }), { lease_thread_id: 'nobody', lease_epoch: 1 }),
    refusal: NO_LEASE,
  },
  { name: 'an empty updateState', attempt: update({}), refusal: NO_LEASE },
  { name: 'an updateState as the guarded node', attempt: update({}, 'second'), refusal: NO_LEASE },
  {
    name: 'an updateState as the node before',
    attempt: update({ log: ['other draft'] }, 'first'),
    refusal: NO_LEASE,
  },
];

const THROUGH_DECIDE: readonly Bypass[] = [
  { name: 'an answer with its own __proto__', attempt: decide(withProto), refusal: 'INVALID_ANSWER' },
  {
    name: 'an inherited answer',
    attempt: decide(Object.create(APPROVED) as object),
    refusal: 'INVALID_ANSWER',
  },
  {
    name: 'an answer LangChain would revive',
    attempt: decide({ lc: 1, type: 'constructor', id: ['x'], kwargs: APPROVED }),
    refusal: 'INVALID_ANSWER',
  },
  {
    name: 'an over-long answer',
    attempt: decide({ ...APPROVED, feedback: 'é'.repeat(33_000) }),
    refusal: 'INVALID_ANSWER',
  },
  {
    name: 'an answer in the envelope of the engine',
    attempt: decide({ for: 'node_gate/x', value: APPROVED }),
    refusal: 'INVALID_ANSWER',
  },
  {
    name: 'a wrong hash',
    attempt: decide(APPROVED, () => ({ artifactHash: '0'.repeat(64) })),
    refusal: 'GATE_STALE',
  },
  {
    name: 'a hash with a character more',
    attempt: decide(APPROVED, ({ artifactHash }) => ({ artifactHash: `${artifactHash}0` })),
    refusal: 'GATE_STALE',
  },
  {
    name: 'a hash that is a pattern',
    attempt: decide(APPROVED, () => ({ artifactHash: '%%%%%%%%' })),
    refusal: 'GATE_STALE',
  },
  {
    name: 'what a gate of another run shows',
    attempt: async (waiting) => {
      const { artifactHash } = await anotherGate(waiting, { log: ['harmless'] });
      return decide(APPROVED, () => ({ artifactHash }))(waiting, internalsOf(waiting.app).store.db);
    },
    refusal: 'GATE_STALE',
  },
  {
    name: 'the decision of another run',
    attempt: async (waiting) => {
      await waiting.app.decide(await anotherGate(waiting, {}), { ...APPROVED, by: ada });
      return waiting.app.run('other');
    },
    refusal: null,
  },
  {
    name: 'a session id that is SQL',
    attempt: decide(APPROVED, () => ({ sessionId: "' OR status = 'awaiting_approval' --" })),
    refusal: 'GATE_NOT_FOUND',
  },
  {
    name: 'an undeclared policy',
    attempt: decide(APPROVED, undefined, { kind: 'policy', id: 'node_gate=auto' }),
    refusal: 'POLICY_NOT_DECLARED',
  },
  {
    name: 'an agent',
    attempt: decide(APPROVED, undefined, { kind: 'agent', id: 'coder' }),
    refusal: 'AGENT_MAY_NOT_DECIDE',
  },
  {
    name: 'an agent with a human prototype',
    attempt: decide(
      APPROVED,
      undefined,
      Object.create({ kind: 'human', id: 'ada' }, { kind: { value: 'agent' } }),
    ),
    refusal: 'AGENT_MAY_NOT_DECIDE',
  },
  { name: 'nobody', attempt: decide(APPROVED, undefined, { kind: 'human', id: '' }), refusal: 'principal' },
];

const THROUGH_THE_APP: readonly Bypass[] = [
  { name: 'driving it again', attempt: ({ app }) => app.run('run'), refusal: null },
  {
    name: 'another input',
    attempt: ({ app }) => app.run('run', { log: ['second'] }),
    refusal: 'INPUT_NOT_TAKEN',
  },
  {
    name: 'the same graph without its gate',
    attempt: (_waiting, db) => durable(twoSteps(), { db }).run('run'),
    refusal: 'GRAPH_CHANGED',
  },
];

const THROUGH_ADMISSION: readonly Bypass[] = [
  {
    name: 'another admission, with a policy that approves',
    attempt: ({ app }) =>
      internalsOf(app).recordRun({ threadId: 'run', input: {}, policies: { gates: { node_gate: 'auto' } } }),
    refusal: null,
  },
  {
    name: 'a policy hidden in __proto__',
    attempt: async ({ app }) => {
      const policies = JSON.parse('{"__proto__":{"gates":{"node_gate":"auto"}}}') as Record<string, unknown>;
      await internalsOf(app).recordRun({ threadId: 'other', input: {}, policies });
    },
    refusal: 'VALUE_NOT_STORABLE',
  },
];

const IN_THE_FILE: readonly Bypass[] = [
  {
    name: 'a direct resume of its session',
    attempt: ({ app, gate }) => internalsOf(app).store.manager.resume(gate.sessionId),
    refusal: 'USE_DECIDE',
  },
  {
    name: 'a signal that looks like a decision',
    attempt: async ({ app, gate }) => {
      const { sessionId } = gate;
      internalsOf(app).store.threads.signal('run', {
        id: 'forged',
        kind: 'decision',
        payload: { sessionId, ...APPROVED },
      });
      return app.run('run');
    },
    refusal: null,
  },
  {
    name: 'a pause of the same task, decided as an unbound session',
    attempt: ({ app }) => {
      const { id } = internalsOf(app).store.manager.pause(undefined, 'run', {
        kind: 'node_gate',
        evidence: {},
      });
      return app.decide({ sessionId: id, artifactHash: 'a'.repeat(64) }, { ...APPROVED, by: ada });
    },
    refusal: 'GATE_NOT_READY',
  },
];

async function refusalOf(attempt: () => unknown): Promise<string | null> {
  try {
    await attempt();
    return null;
  } catch (error) {
    return `${(error as { code?: string }).code ?? ''} ${String(error)}`;
  }
}

/** What a decision and a checkpoint are made of; a raw call may not add to it. */
const rowsOf = (db: Database): string =>
  JSON.stringify(
    ['checkpoints', 'checkpoint_writes', 'hitl_decisions'].map((table) =>
      db
        .prepare(`SELECT * FROM ${table} WHERE ${table === 'hitl_decisions' ? 'true' : "thread_id = 'run'"}`)
        .all(),
    ),
  );

describe('a way past a gate that is not its decision', () => {
  async function changesNothing({ attempt, refusal }: Bypass, db: Database): Promise<void> {
    const waiting = await aWaitingRun(db);
    const { app, gate, guarded } = waiting;
    const before = rowsOf(db);
    const refused = await refusalOf(() => attempt(waiting, db));
    if (refusal === null) expect(refused).toBeNull();
    else expect(refused).toContain(refusal);
    const others = guarded.splice(0).length; // of the other run, where one was decided
    expect(others).toBe(
      refused === null && internalsOf(app).store.threads.get('other')?.status === 'completed' ? 1 : 0,
    );
    if (refusal !== null) expect(rowsOf(db)).toBe(before);

    expect(await app.run('run')).toMatchObject({
      status: 'waiting',
      gates: [{ sessionId: gate.sessionId }],
    });
    expect(guarded).toEqual([]);
    await app.decide(gate, { ...APPROVED, by: ada });
    expect(await app.run('run')).toMatchObject({
      status: 'completed',
      values: { log: ['first', 'second'] },
    });
    expect(guarded).toEqual(['ran']);
  }
  const title = '$name: the node does not run, the gate stays and can be decided';

  test.for([...THROUGH_DECIDE, ...THROUGH_THE_APP])(title, (bypass, { db }) => changesNothing(bypass, db));

  test.for(THROUGH_THE_GRAPH)(title, notThroughRuns('calls the graph'), (bypass, { db }) =>
    changesNothing(bypass, db),
  );

  test.for(THROUGH_ADMISSION)(title, notThroughRuns('asks another method'), (bypass, { db }) =>
    changesNothing(bypass, db),
  );

  test.for(IN_THE_FILE)(title, notThroughRuns('asks another method'), (bypass, { db }) =>
    changesNothing(bypass, db),
  );
});

describe('a session that was withdrawn', () => {
  test('cannot be decided, and the question that took its place can', async ({ db }) => {
    const { app, gate, guarded } = await aWaitingRun(db);
    await plant(db, (file) => new HitlSessionStore(file).supersedeOpen('run'));
    expect(await refusalOf(() => app.decide(gate, { ...APPROVED, by: ada }))).toContain('GATE_STALE');
    expect(guarded).toEqual([]);
  });

  test('by the end of its run cannot bring the run back', async ({ db }) => {
    const { app, gate, guarded } = await aWaitingRun(db);
    await app.cancel('run');
    expect((await app.run('run')).status).toBe('cancelled');
    const before = everyTable(db);
    expect(await refusalOf(() => app.decide(gate, { ...APPROVED, by: ada }))).toContain('GATE_STALE');
    expect(everyTable(db)).toBe(before);
    expect((await app.run('run')).status).toBe('cancelled');
    expect(guarded).toEqual([]);
  });
});

describe('a second decision', () => {
  test.for([
    ['before the first is taken up', 0],
    ['after the first was taken up', 1],
  ] as const)('%s is refused and changes nothing', async ([_when, drives], { db }) => {
    const { app, gate, guarded } = await aWaitingRun(db);
    await app.decide(gate, { approved: false, feedback: 'No.', by: ada });
    for (let drive = 0; drive < drives; drive += 1) await app.run('run');
    const before = everyTable(db);
    expect(await refusalOf(() => app.decide(gate, { ...APPROVED, by: ada }))).toContain(
      'GATE_ALREADY_DECIDED',
    );
    expect(everyTable(db)).toBe(before);
    expect((await app.run('run')).values?.log).toEqual(['first', 'rejected']);
    expect(guarded).toEqual([]);
  });
});
