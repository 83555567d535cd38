import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { END, interrupt, START, StateGraph } from '@langchain/langgraph';
import type { Database } from 'better-sqlite3';
import { describe, expect } from 'vitest';
import { ada, OwnState, says, twoBranches, twoSteps } from '../../src/engine/__tests__/ownGraph.ts';
import { internalsOf } from '../../src/engine/file/appInternals.ts';
import { interrupt as ownInterrupt } from '../../src/engine/node/interrupt.ts';
import { DecisionLog } from '../../src/state/gates/DecisionLog.ts';
import { test } from '../support/fixtures.ts';
import { only } from '../support/only.ts';
import { durable } from '../support/runs/durable.ts';

/** A file of the world outside, which a gate shows and its node acts on. */
function aFile(dbPath: string, text: string) {
  const path = join(dirname(dbPath), 'draft.md');
  const write = (now: string): void => writeFileSync(path, now);
  write(text);
  return { write, read: (): string => readFileSync(path, 'utf8') };
}

type Outside = ReturnType<typeof aFile>;

const SHAPES = {
  'a declared gate': ({ read }: Outside, db: Database, published: string[]) =>
    durable(
      twoSteps(says('first'), () => {
        published.push(read());
        return { log: ['published'] };
      }),
      { db, gates: { second: { show: read, onReject: () => ({ log: ['rejected'] }) } } },
    ),
  'an interrupt()': ({ read }: Outside, db: Database, published: string[]) =>
    durable(
      twoSteps(says('first'), () => {
        if (interrupt(read()) !== true) return { log: ['rejected'] };
        published.push(read());
        return { log: ['published'] };
      }),
      { db },
    ),
  "an interrupt() of this package's": ({ read }: Outside, db: Database, published: string[]) =>
    durable(
      twoSteps(says('first'), () => {
        if (ownInterrupt(read()) !== true) return { log: ['rejected'] };
        published.push(read());
        return { log: ['published'] };
      }),
      { db },
    ),
  'an interrupt() in a subgraph': ({ read }: Outside, db: Database, published: string[]) => {
    const sub = new StateGraph(OwnState)
      .addNode('inner', () => {
        if (interrupt(read()) !== true) return { log: ['rejected'] };
        published.push(read());
        return { log: ['published'] };
      })
      .addEdge(START, 'inner')
      .addEdge('inner', END)
      .compile();
    const builder = new StateGraph(OwnState)
      .addNode('outer', sub)
      .addEdge(START, 'outer')
      .addEdge('outer', END);
    return durable(builder, { db }) as unknown as ReturnType<(typeof SHAPES)['an interrupt()']>;
  },
} as const;

type Shape = keyof typeof SHAPES;

const yes = (shape: Shape) => (shape === 'a declared gate' ? { approved: true } : { value: true });
const no = (shape: Shape) =>
  shape === 'a declared gate' ? { approved: false, feedback: 'no' } : { value: false };

const voided = (db: Database): readonly unknown[] =>
  db
    .prepare<[], string>(`SELECT payload_json FROM events WHERE name = 'HITL_ANSWER_VOIDED' ORDER BY seq`)
    .pluck()
    .all()
    .map((json) => JSON.parse(json) as unknown);

describe.for(Object.keys(SHAPES) as Shape[])('what %s shows has changed after the answer', (shape) => {
  test('so it is asked again, the answer counts no more, and the log says why', async ({ db, dbPath }) => {
    const outside = aFile(dbPath, 'version 1');
    const published: string[] = [];
    const app = SHAPES[shape](outside, db, published);
    const first = only((await app.run('run', {})).gates);
    await app.decide(first, { ...yes(shape), by: ada });
    outside.write('version 2');

    const { status, gates } = await app.run('run');
    expect(status).toBe('waiting');
    const second = only(gates);
    expect(second).toMatchObject({ artifact: 'version 2' });
    expect(second.sessionId).not.toBe(first.sessionId);
    expect(published).toEqual([]);
    expect(voided(db)).toEqual([
      {
        sessionId: first.sessionId,
        kind: first.kind,
        principal: 'human:ada',
        artifactHash: first.artifactHash,
        shows: second.artifactHash,
      },
    ]);
    await expect(app.decide(first, { ...no(shape), by: ada })).rejects.toMatchObject({ code: 'GATE_STALE' });

    await app.decide(second, { ...yes(shape), by: ada });
    expect(await app.run('run')).toMatchObject({ status: 'completed' });
    expect(published).toEqual(['version 2']);
    expect(internalsOf(app).store.sessions.require(first.sessionId).status).toBe('superseded');
    expect(new DecisionLog(db).verify()).toEqual({ ok: true });
    expect(voided(db)).toHaveLength(1);
  });

  test('a void answer stays void when the old version is back', async ({ db, dbPath }) => {
    const outside = aFile(dbPath, 'version 1');
    const published: string[] = [];
    const app = SHAPES[shape](outside, db, published);
    await app.decide(only((await app.run('run', {})).gates), { ...yes(shape), by: ada });
    outside.write('version 2');
    await app.decide(only((await app.run('run')).gates), { ...no(shape), by: ada });
    outside.write('version 1');
    const third = only((await app.run('run')).gates);
    expect(third).toMatchObject({ artifact: 'version 1' });
    expect(published).toEqual([]);
    await app.decide(third, { ...no(shape), by: ada });
    expect((await app.run('run')).values?.log).toContain('rejected');
    expect(published).toEqual([]);
    expect(internalsOf(app).store.sessions.listOpen()).toEqual([]);
  });

  test('an answer to what is still shown is taken up at once', async ({ db, dbPath }) => {
    const published: string[] = [];
    const app = SHAPES[shape](aFile(dbPath, 'version 1'), db, published);
    await app.decide(only((await app.run('run', {})).gates), { ...yes(shape), by: ada });
    expect((await app.run('run')).status).toBe('completed');
    expect(published).toEqual(['version 1']);
    expect(voided(db)).toEqual([]);
  });
});

test('an answer that is void is not taken by a question that the node asks later', async ({ db, dbPath }) => {
  const outside = aFile(dbPath, 'version 1');
  const builder = twoSteps(says('first'), () => ({ answer: interrupt('which one?') }));
  const app = durable(builder, { db, gates: { second: outside.read } });
  await app.decide(only((await app.run('run', {})).gates), { approved: true, by: ada });
  outside.write('version 2');
  await app.decide(only((await app.run('run')).gates), { approved: true, by: ada });
  const which = only((await app.run('run')).gates);
  expect(which).toMatchObject({ kind: 'interrupt', artifact: 'which one?' });
  await app.decide(which, { value: 'that one', by: ada });
  expect((await app.run('run')).values?.answer).toBe('that one');
});

test('a question that shows something else when its node runs again for another one has a new gate', async ({
  db,
  dbPath,
}) => {
  const outside = aFile(dbPath, 'version 1');
  const app = durable(
    twoBranches(
      () => ({ log: [`left ${interrupt(outside.read())}`] }),
      () => ({ log: [`right ${interrupt('right?')}`] }),
    ),
    { db },
  );
  const { gates } = await app.run('run', {});
  const [left, right] = ['version 1', 'right?'].map((shown) =>
    only(gates.filter(({ artifact }) => artifact === shown)),
  ) as [(typeof gates)[number], (typeof gates)[number]];
  outside.write('version 2');
  await app.decide(right, { value: 1, by: ada });
  const now = only((await app.run('run')).gates);
  expect(now).toMatchObject({ artifact: 'version 2' });
  await expect(app.decide(left, { value: 2, by: ada })).rejects.toMatchObject({ code: 'GATE_STALE' });
  await app.decide(now, { value: 2, by: ada });
  expect((await app.run('run')).values?.log).toEqual(expect.arrayContaining(['left 2', 'right 1']));
});
