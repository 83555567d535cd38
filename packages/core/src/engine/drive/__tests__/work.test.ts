import { END, START, StateGraph } from '@langchain/langgraph';
import fc from 'fast-check';
import { describe, expect, onTestFinished } from 'vitest';
import { countReads } from '../../../../test/support/countedReads.ts';
import { test } from '../../../../test/support/fixtures.ts';
import { ada, OwnState } from '../../__tests__/ownGraph.ts';
import { type DurableOptions, durable } from '../../app/durable.ts';
import { internalsOf } from '../../file/appInternals.ts';
import { step } from '../../node/step.ts';
import { sleep, waitFor } from '../../node/waitFor.ts';
import type { WorkOptions } from '../work.ts';

type Node = (state: typeof OwnState.State) => Promise<object>;

const oneNode = (node: Node, options: Pick<DurableOptions<object>, 'file' | 'db' | 'version' | 'name'>) =>
  durable(new StateGraph(OwnState).addNode('do', node).addEdge(START, 'do').addEdge('do', END), options);

type App = ReturnType<typeof oneNode>;

const by = ada;

/** A worker that the test stops, with its reports. */
function working(app: App, options: WorkOptions = {}) {
  const stopping = new AbortController();
  const ran: string[] = [];
  const errors: unknown[] = [];
  const done = app.work({
    ...options,
    signal: stopping.signal,
    onRun: ({ id, status }) => ran.push(`${id} ${status}`),
    onError: (error, id) => errors.push([id, error]),
  });
  const stop = (): Promise<void> => {
    stopping.abort();
    return done;
  };
  onTestFinished(stop);
  return { ran, errors, done, stop };
}

const ended = (app: App, id: string) => app.result(id, { wait: true });

/** Another connection to the file, as of another process. */
const twice = (dbPath: string, node: Node): readonly [App, App] => {
  const [one, two] = [oneNode(node, { file: dbPath }), oneNode(node, { file: dbPath })];
  onTestFinished(() => Promise.all([one.close(), two.close()]).then(() => undefined));
  return [one, two];
};

describe('work()', () => {
  test('takes a run at once that another process has started, told something or decided, and a timer', async ({
    dbPath,
  }) => {
    const [worker, web] = twice(dbPath, async () => {
      await sleep(20);
      return { log: [await waitFor<string>('more')] };
    });
    const { errors, stop } = working(worker);
    await web.start('r', {});
    await web.signal('r', 'more', 'told', { by, signalId: '1' });
    expect(await ended(web, 'r')).toMatchObject({ status: 'completed' });
    expect(errors).toEqual([]);
    await stop();
  });

  test('goes on where a gate was decided, and leaves a run alone that waits for a human', async ({
    dbPath,
  }) => {
    const graph = () =>
      new StateGraph(OwnState)
        .addNode('do', () => ({ log: ['done'] }))
        .addEdge(START, 'do')
        .addEdge('do', END);
    const open = () => durable(graph(), { file: dbPath, gates: { do: () => 'shown' } });
    const [worker, web] = [open(), open()];
    onTestFinished(() => Promise.all([worker.close(), web.close()]).then(() => undefined));
    const { ran, stop } = working(worker as unknown as App);
    await web.start('r', {});
    const gate = await firstGate(web, 'r');
    await web.decide(gate, { approved: true, by });
    expect(await web.result('r', { wait: true })).toMatchObject({ status: 'completed' });
    await stop();
    expect(ran.at(-1)).toBe('r completed'); // the first drive may have seen the decision already
  });

  test('has as many runs in hand as it may, and stops them at a safe point', async ({ dbPath }) => {
    let [inHand, most] = [0, 0];
    let areThree = (): void => undefined;
    const three = new Promise<void>((resolve) => {
      areThree = resolve;
    });
    const [worker, web] = twice(dbPath, async () => {
      inHand += 1;
      most = Math.max(most, inHand);
      if (inHand === 3) areThree();
      await step('call', async () => {
        await three; // however slow the machine begins them
        await new Promise((resolve) => setTimeout(resolve, 5));
      });
      inHand -= 1;
      return { log: ['x'] };
    });
    const ids = Array.from({ length: 12 }, (_, index) => `run-${index}`);
    for (const id of ids) await web.start(id, {});
    const { ran, stop } = working(worker, { concurrency: 3 });
    await Promise.all(ids.map((id) => ended(web, id)));
    await stop();
    expect(most).toBe(3);
    expect(ran.toSorted()).toEqual(ids.map((id) => `${id} completed`).toSorted());
  });

  test('leaves what is in hand at its next safe point, for the next worker', async ({ dbPath }) => {
    const made: string[] = [];
    let begun = (): void => undefined;
    const [worker, next] = twice(dbPath, async () => {
      await step('first', async () => {
        begun();
        await new Promise((resolve) => setTimeout(resolve, 20));
        made.push('first');
      });
      await step('second', () => made.push('second'));
      return {};
    });
    const isBegun = new Promise<void>((resolve) => {
      begun = resolve;
    });
    await next.start('r', {});
    const first = working(worker);
    await isBegun;
    await first.stop();
    expect(first.ran).toEqual(['r paused']);
    expect(made).toEqual(['first']);
    const second = working(next);
    expect(await ended(next, 'r')).toMatchObject({ status: 'completed' });
    await second.stop();
    expect(made).toEqual(['first', 'second']);
  });

  test('tells once of a run that it cannot drive, which neither spins nor keeps another from it', async ({
    dbPath,
  }) => {
    const node: Node = async () => ({});
    const [worker, older] = [oneNode(node, { file: dbPath, version: '2' }), oneNode(node, { file: dbPath })];
    onTestFinished(() => Promise.all([worker.close(), older.close()]).then(() => undefined));
    for (let index = 0; index < 20; index += 1) await older.start(`old-${index}`, {});
    const { ran, errors, stop } = working(worker, { concurrency: 2 });
    await worker.start('new', {});
    expect(await ended(worker, 'new')).toMatchObject({ status: 'completed' });
    await new Promise((resolve) => setTimeout(resolve, 300));
    await stop();
    expect(ran).toEqual(['new completed']);
    expect(errors).toHaveLength(20);
    expect(errors[0]).toMatchObject(['old-0', { code: 'GRAPH_CHANGED' }]);
  });

  test('leaves a run alone that somebody has paused, or that failed', async ({ db }) => {
    const app = oneNode(
      async () => {
        throw new Error('no');
      },
      { db },
    );
    await app.run('failed', {}, { throwOnFailure: false });
    await app.start('paused', {});
    await app.pause('paused');
    await app.start('other', {});
    const { ran, stop } = working(app);
    await ended(app, 'other');
    await stop();
    expect(ran).toEqual(['other failed']);
  });

  test('refuses what is no number of runs, and stops at once where it was told to', async ({ db }) => {
    const app = oneNode(async () => ({}), { db });
    for (const concurrency of [0, 1.5, Number.NaN])
      await expect(app.work({ concurrency })).rejects.toThrow(RangeError);
    await app.work({ signal: AbortSignal.abort() });
  });

  test('costs little where nothing is to be done', async ({ dbPath }) => {
    const reads = countReads();
    onTestFinished(() => void reads.stop());
    const [app] = twice(dbPath, async () => ({}));
    const { stop } = working(app);
    await new Promise((resolve) => setTimeout(resolve, 300));
    reads.take(); // of opening the file
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    const { statements } = reads.take();
    await stop();
    expect(statements).toBeLessThanOrEqual(24); // three looks of at most eight
  });
});

describe('signal() with start', () => {
  const node: Node = async () => {
    return { log: [await waitFor<string>('go')] };
  };

  test('starts a run that does not exist, once, and tells it; an existing one is told alone', async ({
    db,
  }) => {
    const app = oneNode(node, { db });
    const start = { input: { log: ['begun'] }, metadata: { tenant: 'acme' } };
    const send = (signalId: string) => app.signal('r', 'go', signalId, { by, signalId, start });
    expect(await send('1')).toEqual({ isNew: true });
    expect(await send('1')).toEqual({ isNew: false });
    expect(await send('2')).toEqual({ isNew: true });
    const { ran, stop } = working(app);
    expect(await ended(app, 'r')).toMatchObject({ status: 'completed', values: { log: ['begun', '1'] } });
    await stop();
    expect(ran).toEqual(['r completed']);
    await expect(send('3')).rejects.toMatchObject({ code: 'SIGNAL_NOT_TAKEN' });
  });

  test('records neither the run nor the signal where one of them is wrong', async ({ db }) => {
    const app = oneNode(node, { db });
    const send = (name: string, payload: unknown, start: object) =>
      app.signal('r', name, payload, { by, signalId: '1', start: start as { input: object } });
    await expect(send('', 1, { input: {} })).rejects.toThrow(RangeError);
    await expect(send('go', 1n, { input: {} })).rejects.toMatchObject({ code: 'VALUE_NOT_STORABLE' });
    await expect(send('go', 1, { input: { log: [() => 1] } })).rejects.toMatchObject({
      code: 'VALUE_NOT_STORABLE',
    });
    await expect(send('go', 1, {})).rejects.toThrow(TypeError);
    expect((await app.list()).runs).toEqual([]);
    const { db: file } = internalsOf(app).store;
    expect(file.prepare('SELECT count(*) FROM signals').pluck().get()).toBe(0);
  });

  test('is one run with every signal, whoever starts it at the same time', async ({ dbPath }) => {
    const apps = [...twice(dbPath, node), ...twice(dbPath, node)];
    let run = 0;
    const action = fc.record({ app: fc.nat({ max: 3 }), signalId: fc.constantFrom('a', 'b', 'c', null) });
    await fc.assert(
      fc.asyncProperty(fc.array(action, { minLength: 2, maxLength: 8 }), async (actions) => {
        run += 1;
        const id = `run-${run}`;
        const start = { input: { log: ['begun'] } };
        const sent = await Promise.all(
          actions.map(({ app, signalId }) =>
            (async () =>
              signalId === null
                ? apps[app]?.start(id, start.input)
                : apps[app]?.signal(id, 'go', signalId, { by, signalId, start }))(),
          ),
        );
        const told = new Set(actions.flatMap(({ signalId }) => signalId ?? []));
        expect(sent.filter((receipt) => receipt?.isNew)).toHaveLength(told.size);
        const { store } = internalsOf(apps[0] as App);
        expect(store.threads.require(id).status).toBe('created');
        const pending = store.threads.signals.pending(id, ['message']);
        expect(pending.map(({ payload }) => (payload as { signalId: string }).signalId).toSorted()).toEqual(
          [...told].toSorted(),
        );
      }),
      { numRuns: 30 },
    );
  });
});

const firstGate = async (app: Pick<App, 'follow' | 'gates'>, id: string) => {
  for await (const _ of app.follow(id)) {
    const [gate] = await app.gates(id);
    if (gate !== undefined) return gate;
  }
  throw new Error('The run has ended without a gate.');
};
