import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { test } from '../../../../test/support/fixtures.ts';
import { ada, twoSteps } from '../../__tests__/ownGraph.ts';
import { durable } from '../durable.ts';

/** As a program without types has them. */
const untyped = (id: unknown) => id as string;
const by = ada;

/** Every method whose first argument is a run. @param at Reads `id` for a known run, begins one with it otherwise */
const METHODS = {
  run: (app, id) => app.run(id, { log: [] }),
  start: (app, id) => app.start(id, { log: [] }),
  create: (app, id) => app.create(id),
  stream: async (app, id) => app.stream(id, { log: [] }).next(),
  'signal with start': (app, id) =>
    app.signal(id, 'go', 1, { by, signalId: 's', start: { input: { log: [] } } }),
  importThread: (app, id) => app.importThread(id, { saver: {} as never, by }),
  'fork as': (app, id) => app.fork('known', { as: id, by }),
  result: (app, id) => app.result(id),
  turns: (app, id) => app.turns(id),
  follow: async (app, id) => app.follow(id).next(),
  signal: (app, id) => app.signal(id, 'go', 1, { by, signalId: 's' }),
  pause: (app, id) => app.pause(id),
  cancel: (app, id) => app.cancel(id),
  values: (app, id) => app.values(id),
  gates: (app, id) => app.gates(id),
  getState: (app, id) => app.getState(id),
  getStateHistory: (app, id) => app.getStateHistory(id),
  get: (app, id) => app.get(id),
  updateMetadata: (app, id) => app.updateMetadata(id, { a: 1 }),
  exportTrace: (app, id) => app.exportTrace(id),
  updateState: (app, id) => app.updateState(id, { log: [] }, { by, asNode: 'first' }),
  acceptGraph: (app, id) => app.acceptGraph(id, { by }),
  revive: (app, id) => app.revive(id, { by }),
  prune: (app, id) => app.prune(id, { keepLast: 1 }),
  fork: (app, id) => app.fork(id, { as: 'f', by }),
  exportThread: (app, id) => app.exportThread(id, { saver: {} as never }),
  delete: (app, id) => app.delete(id, { by }),
} satisfies Record<string, (app: ReturnType<typeof appOver>, id: string) => Promise<unknown>>;

const BEGIN = ['run', 'start', 'create', 'stream', 'signal with start', 'importThread', 'fork as'];

function appOver(db: NonNullable<Parameters<typeof durable>[1]['db']>) {
  return durable(twoSteps(), { db });
}

const all = Object.entries(METHODS);

describe('an id that is no string is refused before anything is written', () => {
  test.for(all)('by %s', async ([, call], { db }) => {
    const app = appOver(db);
    await app.create('known');
    for (const [id, said] of [
      [5, 'got 5. Pass String(5).'],
      [7n, 'got 7. Pass String(7).'],
      [undefined, 'got undefined. It is the first argument'],
      [null, 'got null. It is the first argument'],
      [{ log: [] }, 'got an object. It is the first argument, as in app.run(id, input).'],
      [Object('boxed'), 'got an object.'],
      [Symbol('x'), 'got Symbol(x).'],
    ] as const) {
      const refused = (async () => call(app, untyped(id)))();
      await expect(refused).rejects.toThrow(TypeError);
      await expect(refused).rejects.toThrow(`The id of a run must be a string, ${said}`);
    }
    expect((await app.list()).runs.map((run) => run.id)).toEqual(['known']);
  });
});

describe('a run that could not be found by its id does not begin', () => {
  test.for(all.filter(([name]) => BEGIN.includes(name)))('%s', async ([, call], { db }) => {
    const app = appOver(db);
    await app.create('known');
    const tried = (id: string) => (async () => call(app, id))();
    await expect(tried('')).rejects.toThrow(new TypeError('The id of a run must not be empty.'));
    await expect(tried('a\ud800')).rejects.toThrow(
      new TypeError('The id of a run must be a string without lone surrogates.'),
    );
    expect((await app.list()).runs.map((run) => run.id)).toEqual(['known']);
  });
});

test('any other string is an id: a run is found, read and deleted by it', async ({ db }) => {
  const app = appOver(db);
  const odd = fc.constantFrom(
    '__proto__',
    '../x',
    'a\0b',
    'a\nb',
    '  ',
    'a:b|c',
    '😀',
    '5',
    'x'.repeat(5000),
  );
  const wellFormed = fc.string({ unit: 'binary', minLength: 1 }).filter((id) => !/[\ud800-\udfff]/u.test(id));
  await fc.assert(
    fc.asyncProperty(fc.oneof(odd, wellFormed), async (id) => {
      expect(await app.run(id, { log: [] })).toMatchObject({ status: 'completed' });
      expect((await app.list()).runs.map((run) => run.id)).toEqual([id]);
      expect(await app.values(id)).toEqual({ log: ['first', 'second'] });
      expect(await app.delete(id, { by })).toMatchObject({ runs: 1 });
    }),
    { numRuns: 20 },
  );
});
