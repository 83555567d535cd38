import { Command, END, START, StateGraph } from '@langchain/langgraph';
import type { Database } from 'better-sqlite3';
import { describe, expect } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { only } from '../../../test/support/only.ts';
import { circle, OwnState, repeating, says, twoSteps } from '../../engine/__tests__/ownGraph.ts';
import { durable } from '../../engine/app/durable.ts';
import { internalsOf } from '../../engine/file/appInternals.ts';
import { GraphSuspendedSignal } from '../../engine/gates/GraphSuspendedSignal.ts';
import { invokeGuarded } from '../../engine/node/runNode.ts';
import { EventBus } from '../../events/events.ts';
import { OrchestrationGraph } from '../graph.ts';
import { aState } from './aState.ts';

const config = { configurable: { thread_id: 'run' } };

/** What it throws; a run that goes on fails the test. */
async function signalOf(work: Promise<unknown>): Promise<GraphSuspendedSignal> {
  const thrown: unknown = await work.then(
    () => new Error('The run went on.'),
    (error: unknown) => error,
  );
  if (thrown instanceof GraphSuspendedSignal) return thrown;
  throw thrown;
}

function stuck(db: Database) {
  const app = durable(
    twoSteps(() => repeating({ log: ['first'] }, 0.9)),
    { db },
  );
  return { graph: app.graph, store: internalsOf(app).store };
}

describe('invokeGuarded', () => {
  test('returns the state of a run that ends', async ({ db }) => {
    const { graph } = durable(twoSteps(), { db });
    expect(await invokeGuarded(graph, {}, config)).toMatchObject({ log: ['first', 'second'] });
  });

  test('throws a signal that is no Error when a run is handed over, with its session open', async ({
    db,
  }) => {
    const { graph, store } = stuck(db);
    const signal = await signalOf(invokeGuarded(graph, {}, config));
    expect(signal).not.toBeInstanceOf(Error);
    expect(signal.taskId).toBe('run');
    expect(only(store.manager.listPendingSessions())).toMatchObject({
      id: signal.sessionId,
      kind: 'task_failure',
      threadId: null,
    });
    expect(store.failureGate.getGateStatus('run')).toMatchObject({ sessionId: signal.sessionId });
  });

  test('keeps the output that led there: it is in the checkpoint before the signal', async ({ db }) => {
    const { graph } = stuck(db);
    await signalOf(invokeGuarded(graph, {}, config));
    expect((await graph.getState(config)).values).toMatchObject({ log: ['first'] });
  });

  test('goes on once the session was resumed and the question answered under its key', async ({ db }) => {
    const { graph, store } = stuck(db);
    const { sessionId } = await signalOf(invokeGuarded(graph, {}, config));
    expect(store.manager.resume(sessionId)).toMatchObject({ log: ['first'] });
    const resume = { for: sessionId, value: { action: 'retry' } };
    expect(await invokeGuarded(graph, new Command({ resume }), config)).toMatchObject({
      log: ['first', 'second'],
    });
    expect(store.manager.listPendingSessions()).toEqual([]);
  });

  test('asks again after an answer for something else', async ({ db }) => {
    const { graph, store } = stuck(db);
    const { sessionId } = await signalOf(invokeGuarded(graph, {}, config));
    for (const resume of [{ action: 'retry' }, { for: 'another', value: { action: 'retry' } }, true]) {
      const again = await signalOf(invokeGuarded(graph, new Command({ resume }), config));
      expect(again.sessionId).toBe(sessionId);
    }
    expect(store.manager.listPendingSessions()).toHaveLength(1);
  });

  test('throws for the depth guard, once per question however often it is asked', async ({ db }) => {
    const events = new EventBus();
    const visits: string[] = [];
    const app = durable(
      circle((node) => visits.push(node)),
      {
        db,
        events,
        guards: { maxDepth: 4 },
      },
    );
    const { graph } = app;
    const { store } = internalsOf(app);
    const first = await signalOf(invokeGuarded(graph, {}, config));
    const again = await signalOf(invokeGuarded(graph, null, config));
    expect(again.sessionId).toBe(first.sessionId);
    expect(visits).toHaveLength(3);
    expect(only(store.manager.listPendingSessions())).toMatchObject({
      kind: 'recursion_limit',
      evidence: { depth: 4, limit: 4 },
    });
  });

  test('lets a human’s gate be: it is no failure, the result shows it', async ({ db }) => {
    const og = OrchestrationGraph.withSqlitePersistence(db);
    const result = await invokeGuarded(og.graph, aState(), config);
    expect(result).toHaveProperty('__interrupt__');
    expect(result).toMatchObject({ status: 'specifying' });
  });

  test('passes the errors of a node on', async ({ db }) => {
    const failing = new StateGraph(OwnState)
      .addNode('fail', () => {
        throw new RangeError('Too much.');
      })
      .addNode('never', says('never'))
      .addEdge(START, 'fail')
      .addEdge('fail', 'never')
      .addEdge('never', END);
    await expect(invokeGuarded(durable(failing, { db }).graph, {}, config)).rejects.toThrow('Too much.');
  });
});
