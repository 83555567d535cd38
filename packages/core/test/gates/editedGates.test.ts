import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import type { Database } from 'better-sqlite3';
import { describe, expect } from 'vitest';
import { ada, bob } from '../../src/engine/__tests__/ownGraph.ts';
import { internalsOf } from '../../src/engine/file/appInternals.ts';
import { DecisionLog } from '../../src/state/gates/DecisionLog.ts';
import { hashOf } from '../../src/values/canonicalJson.ts';
import { test } from '../support/fixtures.ts';
import { only } from '../support/only.ts';
import { durable } from '../support/runs/durable.ts';

const State = Annotation.Root({
  draft: Annotation<string>(),
  log: Annotation<readonly string[]>({ reducer: (left, right) => [...left, ...right], default: () => [] }),
});

interface Seen {
  readonly published: unknown[];
  fails: number;
}

function publishing(db: Database, seen: Seen = { published: [], fails: 0 }, isEditable = true) {
  const graph = new StateGraph(State)
    .addNode('write', () => ({ draft: 'Helo', log: ['written'] }))
    .addNode('publish', ({ draft, log }) => {
      seen.published.push({ draft, log });
      if (seen.fails > 0) {
        seen.fails -= 1;
        throw new Error('The press is jammed.');
      }
      return { log: ['published'] };
    })
    .addEdge(START, 'write')
    .addEdge('write', 'publish')
    .addEdge('publish', END);
  const edit = (_state: typeof State.State, artifact: unknown) => ({
    draft: String(artifact),
    log: ['edited'],
  });
  const gates = { publish: { show: ({ draft }: typeof State.State) => draft, ...(isEditable && { edit }) } };
  return { app: durable(graph, { db, gates }), seen };
}

const decisions = (db: Database): readonly unknown[] =>
  db
    .prepare<[], string>('SELECT body_json FROM hitl_decisions ORDER BY seq')
    .pluck()
    .all()
    .map((json) => JSON.parse(json) as unknown);

const AS_EDITED = { draft: 'Hello', log: ['written', 'edited', 'published'] };

describe('a version of a human’s own', () => {
  test('is what the node is given and what the state has, once', async ({ db }) => {
    const { app, seen } = publishing(db);
    const gate = only((await app.run('run', {})).gates);
    expect(gate.takes).toEqual({ gate: 'publish', edit: 'artifact' });
    // Recorded as in files of every release.
    expect(internalsOf(app).store.sessions.require(gate.sessionId).question).toMatchObject({
      takes: { edit: 'artefact' },
    });
    await app.decide(gate, { edit: 'Hello', by: ada });
    expect(await app.run('run')).toMatchObject({ status: 'completed', values: AS_EDITED });
    expect(seen.published).toEqual([{ draft: 'Hello', log: ['written', 'edited'] }]);
  });

  test('is the approval of what was edited, and the log has both hashes', async ({ db }) => {
    const { app } = publishing(db);
    const gate = only((await app.run('run', {})).gates);
    const { decision } = await app.decide(gate, { edit: 'Hello', by: ada });
    expect(decision).toEqual({ approved: true, edit: 'Hello', editHash: hashOf('Hello') });
    expect(decisions(db)).toMatchObject([
      { artifactHash: hashOf('Helo'), editHash: hashOf('Hello'), principal: ada },
    ]);
    expect(JSON.stringify(decisions(db))).not.toContain('Hello');
    expect(new DecisionLog(db).verify()).toEqual({ ok: true });
    const [event] = db
      .prepare<[], string>(`SELECT payload_json FROM events WHERE name = 'HITL_SESSION_DECIDED'`)
      .pluck()
      .all();
    expect(JSON.parse(event ?? '')).toMatchObject({ edited: true, said: 'edited', principal: 'human:ada' });
  });

  test('is given again when the node runs again', async ({ db }) => {
    const { app, seen } = publishing(db, { published: [], fails: 1 });
    const gate = only((await app.run('run', {})).gates);
    await app.decide(gate, { edit: 'Hello', by: ada });
    expect((await app.run('run', undefined, { throwOnFailure: false })).status).toBe('failed');
    expect(await publishing(db, seen).app.run('run')).toMatchObject({
      status: 'completed',
      values: AS_EDITED,
    });
    expect(seen.published).toEqual(Array(2).fill({ draft: 'Hello', log: ['written', 'edited'] }));
  });

  test('is recorded, hashed and used as it was given', async ({ db }) => {
    const { app, seen } = publishing(db);
    const secret = 'ghp_16C7e42F292c6912E7710c838347Ae178B4a';
    const { decision } = await app.decide(only((await app.run('run', {})).gates), {
      edit: `use ${secret}`,
      by: ada,
    });
    const { edit, editHash } = decision as { edit: string; editHash: string };
    expect(edit).toBe(`use ${secret}`);
    expect(editHash).toBe(hashOf(edit));
    await app.run('run');
    expect(seen.published).toMatchObject([{ draft: edit }]);
  });

  test('is refused before anything is written where the gate takes none', async ({ db }) => {
    const { app } = publishing(db, undefined, false);
    const gate = only((await app.run('run', {})).gates);
    expect(gate.takes).toBeUndefined();
    const refused = { code: 'INVALID_ANSWER' };
    await expect(app.decide(gate, { edit: 'Hello', by: ada })).rejects.toMatchObject(refused);
    await expect(app.decide(gate, { value: 'Hello', by: ada })).rejects.toMatchObject(refused);
    expect([await app.gates('run'), decisions(db)]).toEqual([[gate], []]);
  });

  test.for([
    ['nothing', undefined],
    ['a function', () => 1],
    ['no number', Number.NaN],
    ['a cycle', cyclic()],
    ['too much', 'x'.repeat(1024 * 1024)],
  ] as const)('is refused before anything is written: %s', async ([, edit], { db }) => {
    const { app } = publishing(db);
    const gate = only((await app.run('run', {})).gates);
    await expect(app.decide(gate, { edit, by: ada })).rejects.toMatchObject({ code: 'INVALID_ANSWER' });
    await expect(app.decide(gate, { edit: 'x', approved: true, by: ada })).rejects.toMatchObject({
      code: 'INVALID_ANSWER',
    });
    expect([await app.gates('run'), decisions(db)]).toEqual([[gate], []]);
    await app.decide(gate, { edit: null, by: ada });
  });

  test('by an agent, for another version or after somebody else is refused', async ({ db }) => {
    const { app } = publishing(db);
    const gate = only((await app.run('run', {})).gates);
    const agent = { kind: 'agent', id: 'coder' } as const;
    await expect(app.decide(gate, { edit: 'x', by: agent })).rejects.toMatchObject({
      code: 'AGENT_MAY_NOT_DECIDE',
    });
    const other = { ...gate, artifactHash: hashOf('other') };
    await expect(app.decide(other, { edit: 'x', by: ada })).rejects.toMatchObject({ code: 'GATE_STALE' });
    const both = await Promise.allSettled([
      app.decide(gate, { edit: 'Hello', by: ada }),
      app.decide(gate, { edit: 'Hallo', by: bob }),
    ]);
    const lost = both.find(({ status }) => status === 'rejected');
    const winner = both.indexOf(lost as (typeof both)[number]) === 1 ? ada : bob;
    expect(both.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(lost).toMatchObject({
      reason: { code: 'GATE_ALREADY_DECIDED', context: { principal: `human:${winner.id}` } },
    });
  });

  test('for a gate that takes none any more is asked about again', async ({ db }) => {
    const gate = only((await publishing(db).app.run('run', {})).gates);
    await publishing(db).app.decide(gate, { edit: 'Hello', by: ada });
    const { app } = publishing(db, undefined, false);
    const again = only((await app.run('run')).gates);
    expect([again.artifact, again.takes, again.sessionId === gate.sessionId]).toEqual([
      'Helo',
      undefined,
      false,
    ]);
    await app.decide(again, { approved: true, by: ada });
    expect((await app.run('run')).values).toMatchObject({ draft: 'Helo', log: ['written', 'published'] });
  });

  test('leaves the node the last word on a channel that holds one value', async ({ db }) => {
    const graph = new StateGraph(State)
      .addNode('publish', ({ draft }) => ({ draft: `${draft}!` }))
      .addEdge(START, 'publish');
    const show = ({ draft }: typeof State.State) => draft;
    const edit = (_: unknown, artifact: unknown) => ({ draft: String(artifact) });
    const app = durable(graph, { db, gates: { publish: { show, edit } } });
    await app.decide(only((await app.run('run', { draft: 'Helo' })).gates), { edit: 'Hello', by: ada });
    expect((await app.run('run')).values).toMatchObject({ draft: 'Hello!' });
  });
});

function cyclic(): object {
  const cycle: Record<string, unknown> = {};
  cycle['self'] = cycle;
  return cycle;
}
