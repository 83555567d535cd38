import { END, interrupt, START, StateGraph } from '@langchain/langgraph';
import { afterEach, describe, expect, expectTypeOf, onTestFinished, test } from 'vitest';
import { OwnState, type OwnUpdate, says, twoBranches, twoSteps } from '../../engine/__tests__/ownGraph.ts';
import { internalsOf } from '../../engine/file/appInternals.ts';
import type { CrashPoint } from '../../engine/node/crashPoint.ts';
import { step } from '../../engine/node/step.ts';
import { sleep } from '../../engine/node/waitFor.ts';
import { SkippingClock, testApp } from '../index.ts';
import type { TestApp } from '../TestApp.ts';

const DAY = 86_400_000;

/** What the graph did outside. */
let effects: string[] = [];
afterEach(() => {
  effects = [];
});

const pays = (what: string) => async (): Promise<OwnUpdate> => {
  const paid = await step(what, ({ attempt }) => `${what} ${effects.push(`${what} ${attempt}`)}`);
  return { log: [paid] };
};

/** Pays for a draft, and for a publication once a human has said yes. */
const publishing = () =>
  twoSteps(pays('draft'), async () => ({
    log: [interrupt('publish?') === true ? String((await pays('publish')()).log) : 'kept'],
  }));

function opened<Graph, State, Update>(app: TestApp<Graph, State, Update>) {
  onTestFinished(() => app.close());
  return app;
}

describe('an app for tests', () => {
  test('runs in memory, is answered with yes, and goes on after a restart', async () => {
    const app = opened(testApp(publishing()));
    const { gates, status } = await app.run('post', { log: [] });
    expect(status).toBe('waiting');
    app.restart();
    await app.answer(gates[0]);
    const ended = await app.run('post');
    expect([ended.status, ended.values?.log, effects]).toEqual([
      'completed',
      ['draft 1', 'publish 2'],
      ['draft 1', 'publish 1'],
    ]);
    expectTypeOf(ended.values?.log).toEqualTypeOf<readonly string[] | undefined>();
    // @ts-expect-error: the log is a list of texts
    const wrong = () => app.run('other', { log: 7 });
    expect(wrong).toBeTypeOf('function');
    // @ts-expect-error: its state is in memory
    expect(() => testApp(publishing(), { file: 'state.sqlite' })).toThrow(TypeError);
  });

  test('is answered as the test says, by whom it says', async () => {
    const app = opened(testApp(publishing()));
    const { gates } = await app.run('post', { log: [] });
    await app.answer(gates[0], { value: false, by: { kind: 'human', id: 'ada' } });
    expect((await app.run('post')).values?.log).toEqual(['draft 1', 'kept']);
    const again = await app.run('again', { log: [] });
    await app.answer(again.gates[0], { by: { kind: 'human', id: 'bob' } });
    expect((await app.run('again')).values?.log).toEqual(['draft 2', 'publish 3']);
    const decided = ['post', 'again'].map(
      (id) => internalsOf(app.app).store.sessions.listClosed(id)[0]?.principal?.id,
    );
    expect(decided).toEqual(['ada', 'bob']);
  });

  test('says yes to a declared gate and to the depth guard, and not to a budget', async () => {
    const circle = new StateGraph(OwnState)
      .addNode('a', says('a'))
      .addNode('b', pays('b'))
      .addEdge(START, 'a')
      .addEdge('a', 'b')
      .addConditionalEdges('b', ({ log }) => (log.length < 6 ? 'a' : END), ['a', END]);
    const options = { gates: { a: () => 'go?' }, guards: { maxDepth: 1 }, budget: { calls: 1 } };
    const app = opened(testApp(circle, options));
    const kinds = new Set<string>();
    let { gates, status } = await app.run('round', { log: [] });
    while (status === 'waiting') {
      const [gate] = gates;
      kinds.add(String(gate?.kind));
      if (gate?.kind === 'budget') {
        await expect(app.answer(gate)).rejects.toThrow(TypeError);
        await app.answer(gate, { action: 'raise', calls: 1 });
      } else {
        await app.answer(gate);
      }
      ({ gates, status } = await app.run('round'));
    }
    expect([status, kinds]).toEqual(['completed', new Set(['node_gate', 'recursion_limit', 'budget'])]);
  });

  test('refuses to answer where nobody asks', async () => {
    const app = opened(testApp(twoSteps()));
    const { gates } = await app.run('run', { log: [] });
    await expect(app.answer(gates[0])).rejects.toThrow('There is no gate');
  });

  test('skips what its runs wait for', async () => {
    const naps = async () => {
      await sleep(2 * DAY);
      return { log: [await step('wake', () => 'woken')] };
    };
    const app = opened(testApp(twoSteps(naps)));
    expect(await app.run('nap', { log: [] })).toMatchObject({ status: 'waiting' });
    expect((await app.skip(DAY)).driven).toEqual([]);
    app.restart();
    app.clock.advance(DAY);
    await app.crashAt('in step wake', 'nap');
    const { driven } = await app.skip(0);
    expect(driven).toMatchObject([{ id: 'nap', status: 'completed', values: { log: ['woken', 'second'] } }]);
  });

  test('has a clock that the test moves', async () => {
    const clock = new SkippingClock(new Date('2026-01-01T00:00:00Z'));
    const app = opened(testApp(publishing(), { clock }));
    const { gates } = await app.run('post', { log: [] });
    clock.advance(DAY);
    await app.run('late', { log: [] });
    const late = await app.app.gates('late');
    expect([gates[0]?.openedAt, late[0]?.openedAt]).toEqual([
      '2026-01-01T00:00:00.000Z',
      '2026-01-02T00:00:00.000Z',
    ]);
    clock.advance(-DAY);
    expect(app.clock.now()).toBe(Date.UTC(2026, 0, 1));
    expect(() => clock.advance(Number.NaN)).toThrow(RangeError);
    expect(() => new SkippingClock(0.5)).toThrow(RangeError);
  });
});

describe('a process that a test ends', () => {
  const CASES: readonly (readonly [CrashPoint, atDeath: readonly string[], inTheEnd: readonly string[]])[] = [
    ['before node first', [], ['draft 1']],
    ['before step draft', [], ['draft 2']],
    ['in step draft', ['draft 1'], ['draft 1', 'draft 2']],
    ['after step draft', ['draft 1'], ['draft 1']],
    ['after node first', ['draft 1'], ['draft 1']],
    ['before node second', ['draft 1'], ['draft 1']],
  ];

  test.for(CASES)(
    '%s leaves what was committed, and another one goes on',
    async ([point, atDeath, inTheEnd]) => {
      const app = opened(testApp(publishing()));
      await app.crashAt(point, 'post', { log: [] });
      expect(effects).toEqual(atDeath);
      const { gates } = await app.run('post');
      expect(effects).toEqual(inTheEnd);
      await app.answer(gates[0]);
      expect(await app.run('post')).toMatchObject({ status: 'completed' });
      expect(effects).toEqual([...inTheEnd, 'publish 1']);
    },
  );

  test('is found dead by the next one, which says so', async () => {
    const app = opened(testApp(publishing()));
    await app.crashAt('after step draft', 'post', { log: [] });
    const recovered: unknown[] = [];
    app.app.events.on('RUN_RECOVERED', (_, scope) => recovered.push(scope.threadId));
    await app.run('post');
    expect(recovered).toEqual(['post']);
  });

  test('dies after an answer, before what it allows', async () => {
    const app = opened(testApp(publishing()));
    const { gates } = await app.run('post', { log: [] });
    await app.answer(gates[0]);
    await app.crashAt('before step publish', 'post');
    expect((await app.run('post')).values?.log).toEqual(['draft 1', 'publish 2']);
  });

  test('runs nothing after its place: neither what follows nor what catches', async () => {
    const after: string[] = [];
    const node = async () => {
      try {
        await step('call', () => 'made');
        after.push('went on');
      } catch {
        after.push('caught');
      } finally {
        after.push('finally');
      }
      return {};
    };
    const app = opened(testApp(twoSteps(node)));
    await app.crashAt('after step call', 'run', { log: [] });
    await new Promise((resolve) => setImmediate(resolve));
    expect(after).toEqual([]);
    expect(await app.run('run')).toMatchObject({ status: 'completed' });
  });

  test('leaves the calls beside its place unanswered and unrecorded', async () => {
    const heard: string[] = [];
    let answer: (text: string) => void = () => {};
    let tellAsked = (): void => {};
    const askedAnew = () =>
      new Promise<void>((resolve) => {
        tellAsked = resolve;
      });
    let asked = askedAnew();
    const asks = () =>
      step('right', () => {
        effects.push('right');
        tellAsked();
        return new Promise<string>((resolve) => {
          answer = resolve;
        });
      });
    const right = async () => ({ log: [await asks().finally(() => heard.push('right'))] });
    // However slow the machine is, the call beside has been made.
    const left = async () => {
      await asked;
      return await pays('left')();
    };
    const app = opened(testApp(twoBranches(left, right)));
    await app.crashAt('in step left', 'run', { log: [] });
    answer('too late');
    await new Promise((resolve) => setImmediate(resolve));
    expect(heard).toEqual([]);
    asked = askedAnew();
    const again = app.run('run');
    await expect.poll(() => effects.filter((effect) => effect === 'right')).toHaveLength(2);
    answer('in time');
    expect((await again).values?.log).toEqual(['start', 'left 4', 'in time']);
  });

  test('did not die where the run does not come by', async () => {
    const app = opened(testApp(twoSteps()));
    await expect(app.crashAt('in step nothing', 'run', { log: [] })).rejects.toThrow(
      'Run "run" did not come to "in step nothing": it is completed',
    );
    await expect(app.crashAt('in step nothing', 'unknown')).rejects.toMatchObject({
      code: 'THREAD_NOT_FOUND',
    });
  });
});
