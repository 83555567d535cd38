import { START, StateGraph } from '@langchain/langgraph';
import type { Database } from 'better-sqlite3';
import fc from 'fast-check';
import { describe, expect, vi } from 'vitest';
import { createDatabase } from '../../src/db/createDatabase.ts';
import { ada, bob, type Own, OwnState, says, twoSteps } from '../../src/engine/__tests__/ownGraph.ts';
import { internalsOf } from '../../src/engine/file/appInternals.ts';
import type { Approvals } from '../../src/engine/gates/DeclaredGate.ts';
import type { Gate } from '../../src/langgraph.ts';
import { DecisionLog } from '../../src/state/gates/DecisionLog.ts';
import { test } from '../support/fixtures.ts';
import { only } from '../support/only.ts';
import { durable } from '../support/runs/durable.ts';
import { notThroughRuns, ofOneFile } from '../support/runs/where.ts';

const eve = { kind: 'human', id: 'eve' } as const;
const YES = { approved: true } as const;
const TWO_OF_THREE: Approvals = { of: ['ada', 'bob', 'eve'], count: 2 };

function releasing(
  db: Database,
  approvals: Approvals | undefined,
  show: (state: Own) => unknown = ({ log }) => log,
) {
  const gate = { show, onReject: () => ({ log: ['rejected'] }), ...(approvals && { approvals }) };
  return durable(twoSteps(says('built'), says('released')), { db, gates: { second: gate } });
}

const waiting = async (app: ReturnType<typeof releasing>, id = 'run'): Promise<Gate> =>
  only((await app.run(id, {})).gates);

const votesIn = (db: Database): readonly unknown[] =>
  db.prepare('SELECT principal_id FROM hitl_votes ORDER BY rowid').pluck().all();

const eventsOf = (db: Database, name: string): readonly Record<string, unknown>[] =>
  db
    .prepare<[string], string>('SELECT payload_json FROM events WHERE name = ? ORDER BY seq')
    .pluck()
    .all(name)
    .map((json) => JSON.parse(json) as Record<string, unknown>);

describe('two of three', () => {
  test('decide with the second yes, and the decision names both', async ({ db }) => {
    const app = releasing(db, TWO_OF_THREE);
    const gate = await waiting(app);
    expect(gate).toMatchObject({ takes: { gate: 'second', approvals: TWO_OF_THREE }, votes: [] });

    const voted = await app.decide(gate, { ...YES, feedback: 'Fine.', by: ada });
    expect(voted).toMatchObject({ status: 'awaiting_approval', decision: null });
    expect(only(await app.gates('run')).votes).toMatchObject([{ principal: 'human:ada', feedback: 'Fine.' }]);
    expect((await app.run('run')).status).toBe('waiting');

    const decided = await app.decide(gate, { ...YES, by: bob });
    expect(decided).toMatchObject({
      status: 'decided',
      principal: bob,
      decision: { approved: true, votes: [{ by: 'ada', feedback: 'Fine.' }, { by: 'bob' }] },
    });
    expect((await app.run('run')).values?.log).toEqual(['built', 'released']);

    const line = db.prepare<[], string>('SELECT body_json FROM hitl_decisions').pluck().get();
    expect(JSON.parse(line ?? '')).toMatchObject({ voters: ['ada', 'bob'], artifactHash: gate.artifactHash });
    expect(new DecisionLog(db).verify()).toEqual({ ok: true });
    expect(eventsOf(db, 'GATE_VOTED')).toMatchObject([
      { principal: 'human:ada', votes: 1, needed: 2 },
      { principal: 'human:bob', votes: 2, needed: 2 },
    ]);
  });

  test('are stopped by one no', async ({ db }) => {
    const app = releasing(db, TWO_OF_THREE);
    const gate = await waiting(app);
    await app.decide(gate, { ...YES, by: ada });
    await app.decide(gate, { approved: false, feedback: 'Not on a Friday.', by: eve });
    await expect(app.decide(gate, { ...YES, by: bob })).rejects.toMatchObject({
      code: 'GATE_ALREADY_DECIDED',
    });
    expect((await app.run('run')).values?.log).toEqual(['built', 'rejected']);
  });

  test('may be stopped by one who has said yes', async ({ db }) => {
    const app = releasing(db, TWO_OF_THREE);
    const gate = await waiting(app);
    await app.decide(gate, { ...YES, by: ada });
    const { status } = await app.decide(gate, { approved: false, feedback: 'I was wrong.', by: ada });
    expect(status).toBe('decided');
  });

  test('are two people: the same yes again changes nothing, another one is refused', async ({ db }) => {
    const app = releasing(db, TWO_OF_THREE);
    const gate = await waiting(app);
    await app.decide(gate, { ...YES, by: ada });
    const again = await app.decide(gate, { ...YES, by: ada });
    expect([again.status, again.votes?.length]).toEqual(['awaiting_approval', 1]);
    await expect(app.decide(gate, { ...YES, feedback: 'Really.', by: ada })).rejects.toMatchObject({
      code: 'ALREADY_VOTED',
      context: { principal: 'human:ada' },
    });
    expect([votesIn(db), eventsOf(db, 'GATE_VOTED').length]).toEqual([['ada'], 1]);
  });

  test('are of those named, and no agent and no policy', async ({ db }) => {
    const app = releasing(db, TWO_OF_THREE);
    const gate = await waiting(app);
    for (const [by, code] of [
      [{ kind: 'human', id: 'mallory' }, 'MAY_NOT_APPROVE'],
      [{ kind: 'agent', id: 'ada' }, 'AGENT_MAY_NOT_DECIDE'],
      [{ kind: 'policy', id: 'ada' }, 'POLICY_NOT_DECLARED'],
    ] as const) {
      await expect(app.decide(gate, { ...YES, by })).rejects.toMatchObject({ code });
      await expect(app.decide(gate, { approved: false, feedback: 'no', by })).rejects.toMatchObject({ code });
    }
    await expect(app.decide(gate, { edit: {}, by: ada })).rejects.toMatchObject({ code: 'INVALID_ANSWER' });
    await expect(app.decide(gate, { value: 1, by: ada })).rejects.toMatchObject({ code: 'INVALID_ANSWER' });
    const stale = { ...gate, artifactHash: '0'.repeat(64) };
    await expect(app.decide(stale, { ...YES, by: ada })).rejects.toMatchObject({ code: 'GATE_STALE' });
    expect([votesIn(db), await app.gates('run')]).toEqual([[], [gate]]);
  });

  test(
    'are not answered by a policy that says yes to every gate',
    notThroughRuns('asks another method'),
    async ({ db }) => {
      const app = releasing(db, TWO_OF_THREE);
      await internalsOf(app).recordRun({
        threadId: 'run',
        input: {},
        policies: { gates: { node_gate: 'auto' } },
      });
      expect((await app.run('run')).status).toBe('waiting');
      const plain = releasing(db, undefined);
      await internalsOf(plain).recordRun({
        threadId: 'plain',
        input: {},
        policies: { gates: { node_gate: 'auto' } },
      });
      expect((await plain.run('plain')).status).toBe('completed');
    },
  );

  test('vote anew about what the gate shows now', async ({ db }) => {
    const gate = await waiting(releasing(db, TWO_OF_THREE));
    await releasing(db, TWO_OF_THREE).decide(gate, { ...YES, by: ada });
    await releasing(db, TWO_OF_THREE).decide(gate, { ...YES, by: bob });
    const app = releasing(db, TWO_OF_THREE, () => 'version 2');
    const again = only((await app.run('run')).gates);
    expect(again).toMatchObject({ artifact: 'version 2', votes: [] });
    expect(eventsOf(db, 'HITL_ANSWER_VOIDED').map(({ principal }) => principal)).toEqual([
      'human:ada',
      'human:bob',
    ]);
    await app.decide(again, { ...YES, by: bob });
    expect((await app.run('run')).status).toBe('waiting');
    await app.decide(again, { ...YES, by: eve });
    expect((await app.run('run')).status).toBe('completed');
  });

  test('vote under what the run was started with, whatever the program says today', async ({ db }) => {
    const gate = await waiting(releasing(db, TWO_OF_THREE));
    for (const today of [undefined, { count: 1 }]) {
      const app = releasing(db, today, () => `changed for ${JSON.stringify(today)}`);
      const [open = gate] = await app.gates('run');
      await app.decide(open, { ...YES, by: ada });
      await app.decide(open, { ...YES, by: bob });
      expect(only((await app.run('run')).gates).takes?.approvals).toEqual(TWO_OF_THREE);
    }
    const before = releasing(db, undefined);
    const old = await waiting(before, 'old');
    expect(old.takes).toBeUndefined();
    await releasing(db, TWO_OF_THREE).decide(old, { ...YES, by: ada });
    expect((await releasing(db, TWO_OF_THREE).run('old')).status).toBe('completed');
  });

  test('who vote at once from two processes decide once', async ({ db, dbPath }) => {
    const other = createDatabase({ dbPath });
    const [one, two] = [releasing(db, TWO_OF_THREE), releasing(other, TWO_OF_THREE)];
    const gate = await waiting(one);
    await one.decide(gate, { ...YES, by: ada });
    const said = await Promise.allSettled([
      one.decide(gate, { ...YES, by: bob }),
      two.decide(gate, { ...YES, by: eve }),
    ]);
    const [first] = said.flatMap(({ status }, nth) => (status === 'fulfilled' ? [[bob, eve][nth]] : []));
    const refused = said.filter(({ status }) => status === 'rejected');
    expect(refused).toMatchObject([{ reason: { code: 'GATE_ALREADY_DECIDED' } }]);
    expect([votesIn(db), db.prepare('SELECT count(*) FROM hitl_decisions').pluck().get()]).toEqual([
      ['ada', first?.id],
      1,
    ]);
    other.close();
  });
});

test(
  'a vote that another process overtakes between its look and its write is none',
  notThroughRuns('asks another method'),
  async ({ db, dbPath }) => {
    const other = createDatabase({ dbPath });
    const [one, two] = [releasing(db, TWO_OF_THREE), releasing(other, TWO_OF_THREE)];
    const { sessionId, artifactHash } = await waiting(one);
    const decide = (app: typeof one, by: typeof eve | typeof ada | typeof bob, answer: object) =>
      internalsOf(app).store.manager.decide(sessionId, { artifactHash, answer, by });
    decide(one, ada, YES);
    const overtaken = {
      get approved() {
        decide(two, bob, YES);
        return true;
      },
    };
    expect(() => decide(one, eve, overtaken)).toThrow(
      expect.objectContaining({
        code: 'GATE_ALREADY_DECIDED',
        context: expect.objectContaining({ principal: 'human:bob' }),
      }),
    );
    expect(votesIn(db)).toEqual(['ada', 'bob']);
    other.close();
  },
);

describe('two of three, where the graph has changed and was accepted', () => {
  const renamedTo = (db: Database, name: string, extra: object = {}) =>
    durable(
      new StateGraph(OwnState)
        .addNode('first', says('built'))
        .addNode(name, says('released'))
        .addEdge(START, 'first')
        .addEdge('first', name as '__end__'),
      { db, gates: { [name]: ({ log }: Own) => log, ...extra } as Record<string, (state: Own) => unknown> },
    );

  test('are two of three under the gate’s new name, and their yeses count', async ({ db }) => {
    const gate = await waiting(releasing(db, TWO_OF_THREE));
    await releasing(db, TWO_OF_THREE).decide(gate, { ...YES, by: ada });
    const app = renamedTo(db, 'release');
    await app.acceptGraph('run', { by: ada, renamed: { nodes: { second: 'release' } } });
    const moved = only((await app.run('run')).gates);
    expect(moved).toMatchObject({ sessionId: gate.sessionId, votes: [{ principal: 'human:ada' }] });
    expect(moved.takes).toEqual({ gate: 'release', approvals: TWO_OF_THREE });
    await expect(app.decide(moved, { ...YES, by: { kind: 'human', id: 'mallory' } })).rejects.toMatchObject({
      code: 'MAY_NOT_APPROVE',
    });
    await app.decide(moved, { ...YES, by: eve });
    expect((await app.run('run')).values?.log).toEqual(['built', 'released']);
  });

  test('are asked at a gate that the accepted graph is the first to have', async ({ db }) => {
    const before = durable(twoSteps(says('built'), says('released')), {
      db,
      gates: { first: () => 'begin?' },
    });
    await before.run('run', {}, { by: eve });
    const gates = {
      first: () => 'begin?',
      second: {
        show: ({ log }: Own) => log,
        approvals: { of: ['ada', 'bob'], count: 2, notInitiator: true },
      },
    };
    const app = durable(twoSteps(says('built'), says('released')), { db, gates });
    await app.acceptGraph('run', { by: ada });
    await app.decide(only(await app.gates('run')), { ...YES, by: ada });
    const gate = only((await app.run('run')).gates);
    expect(gate.takes?.approvals).toEqual({ of: ['ada', 'bob'], count: 2, not: 'human:eve' });
  });
});

describe('a gate that is not for whoever started the run', () => {
  const others: Approvals = { notInitiator: true };

  test('is decided by anybody else', async ({ db }) => {
    const app = releasing(db, others);
    const { gates } = await app.run('run', {}, { by: ada });
    await expect(app.decide(only(gates), { ...YES, by: ada })).rejects.toMatchObject({
      code: 'MAY_NOT_APPROVE',
      context: { reason: 'initiator' },
    });
    await app.run('run', {}, { by: bob });
    await app.decide(only(gates), { ...YES, by: bob });
    expect((await app.run('run')).status).toBe('completed');
    expect(internalsOf(app).store.threads.get('run')?.policies).toMatchObject({ startedBy: ada });
  });

  test('is not started by nobody, nor where too few are left', async ({ db }) => {
    const refused = { code: 'INVALID_INPUT' };
    await expect(releasing(db, others).run('run', {})).rejects.toMatchObject(refused);
    await expect(
      internalsOf(releasing(db, others)).recordRun({ threadId: 'run', input: {} }),
    ).rejects.toMatchObject(refused);
    const two = releasing(db, { ...others, of: ['ada', 'bob'], count: 2 });
    await expect(two.run('run', {}, { by: ada })).rejects.toMatchObject(refused);
    await expect(two.run('run', {}, { by: { kind: 'human' } as never })).rejects.toThrow(TypeError);
    expect(db.prepare('SELECT count(*) FROM threads').pluck().get()).toBe(0);
    expect((await two.run('run', {}, { by: eve })).status).toBe('waiting');
    expect((await two.run('by-agent', {}, { by: { kind: 'agent', id: 'ada' } })).status).toBe('waiting');
  });
});

describe('one person under two spellings', () => {
  const spellings = ['ADA', 'Ada', '\uff41\uff44\uff41'];

  test.for(spellings)('has one vote: ada and %s', async (id, { db }) => {
    const app = releasing(db, TWO_OF_THREE);
    const gate = await waiting(app);
    await app.decide(gate, { ...YES, by: ada });
    const again = await app.decide(gate, { ...YES, by: { kind: 'human', id } });
    expect(again).toMatchObject({ status: 'awaiting_approval', votes: [{ principal: ada }] });
    await expect(
      app.decide(gate, { ...YES, feedback: 'Fine.', by: { kind: 'human', id } }),
    ).rejects.toMatchObject({ code: 'ALREADY_VOTED' });
    expect(votesIn(db)).toEqual(['ada']);
  });

  test.for(spellings)('does not decide what they have started: ada and %s', async (id, { db }) => {
    const app = releasing(db, { notInitiator: true });
    const { gates } = await app.run('run', {}, { by: ada });
    await expect(app.decide(only(gates), { ...YES, by: { kind: 'human', id } })).rejects.toMatchObject({
      code: 'MAY_NOT_APPROVE',
      context: { reason: 'initiator' },
    });
    const two = releasing(db, { notInitiator: true, of: ['ada', 'bob'], count: 2 });
    const by = { kind: 'human', id } as const;
    await expect(two.run('other', {}, { by })).rejects.toMatchObject({ code: 'INVALID_INPUT' });
  });

  test('is whom a gate names, and is recorded as they sign', async ({ db }) => {
    const app = releasing(db, TWO_OF_THREE);
    const gate = await waiting(app);
    await app.decide(gate, { ...YES, by: { kind: 'human', id: 'BOB' } });
    expect(votesIn(db)).toEqual(['BOB']);
  });

  test('is not hidden behind what nobody sees', async ({ db }) => {
    const app = releasing(db, TWO_OF_THREE);
    const gate = await waiting(app);
    for (const id of ['ada\u200b', ' ada', 'human:ada']) {
      await expect(app.decide(gate, { ...YES, by: { kind: 'human', id } })).rejects.toMatchObject({
        code: 'INVALID_PRINCIPAL',
      });
    }
    expect(votesIn(db)).toEqual([]);
    expect(() => releasing(db, { of: ['ada', 'bob '] })).toThrow(
      expect.objectContaining({ code: 'INVALID_PRINCIPAL' }),
    );
  });
});

test('several yeses without saying of whom are warned about', ({ db, onTestFinished }) => {
  const warn = vi.spyOn(process, 'emitWarning').mockReturnValue();
  onTestFinished(() => warn.mockRestore());
  releasing(db, { count: 2 });
  expect(warn).toHaveBeenCalledExactlyOnceWith(
    expect.stringContaining('List the approvers in `of`'),
    'DevsApprovalsWarning',
  );
  releasing(db, { count: 1 });
  releasing(db, TWO_OF_THREE);
  expect(warn).toHaveBeenCalledOnce();
});

describe('a rule that nobody could meet', () => {
  test.for([
    { count: 0 },
    { count: 1.5 },
    { count: Number.NaN },
    { of: ['ada'], count: 2 },
    { of: [] },
    { of: ['ada', 'ada'], count: 2 },
    { of: ['ada', 'Ada'], count: 2 },
    { of: ['Zoë', 'Zoe\u0308'], count: 2 },
  ])('is refused when the program starts: %j', (approvals, { db }) => {
    expect(() => releasing(db, approvals)).toThrow(RangeError);
  });

  test.for([{ of: 'ada' }, { of: [7] }, { of: [''] }, { notInitiator: 'yes' }])(
    'and one that is none: %j',
    (approvals, { db }) => {
      expect(() => releasing(db, approvals as never)).toThrow(TypeError);
    },
  );
});

test('a vote that was changed in the file is no vote', ofOneFile('plants rows'), async ({ db }) => {
  const app = releasing(db, TWO_OF_THREE);
  const gate = await waiting(app);
  await app.decide(gate, { ...YES, by: ada });
  db.prepare(`UPDATE hitl_votes SET principal_id = 'eve'`).run();
  await expect(app.decide(gate, { ...YES, by: bob })).rejects.toMatchObject({ code: 'STATE_CORRUPT' });
  expect(db.prepare('SELECT count(*) FROM hitl_decisions').pluck().get()).toBe(0);
});

test('whatever is said in whatever order, the first no or the M-th yes is the one decision', async ({
  db,
}) => {
  const people = ['ada', 'bob', 'eve'] as const;
  const app = releasing(db, TWO_OF_THREE);
  let runs = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.constantFrom(...people), fc.boolean()), { maxLength: 6 }),
      async (said) => {
        runs += 1;
        const id = `run-${runs}`;
        const gate = await waiting(app, id);
        const yes = new Set<string>();
        let expected: boolean | null = null;
        for (const [name, approved] of said) {
          const by = { kind: 'human', id: name } as const;
          const told = app.decide(gate, approved ? { ...YES, by } : { approved, feedback: 'no', by });
          if (expected !== null) {
            await expect(told).rejects.toMatchObject({ code: 'GATE_ALREADY_DECIDED' });
            continue;
          }
          if (approved) yes.add(name);
          expected = approved ? (yes.size === 2 ? true : null) : false;
          expect((await told).status).toBe(expected === null ? 'awaiting_approval' : 'decided');
        }
        const last = { true: 'released', false: 'rejected', null: 'built' }[String(expected) as 'true'];
        expect((await app.run(id)).values?.log.at(-1)).toBe(last);
      },
    ),
    { numRuns: 12 },
  );
});
