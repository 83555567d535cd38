import { renameSync } from 'node:fs';
import { Annotation, END, interrupt, MemorySaver, START, StateGraph } from '@langchain/langgraph';
import { expect } from 'vitest';
import { test } from '../../../../test/support/fixtures.ts';
import { createDatabase } from '../../../db/createDatabase.ts';
import { durable } from '../../app/durable.ts';
import { FileRuns } from '../FileRuns.ts';

const Mail = Annotation.Root({ answer: Annotation<unknown>() });

test('who waits for a run in a file that was replaced is told so: nobody decides there', async ({
  dbPath,
}) => {
  const db = createDatabase({ dbPath });
  const builder = new StateGraph(Mail)
    .addNode('ask', () => ({ answer: interrupt('Send?') }))
    .addEdge(START, 'ask')
    .addEdge('ask', END);
  const app = durable(builder, { runs: new FileRuns(db), graph: 'mail' });
  await app.run('mail-1', {});
  const replaced = { code: 'STATE_REPLACED' };
  const waits = [app.run('mail-1', undefined, { wait: true }), app.result('mail-1', { wait: true })];
  const told = waits.map((wait) => expect(wait).rejects.toMatchObject(replaced));
  renameSync(dbPath, `${dbPath}.old`);
  await Promise.all(told);
  db.close();
});

test('a thread is imported by an app over the file itself', async ({ db }) => {
  const builder = new StateGraph(Mail)
    .addNode('ask', () => ({ answer: interrupt('Send?') }))
    .addEdge(START, 'ask')
    .addEdge('ask', END);
  const saver = new MemorySaver();
  await builder.compile({ checkpointer: saver }).invoke({}, { configurable: { thread_id: 'mail-1' } });
  const by = { kind: 'human', id: 'ada' } as const;
  const through = durable(builder, { runs: new FileRuns(db), graph: 'mail' });
  await expect(through.importThread('mail-1', { saver, by })).rejects.toMatchObject({
    code: 'RUN_ELSEWHERE',
  });
  expect(await through.get('mail-1')).toBeNull();
  await durable(builder, { db, graph: 'mail' }).importThread('mail-1', { saver, by });
  expect(await through.get('mail-1')).toMatchObject({ status: 'waiting' });
});
