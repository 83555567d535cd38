import { AIMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import { ToolNode } from '@langchain/langgraph/prebuilt';
import type { Database } from 'better-sqlite3';
import { describe, expect, vi } from 'vitest';
import { z } from 'zod';
import { test } from '../../../../test/support/fixtures.ts';
import { only } from '../../../../test/support/only.ts';
import { durable } from '../../../../test/support/runs/durable.ts';
import { notThroughRuns } from '../../../../test/support/runs/where.ts';
import { createDatabase } from '../../../db/createDatabase.ts';
import { ada, bob, OwnState, says, twoBranches, twoSteps } from '../../__tests__/ownGraph.ts';
import { internalsOf } from '../../file/appInternals.ts';
import { sleep } from '../../node/waitFor.ts';
import { AClock, DAY, HOUR } from '../../waits/__tests__/aClock.ts';
import { type Deadline, type GateOf, perToolCall } from '../DeclaredGate.ts';
import { HumanInTheLoopManager } from '../HumanInTheLoopManager.ts';

type Gate = GateOf<{ readonly log: readonly string[] }>;

function gated(db: Database, clock: AClock, gate: Gate | readonly Deadline[]) {
  const second: Gate = Array.isArray(gate) ? { show: ({ log }) => log, deadlines: gate } : (gate as Gate);
  return durable(twoSteps(), { db, now: clock.now, gates: { second } });
}

const eventsOf = (db: Database, name: string): readonly unknown[] =>
  db
    .prepare<[string], string>('SELECT payload_json FROM events WHERE name = ? ORDER BY seq')
    .pluck()
    .all(name)
    .map((json) => JSON.parse(json) as unknown);

describe('a deadline of a gate', () => {
  test('reminds, once, and the run says when the next one passes', async ({ db }) => {
    const clock = new AClock();
    const app = gated(db, clock, [
      { within: DAY, do: 'remind' },
      { within: HOUR, do: 'remind' },
    ]);
    const { gates, until } = await app.run('r', {});
    const { sessionId } = only(gates);
    expect(until).toBe(clock.at + HOUR);
    expect(await app.runDue()).toMatchObject({ driven: [] });
    clock.step(HOUR);
    expect(only((await app.runDue()).driven)).toMatchObject({
      status: 'waiting',
      until: clock.at - HOUR + DAY,
    });
    expect((await app.runDue()).driven).toEqual([]);
    expect(eventsOf(db, 'GATE_REMINDED')).toEqual([{ sessionId, kind: 'node_gate', within: HOUR }]);
    clock.step(-DAY);
    expect((await app.runDue()).driven).toEqual([]);
    clock.step(3 * DAY);
    await Promise.all([app.runDue(), app.runDue()]);
    expect(eventsOf(db, 'GATE_REMINDED')).toHaveLength(2);
    await app.decide(only(await app.gates('r')), { approved: true, by: ada });
    expect(await app.run('r')).toMatchObject({ status: 'completed' });
  });

  test('passes beside a branch that sleeps and wakes before it', async ({ db }) => {
    const clock = new AClock();
    const naps = async () => {
      for (const _ of [1, 2, 3]) await sleep(HOUR);
      return { log: ['slept'] };
    };
    const right: Gate = { show: () => 'right?', deadlines: [{ within: 2 * HOUR, do: 'approve' }] };
    const app = durable(twoBranches(naps), { db, now: clock.now, gates: { right } });
    const start = clock.at;
    const untils = [(await app.run('r', {})).until];
    for (const _ of [1, 2]) {
      clock.step(HOUR);
      untils.push(only((await app.runDue()).driven).until);
    }
    expect(untils).toEqual([1, 2, 3].map((hours) => start + hours * HOUR));
    clock.step(HOUR);
    expect(only((await app.runDue()).driven)).toMatchObject({
      status: 'completed',
      values: { log: ['start', 'slept', 'right'] },
    });
  });

  test('tells who is to decide now, and anybody still may', async ({ db }) => {
    const clock = new AClock();
    const app = gated(db, clock, [
      { within: HOUR, do: { reassign: ['bob'] } },
      { within: DAY, do: { reassign: ['eve', 'mia'] } },
    ]);
    const { gates } = await app.run('r', {});
    expect(only(gates)).not.toHaveProperty('assignedTo');
    expect(only(gates).dueAt).toBe(new Date(clock.at + HOUR).toISOString());
    clock.step(HOUR);
    const [driven] = (await app.runDue()).driven;
    expect(driven?.gates).toMatchObject([{ assignedTo: ['bob'] }]);
    clock.step(DAY);
    await app.runDue();
    expect(await app.gates('r')).toMatchObject([{ assignedTo: ['eve', 'mia'] }]);
    expect(only(await app.gates('r'))).not.toHaveProperty('dueAt');
    expect(eventsOf(db, 'GATE_REASSIGNED')).toMatchObject([{ to: ['bob'] }, { to: ['eve', 'mia'] }]);
    await app.decide(only(await app.gates('r')), { approved: true, by: ada });
    expect(await app.run('r')).toMatchObject({ status: 'completed' });
  });

  test('rejects by a policy, in the decision log as any decision', async ({ db }) => {
    const clock = new AClock();
    const app = gated(db, clock, [
      { within: HOUR, do: 'remind' },
      { within: DAY, do: 'reject' },
    ]);
    await app.run('r', {});
    clock.step(2 * DAY); // nobody has looked for two days
    const { driven } = await app.runDue();
    expect(only(driven)).toMatchObject({ status: 'cancelled', reason: /^rejected: Nobody decided within/ });
    expect(eventsOf(db, 'GATE_REMINDED')).toHaveLength(1);
    expect(eventsOf(db, 'HITL_SESSION_DECIDED')).toMatchObject([
      { principal: 'policy:deadline', said: 'rejected' },
    ]);
    expect(db.prepare('SELECT count(*) FROM hitl_decisions').pluck().get()).toBe(1);
    gated(db, clock, []); // the log is verified
  });

  test('rejects into what its author does with a no', async ({ db }) => {
    const clock = new AClock();
    const app = gated(db, clock, {
      show: () => 'go?',
      onReject: (_state, feedback) => ({ log: [feedback ?? ''] }),
      deadlines: { within: HOUR, do: 'reject' },
    });
    await app.run('r', {});
    clock.step(HOUR);
    expect(only((await app.runDue()).driven).values?.log).toEqual([
      'first',
      `Nobody decided within ${HOUR} ms.`,
    ]);
  });

  test('approves', async ({ db }) => {
    const clock = new AClock();
    const app = gated(db, clock, [{ within: HOUR, do: 'approve' }]);
    await app.run('r', {});
    clock.step(HOUR);
    expect(await app.run('r')).toMatchObject({ status: 'completed', values: { log: ['first', 'second'] } });
  });

  test('is nobody before it has passed, and says nothing but what was declared', async ({ db }) => {
    const clock = new AClock();
    const app = gated(db, clock, [
      { within: HOUR, do: 'remind' },
      { within: DAY, do: 'reject' },
    ]);
    const gate = only((await app.run('r', {})).gates);
    const deadline = { kind: 'policy', id: 'deadline' } as const;
    const forged = async () => {
      for (const answer of [{ approved: true }, { approved: false, feedback: 'no' }])
        await expect(app.decide(gate, { ...answer, by: deadline })).rejects.toMatchObject({
          code: 'POLICY_NOT_DECLARED',
        });
      const agent = app.decide(gate, { approved: true, by: { kind: 'agent', id: 'deadline' } });
      await expect(agent).rejects.toMatchObject({ code: 'AGENT_MAY_NOT_DECIDE' });
    };
    await forged();
    clock.step(HOUR);
    await app.runDue();
    await forged();
    clock.step(DAY);
    await forged();
    await app.decide(gate, { approved: true, by: ada });
    expect(await app.run('r')).toMatchObject({ status: 'completed' });
  });

  test(
    'that has passed is spoken for by nobody else, and says nothing else',
    notThroughRuns('watches its own store'),
    async ({ db }) => {
      const clock = new AClock();
      const app = gated(db, clock, [{ within: HOUR, do: 'reject' }]);
      const gate = only((await app.run('r', {})).gates);
      clock.step(HOUR);
      const { waits } = internalsOf(app).store;
      expect(waits.fire(only(waits.deadlines('r', [gate.sessionId])), clock.at)).toBe(true);
      const no = { approved: false, feedback: 'late' };
      for (const [id, answer] of [
        ['other', no],
        ['deadline', { approved: true }],
      ] as const)
        await expect(app.decide(gate, { ...answer, by: { kind: 'policy', id } })).rejects.toMatchObject({
          code: 'POLICY_NOT_DECLARED',
        });
      await app.decide(gate, { ...no, by: { kind: 'policy', id: 'deadline' } });
      expect(internalsOf(app).store.sessions.require(gate.sessionId).status).toBe('decided');
    },
  );

  test(
    'does nothing about a gate that was decided in time',
    notThroughRuns('asks another method'),
    async ({ db }) => {
      const clock = new AClock();
      const app = gated(db, clock, [{ within: HOUR, do: 'reject' }]);
      await app.decide(only((await app.run('r', {})).gates), { approved: true, by: ada });
      clock.step(DAY);
      expect((await app.runDue()).driven).toEqual([]);
      expect(await app.run('r')).toMatchObject({ status: 'completed' });
    },
  );

  test('is the one that the run was started with', async ({ db }) => {
    const clock = new AClock();
    await gated(db, clock, [{ within: HOUR, do: 'remind' }]).run('r', {});
    const later = gated(db, clock, [{ within: 1, do: 'approve' }]);
    clock.step(HOUR);
    expect(only((await later.runDue()).driven)).toMatchObject({ status: 'waiting' });
    expect(eventsOf(db, 'GATE_REMINDED')).toHaveLength(1);
  });

  test('counts anew for a gate that shows something else', async ({ db }) => {
    const clock = new AClock();
    let shown = 'one';
    const app = gated(db, clock, { show: () => shown, deadlines: { within: DAY, do: 'reject' } });
    const gate = only((await app.run('r', {})).gates);
    clock.step(DAY / 2);
    await app.decide(gate, { approved: true, by: ada });
    shown = 'two';
    expect(await app.run('r')).toMatchObject({ status: 'waiting', until: clock.at + DAY });
    clock.step(DAY / 2);
    expect((await app.runDue()).driven).toEqual([]);
  });

  test('rejects what several have to approve, whoever they are', async ({ db }) => {
    const clock = new AClock();
    const app = gated(db, clock, {
      show: () => 'go?',
      approvals: { of: ['ada', 'bob'], count: 2 },
      deadlines: [
        { within: HOUR, do: { reassign: ['bob'] } },
        { within: DAY, do: 'reject' },
      ],
    });
    const gate = only((await app.run('r', {})).gates);
    await app.decide(gate, { approved: true, by: ada });
    clock.step(DAY);
    expect(only((await app.runDue()).driven)).toMatchObject({ status: 'cancelled' });
    await expect(app.decide(gate, { approved: true, by: bob })).rejects.toMatchObject({
      code: 'GATE_ALREADY_DECIDED',
    });
  });

  test(
    'gives way to whoever decides while it passes',
    notThroughRuns('watches its own store'),
    async ({ db, dbPath }) => {
      const clock = new AClock();
      const app = gated(db, clock, [{ within: HOUR, do: 'reject' }]);
      const gate = only((await app.run('r', {})).gates);
      clock.step(HOUR);
      const elsewhere = createDatabase({ dbPath });
      const { waits } = internalsOf(app).store;
      const read = waits.deadlines.bind(waits);
      vi.spyOn(waits, 'deadlines').mockImplementationOnce((...asked) => {
        const rows = read(...asked);
        const { artifactHash } = gate;
        const decision = { artifactHash, answer: { approved: true }, by: ada };
        new HumanInTheLoopManager(elsewhere).decide(gate.sessionId, decision);
        return rows;
      });
      expect(await app.run('r')).toMatchObject({ status: 'completed' });
      expect(eventsOf(db, 'HITL_SESSION_DECIDED')).toMatchObject([{ principal: 'human:ada' }]);
      elsewhere.close();
    },
  );

  test('counts for each tool call of a message', async ({ db }) => {
    const clock = new AClock();
    const mail = tool(async () => 'sent', { name: 'mail', description: 'mails', schema: z.object({}) });
    const call = (id: string) => ({ id, name: 'mail', args: {}, type: 'tool_call' as const });
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('model', () => ({
        messages: [new AIMessage({ content: '', tool_calls: [call('a'), call('b')] })],
      }))
      .addNode('tools', new ToolNode([mail]))
      .addEdge(START, 'model')
      .addEdge('model', 'tools')
      .addEdge('tools', END);
    const tools = perToolCall(undefined, { deadlines: { within: HOUR, do: 'reject' } });
    const app = durable(graph, { db, now: clock.now, gates: { tools } });
    const [first, second] = (await app.run('r', { messages: [] })).gates;
    if (first === undefined || second === undefined) throw new RangeError('Expected two gates.');
    await app.decide(first, { approved: true, by: ada });
    clock.step(HOUR);
    const { values } = await app.run('r');
    expect(values?.messages.slice(1).map(({ text }) => text)).toEqual([
      'sent',
      `Nobody decided within ${HOUR} ms.`,
    ]);
  });

  test('stays with its gate under a changed graph, and so does who has to approve', async ({ db }) => {
    const clock = new AClock();
    const graph = (name: string) =>
      durable(
        new StateGraph(OwnState)
          .addNode('start', says('start'))
          .addNode(name, says('done'))
          .addEdge(START, 'start')
          .addEdge('start', name)
          .addEdge(name, END),
        {
          db,
          now: clock.now,
          gates: {
            [name]: {
              show: () => 'go?',
              approvals: { of: ['ada'] },
              deadlines: { within: HOUR, do: 'reject' },
            },
          },
        },
      );
    await graph('publish').run('r', {});
    const changed = graph('release');
    await changed.acceptGraph('r', { by: ada, renamed: { nodes: { publish: 'release' } } });
    const { gates, until } = await changed.run('r');
    expect(until).toBe(clock.at + HOUR);
    const bobs = changed.decide(only(gates), { approved: true, by: bob });
    await expect(bobs).rejects.toMatchObject({ code: 'MAY_NOT_APPROVE' });
    clock.step(HOUR);
    expect(await changed.run('r')).toMatchObject({ status: 'cancelled' });
  });

  test('begins with a gate that the accepted graph is the first to have', async ({ db }) => {
    const clock = new AClock();
    const gate = (within: number): Gate => ({ show: () => 'go?', deadlines: { within, do: 'reject' } });
    const program = (gates: Readonly<Record<string, Gate>>) =>
      durable(twoSteps(), { db, now: clock.now, gates });
    const before = program({ first: gate(HOUR) });
    await before.run('r', {});
    const app = program({ first: gate(2 * HOUR), second: gate(DAY) });
    await app.acceptGraph('r', { by: ada });
    const { gates, until } = await app.run('r');
    expect(until).toBe(clock.at + HOUR); // as the run was started
    await app.decide(only(gates), { approved: true, by: ada });
    expect(await app.run('r')).toMatchObject({ status: 'waiting', until: clock.at + DAY });
    clock.step(DAY);
    expect(await app.run('r')).toMatchObject({ status: 'cancelled' });
  });

  test('wakes who stays with the run', async ({ db }) => {
    const app = durable(twoSteps(), {
      db,
      gates: { second: { show: () => 'go?', deadlines: { within: 20, do: 'approve' } } },
    });
    expect(await app.run('r', {}, { wait: true })).toMatchObject({ status: 'completed' });
  });

  test('that is none, or contradicts its gate, is a mistake of the program', ({ db }) => {
    const clock = new AClock();
    const declare =
      (deadlines: unknown, besides: object = {}) =>
      () =>
        gated(db, clock, { show: () => 1, ...besides, deadlines } as never);
    for (const within of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, '1'])
      expect(declare({ within, do: 'remind' })).toThrow(RangeError);
    for (const act of ['ask', null, {}, { reassign: [] }, { reassign: [''] }, { reassign: 'bob' }])
      expect(declare({ within: 1, do: act })).toThrow(TypeError);
    expect(declare(null)).toThrow(TypeError);
    expect(
      declare([
        { within: 2, do: 'remind' },
        { within: 1, do: 'reject' },
      ]),
    ).toThrow('the last one');
    const approve = { within: 1, do: 'approve' };
    expect(declare(approve, { approvals: { count: 2 } })).toThrow(TypeError);
    expect(declare(approve, { answer: z.string() })).toThrow(TypeError);
    const reassign = { within: 1, do: { reassign: ['eve'] } };
    expect(declare(reassign, { approvals: { of: ['ada'] } })).toThrow('eve');
  });
});
