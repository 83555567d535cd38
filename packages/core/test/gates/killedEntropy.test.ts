import { randomInt } from 'node:crypto';
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import type { Database } from 'better-sqlite3';
import { describe, expect } from 'vitest';
import { createDatabase } from '../../src/db/createDatabase.ts';
import { ada } from '../../src/engine/__tests__/ownGraph.ts';
import type { AgentAction } from '../../src/engine/entropy/ReadTurn.ts';
import type { GuardEvidence } from '../../src/events/events.ts';
import { EventStore } from '../../src/state/events/EventStore.ts';
import { test } from '../support/fixtures.ts';
import { howMany } from '../support/howMany.ts';
import { durable } from '../support/runs/durable.ts';
import { ofOneFile } from '../support/runs/where.ts';
import { tried } from '../support/tried.ts';
import { type Death, DyingFile } from './DyingFile.ts';

/** Of the writes, one in so many; which, is another in every run. */
const EVERY = howMany('DEVS_ENTROPY_DEATHS_EVERY', 5);

const State = Annotation.Root({
  turns: Annotation<readonly AgentAction[]>({
    reducer: (left, right) => [...left, ...right],
    default: () => [],
  }),
});

/** Fails in the same words until it has been at it six times: warns at the third, asks at the fourth. */
function start(dbPath: string, death: Death | null) {
  const db = createDatabase({ dbPath });
  db.pragma('synchronous = OFF'); // dying here is closing: what was committed is in the file
  const file = new DyingFile(db, death);
  const builder = new StateGraph(State)
    .addNode('try', ({ turns }) => ({ turns: [{ action: `try ${turns.length}`, error: 'the same error' }] }))
    .addEdge(START, 'try')
    .addConditionalEdges('try', ({ turns }) => (turns.length < 6 ? 'try' : END));
  return { db, file, app: durable(builder, { db, guards: { entropy: ({ turns }) => turns } }) };
}

type Process = ReturnType<typeof start>;

/** Drives to the first gate, and returns what it says. */
async function toTheGate({ app }: Process, run: string): Promise<unknown> {
  const { status, gates, values } = await app.run(run, {});
  return {
    status,
    gates: gates.map(({ kind, artifact }) => [kind, entropyIn(artifact)]),
    turns: values?.turns,
  };
}

const entropyIn = (artifact: unknown): unknown => (artifact as { readonly entropy?: unknown }).entropy;

/** The events about the score of a run, and how many gates and sessions it has. */
function recorded(db: Database, run: string): unknown {
  const events = new EventStore(db)
    .list(run)
    .filter(({ payload }) => (payload as Partial<GuardEvidence>).measure === 'entropy')
    .map(({ name, payload }) => [name, (payload as GuardEvidence).level]);
  const count = (sql: string): unknown => db.prepare(sql).pluck().get(run);
  return {
    events,
    gates: count('SELECT count(*) FROM hitl_failure_gates WHERE task_id = ?'),
    sessions: count('SELECT count(*) FROM hitl_sessions WHERE thread_id = ?'),
  };
}

/** What its death does for a real process. */
const leaveToOthers = (db: Database): unknown => db.prepare('UPDATE threads SET lease_owner = NULL').run();

describe('a process that dies at any write on the way to a failure gate', () => {
  test('leaves the score exact: the same gate for the same reasons, one warning, one trip, one session', {
    ...ofOneFile('dies at a write'),
    timeout: 120_000,
  }, async ({ db, dbPath, task }) => {
    const whole = start(dbPath, null);
    const writesBefore = whole.file.writes;
    const expected = await toTheGate(whole, 'whole');
    const writes = whole.file.writes - writesBefore;
    expect(expected).toMatchObject({
      status: 'waiting',
      gates: [['task_failure', { score: 0.7875, parts: [{ part: 'same_error', share: 0.7875 }] }]],
      turns: { length: 4 },
    });
    const once = {
      events: [
        ['GUARD_WARNED', 0.675],
        ['GUARD_TRIPPED', 0.7875],
      ],
      gates: 1,
      sessions: 1,
    };
    expect(recorded(db, 'whole')).toEqual(once);

    let deaths = 0;
    for (let write = 1 + randomInt(EVERY); write <= writes; write += EVERY) {
      const run = `dies-at-${write}`;
      const dying = start(dbPath, { write: write + writesBefore, side: 'after' });
      if ((await toTheGate(dying, run).catch(() => null)) === null) deaths += 1;
      tried(task, { ways: deaths });
      dying.db.close();
      leaveToOthers(db);
      expect([run, await toTheGate(whole, run)]).toEqual([run, expected]);
      expect([run, recorded(db, run)]).toEqual([run, once]);
    }
    expect(deaths).toBeGreaterThanOrEqual(Math.floor(40 / EVERY));
    await goesOnAfterAnAnswer(whole);
    whole.db.close();
  });
});

/** The answer is progress; the turns stay in the author's state, so the score does too, and the next turn asks again. */
async function goesOnAfterAnAnswer({ app }: Process): Promise<void> {
  const [gate] = (await app.run('whole')).gates;
  if (gate === undefined) throw new Error('There is no gate.');
  await app.decide(gate, { action: 'retry', by: ada });
  const { gates } = await app.run('whole');
  expect(gates.map(({ kind }) => kind)).toEqual(['task_failure']);
  expect(gates[0]?.sessionId).not.toBe(gate.sessionId);
}
