import { randomBytes } from 'node:crypto';
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import { describe, expect } from 'vitest';
import { openReadOnly } from '../../src/db/createDatabase.ts';
import { durable } from '../../src/engine/app/durable.ts';
import { ThreadStore } from '../../src/state/threads/ThreadStore.ts';
import { test } from '../support/fixtures.ts';

const State = Annotation.Root({ done: Annotation<number>(), payload: Annotation<string>() });

describe('a run on a file that can grow no further', () => {
  test('starts no further node, says why, can be read, and goes on once there is space', async ({
    db,
    dbPath,
  }) => {
    const started: number[] = [];
    const builder = new StateGraph(State)
      .addNode('work', ({ done }) => {
        started.push(done);
        return { done: done + 1, payload: randomBytes(48 * 1024).toString('hex') };
      })
      .addEdge(START, 'work')
      .addConditionalEdges('work', ({ done }) => (done < 12 ? 'work' : END));
    const app = durable(builder, { db, durability: 'sync', guards: { maxDepth: 100 } });
    const pages = db.pragma('page_count', { simple: true }) as number;
    db.pragma(`max_page_count = ${pages + 150}`);

    await expect(app.run('r', { done: 0, payload: '' })).rejects.toMatchObject({ code: 'STATE_DISK_FULL' });
    const startedWhenFull = started.length;
    expect(startedWhenFull).toBeLessThan(12);
    await expect(app.run('r')).rejects.toMatchObject({ code: 'STATE_DISK_FULL' });
    expect(started.length - startedWhenFull).toBeLessThanOrEqual(1);

    const viewer = openReadOnly({ dbPath });
    expect(new ThreadStore(viewer).require('r').threadId).toBe('r');
    viewer.close();

    db.pragma('max_page_count = 1000000');
    expect(await app.run('r')).toMatchObject({ status: 'completed', values: { done: 12 } });
    expect(db.pragma('integrity_check', { simple: true })).toBe('ok');
    const redone = started.length - new Set(started).size;
    expect(redone).toBeLessThanOrEqual(2);
  });
});
