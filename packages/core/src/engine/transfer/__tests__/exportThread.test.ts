import { Annotation, Command, END, interrupt, MemorySaver, START, StateGraph } from '@langchain/langgraph';
import { describe, expect } from 'vitest';
import { test } from '../../../../test/support/fixtures.ts';
import { only } from '../../../../test/support/only.ts';
import { durable } from '../../../../test/support/runs/durable.ts';
import { at } from '../../../../test/transfer/threads.ts';
import { sleep, waitFor } from '../../node/waitFor.ts';

const ada = { kind: 'human', id: 'ada' } as const;

const Log = Annotation.Root({
  log: Annotation<string[]>({ reducer: (all, more) => [...all, ...more], default: () => [] }),
});

const inner = () =>
  new StateGraph(Log)
    .addNode('first', () => ({ log: [interrupt<string, string>('first?')] }))
    .addNode('second', () => ({ log: [interrupt<string, string>('second?')] }))
    .addEdge(START, 'first')
    .addEdge('first', 'second')
    .addEdge('second', END);

const posting = () =>
  new StateGraph(Log)
    .addNode('draft', () => ({ log: ['draft'] }))
    .addNode('ask', inner().compile())
    .addNode('end', ({ log }) => ({ log: [`end of ${log.length}`] }))
    .addEdge(START, 'draft')
    .addEdge('draft', 'ask')
    .addEdge('ask', 'end')
    .addEdge('end', END);

const refusal = (reason: string) => ({ code: 'TRANSFER_REFUSED', context: { threadId: 'post', reason } });

describe('a run', () => {
  test.for([false, true])(
    'goes on by plain LangGraph from its second gate, and stays here (history: %s)',
    async (history, { db }) => {
      const app = durable(posting(), { db });
      await app.run('post', { log: ['in'] });
      await app.decide(only(await app.gates('post')), { value: 'one', by: ada });
      await app.run('post');
      const saver = new MemorySaver();
      const exported = await app.exportThread('post', { saver, history });
      expect(exported).toMatchObject({
        id: 'post',
        result: 'exported',
        status: 'waiting',
        interrupts: [{ value: 'second?' }],
      });
      const graph = posting().compile({ checkpointer: saver });
      const [before, here] = [await graph.getState(at('post')), await app.getState('post')];
      expect(before.next).toEqual(here.next);
      expect(only(before.tasks).interrupts).toEqual(only(here.tasks).interrupts);
      expect(JSON.stringify(before.metadata)).not.toContain('lease');

      const { id } = only(exported.interrupts);
      const ended = await graph.invoke(new Command({ resume: { [id]: 'two' } }), at('post'));
      expect(ended).toMatchObject({
        log: ['in', 'draft', 'in', 'draft', 'one', 'two', expect.stringContaining('end of')],
      });
      await expect(app.exportThread('post', { saver })).rejects.toMatchObject(refusal('moved_on_there'));

      expect(await app.get('post')).toMatchObject({ status: 'waiting' });
      await app.decide(only(await app.gates('post')), { value: 'two', by: ada });
      expect(await app.run('post')).toMatchObject({ status: 'completed', values: { log: ended.log } });
      expect((await app.getStateHistory('post')).length).toBeGreaterThan(3);
    },
  );

  test('that has gone on is exported again', async ({ db }) => {
    const app = durable(posting(), { db });
    await app.run('post', { log: [] });
    const saver = new MemorySaver();
    await app.exportThread('post', { saver });
    expect(await app.exportThread('post', { saver })).toMatchObject({ result: 'unchanged' });
    await app.decide(only(await app.gates('post')), { value: 'one', by: ada });
    await expect(app.exportThread('post', { saver })).rejects.toMatchObject(refusal('answer_pending'));
    await app.run('post');
    expect(await app.exportThread('post', { saver })).toMatchObject({ interrupts: [{ value: 'second?' }] });
    await app.decide(only(await app.gates('post')), { value: 'two', by: ada });
    await app.run('post');
    expect(await app.exportThread('post', { saver, history: true })).toMatchObject({
      status: 'completed',
      interrupts: [],
    });
    const { next, values } = await posting().compile({ checkpointer: saver }).getState(at('post'));
    expect({ next, values }).toEqual({ next: [], values: await app.values('post') });
  });

  test.for([
    ['a gate of the app', () => ({}), { gates: { node: ({ log }: typeof Log.State) => log } }],
    ['a timer', async () => sleep(60_000).then(() => ({})), {}],
    ['a signal', async () => waitFor('payment').then(() => ({})), {}],
  ] as const)(
    'that waits for %s is refused, and nothing is written there',
    async ([, node, options], { db }) => {
      const graph = new StateGraph(Log).addNode('node', node as () => object).addEdge(START, 'node');
      const app = durable(graph, { db, ...(options as object) });
      await app.run('post', { log: [] });
      const saver = new MemorySaver();
      await expect(app.exportThread('post', { saver })).rejects.toMatchObject(refusal('waits_for_engine'));
      expect(Object.keys(saver.storage)).toEqual([]);
    },
  );

  test('that has not begun, or is another thread there, is refused', async ({ db }) => {
    const app = durable(posting(), { db });
    const saver = new MemorySaver();
    await expect(app.exportThread('none', { saver })).rejects.toMatchObject({ code: 'THREAD_NOT_FOUND' });
    await app.start('post', { log: [] });
    await expect(app.exportThread('post', { saver })).rejects.toMatchObject(refusal('not_begun'));
    await posting()
      .compile({ checkpointer: saver })
      .invoke({ log: ['other'] }, at('post'));
    await app.run('post');
    await expect(app.exportThread('post', { saver })).rejects.toMatchObject(refusal('moved_on_there'));
  });
});
