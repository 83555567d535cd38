import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import type { Database } from 'better-sqlite3';
import { describe, expect } from 'vitest';
import { everyTable } from '../../src/orchestration/__tests__/everyTable.ts';
import { ada } from '../../src/orchestration/__tests__/ownGraph.ts';
import { durable } from '../../src/orchestration/durable.ts';
import { test } from '../support/fixtures.ts';
import { only } from '../support/only.ts';

const State = Annotation.Root({ draft: Annotation<string>(), url: Annotation<string>() });
const Renamed = Annotation.Root({ draft: Annotation<string>(), address: Annotation<string>() });

/** The program as it was when the run began to wait. */
const before = (db: Database) =>
  durable(
    new StateGraph(State)
      .addNode('write', () => ({ draft: 'Hello.' }))
      .addNode('publish', () => ({ url: '/hello' }))
      .addNode('announce', () => ({}))
      .addEdge(START, 'write')
      .addEdge('write', 'publish')
      .addEdge('publish', 'announce')
      .addEdge('announce', END),
    { db, gates: { publish: ({ draft }) => draft } },
  );

/** The program as it is now. */
const CHANGED: Readonly<Record<string, (db: Database) => { run(id: string): Promise<unknown> }>> = {
  'the node at the gate renamed': (db) =>
    durable(
      new StateGraph(State)
        .addNode('write', () => ({ draft: 'Hello.' }))
        .addNode('release', () => ({ url: '/hello' }))
        .addNode('announce', () => ({}))
        .addEdge(START, 'write')
        .addEdge('write', 'release')
        .addEdge('release', 'announce')
        .addEdge('announce', END),
      { db, gates: { release: ({ draft }) => draft } },
    ),
  'a node removed': (db) =>
    durable(
      new StateGraph(State)
        .addNode('write', () => ({ draft: 'Hello.' }))
        .addNode('publish', () => ({ url: '/hello' }))
        .addEdge(START, 'write')
        .addEdge('write', 'publish')
        .addEdge('publish', END),
      { db, gates: { publish: ({ draft }) => draft } },
    ),
  'a question inserted': (db) =>
    durable(
      new StateGraph(State)
        .addNode('write', () => ({ draft: 'Hello.' }))
        .addNode('publish', () => ({ url: '/hello' }))
        .addNode('announce', () => ({}))
        .addEdge(START, 'write')
        .addEdge('write', 'publish')
        .addEdge('publish', 'announce')
        .addEdge('announce', END),
      { db, gates: { publish: ({ draft }) => draft, announce: ({ url }) => url } },
    ),
  'a key renamed': (db) =>
    durable(
      new StateGraph(Renamed)
        .addNode('write', () => ({ draft: 'Hello.' }))
        .addNode('publish', () => ({ address: '/hello' }))
        .addNode('announce', () => ({}))
        .addEdge(START, 'write')
        .addEdge('write', 'publish')
        .addEdge('publish', 'announce')
        .addEdge('announce', END),
      { db, gates: { publish: ({ draft }) => draft } },
    ),
};

describe('under a waiting run', () => {
  test.for(Object.entries(CHANGED))(
    '%s is GRAPH_CHANGED, also once it was approved; the old program goes on',
    async ([_what, now], { db }) => {
      const gate = only((await before(db).run('run', {})).gates);
      const refused = { code: 'GRAPH_CHANGED', context: { threadId: 'run' } };
      const rows = everyTable(db);
      await expect(now(db).run('run')).rejects.toMatchObject(refused);
      expect(everyTable(db)).toBe(rows);

      before(db).decide(gate, { approved: true, by: ada });
      await expect(now(db).run('run')).rejects.toMatchObject(refused);
      expect(await before(db).run('run')).toMatchObject({ status: 'completed', values: { url: '/hello' } });
    },
  );
});
