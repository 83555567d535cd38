import { Annotation, END, interrupt, START, StateGraph } from '@langchain/langgraph';
import type { Database } from 'better-sqlite3';
import { describe, expect } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { only } from '../../../test/support/only.ts';
import { isDevsError } from '../../errors/DevsError.ts';
import { durable } from '../app/durable.ts';
import { internalsOf } from '../file/appInternals.ts';
import { step } from '../node/step.ts';
import { child, waitFor } from '../node/waitFor.ts';
import { SqliteStore } from '../store/SqliteStore.ts';

const ada = { kind: 'human', id: 'ada' } as const;
const MB = 1_000_000;

/** What a value may be that no record can hold as it is, or only just. */
const VALUES: Readonly<Record<string, () => unknown>> = {
  'a lone surrogate': () => ({ text: 'a\ud800b' }),
  'a lone surrogate as a key': () => ({ '\udfff': 1 }),
  NUL: () => ({ text: 'a\0b', 'k\0': ['\0'] }),
  '5,000 levels': () => Array.from({ length: 5_000 }).reduce((inner) => [inner], 1 as unknown),
  '5,000 objects in each other': () =>
    Array.from({ length: 5_000 }).reduce((inner) => ({ inner }), 1 as unknown),
  'a cycle': () => {
    const list: unknown[] = [];
    list.push({ list });
    return list;
  },
  'a getter that throws': () => ({
    get text(): string {
      throw new RangeError('not today');
    },
  }),
  'a proxy that throws': () =>
    new Proxy(
      {},
      {
        ownKeys: () => {
          throw new TypeError('none');
        },
      },
    ),
  '20 MB in one text': () => ({ image: 'é'.repeat(10 * MB) }),
};

const State = Annotation.Root({ value: Annotation<unknown>, got: Annotation<unknown> });

function graphOf(node: (state: typeof State.State) => object | Promise<object>) {
  return new StateGraph(State).addNode('work', node).addEdge(START, 'work').addEdge('work', END);
}

/** What became of a value: it came back, or was refused in so many words. */
type Fate = { readonly back: unknown } | { readonly refused: unknown };

async function fateOf(work: () => Promise<unknown>): Promise<Fate> {
  try {
    return { back: await work() };
  } catch (error) {
    return { refused: error };
  }
}

/** Of a run whose end is asked for: what it left, or why it failed. */
async function leftBy(app: { run(id: string, input?: never): Promise<unknown> }, id: string, input?: object) {
  const result = (await app.run(id, input as never)) as {
    status: string;
    error?: unknown;
    values: { value?: unknown } | null;
  };
  if (result.error !== undefined) throw result.error;
  return result.values?.value;
}

/** Where a value goes: how it comes back, and what is in the file if it was refused. */
const PLACES: Readonly<Record<string, (value: unknown, db: Database) => Promise<Fate>>> = {
  'the input of a run': async (value, db) => {
    const app = durable(
      graphOf(() => ({})),
      { db },
    );
    const fate = await fateOf(() => leftBy(app, 'r', { value }));
    if ('refused' in fate) expect(internalsOf(app).store.threads.get('r')).toBeNull();
    return fate;
  },
  'the input of a recorded start': async (value, db) => {
    const app = durable(
      graphOf(() => ({})),
      { db },
    );
    const fate = await fateOf(() => app.start('r', { value }));
    if ('refused' in fate) expect(internalsOf(app).store.threads.get('r')).toBeNull();
    return 'refused' in fate ? fate : fateOf(() => leftBy(app, 'r'));
  },
  'the input of a turn': async (value, db) => {
    const app = durable(
      graphOf(() => ({})),
      { db },
    );
    await app.run('r', { got: 1 }, { turn: '1' });
    const fate = await fateOf(() =>
      app.run('r', { value }, { turn: '2' }).then(({ values }) => values?.value),
    );
    if ('refused' in fate) expect(internalsOf(app).store.inputs.find('r', '2')).toBeNull();
    return fate;
  },
  'the context of a run': async (value, db) => {
    const app = durable(
      graphOf(() => ({})),
      { db },
    );
    const fate = await fateOf(async () => {
      await app.run('r', {}, { context: { value } });
      return value;
    });
    if ('refused' in fate) expect(internalsOf(app).store.threads.get('r')).toBeNull();
    return fate;
  },
  'an update of the state': async (value, db) => {
    const app = durable(
      graphOf(() => ({})),
      { db },
    );
    await app.run('r', { got: 1 });
    return fateOf(async () => {
      await app.updateState('r', { value }, { by: ada });
      return (await app.values('r'))?.value;
    });
  },
  'the input of a child': async (value, db) => {
    const below = durable(
      graphOf(() => ({})),
      { db, version: 'below' },
    );
    const fates: Fate[] = [];
    const app = durable(
      graphOf(async () => {
        fates.push(
          await fateOf(async () => (await child(below, 'c', { value })).values?.value).then((fate) => {
            if ('refused' in fate && !isDevsError(fate.refused)) throw fate.refused; // LangGraph's own
            return fate;
          }),
        );
        return {};
      }),
      { db },
    );
    await app.run('p', {});
    const fate = fates.at(-1) ?? expect.fail('the node did not get so far');
    if ('refused' in fate) expect(internalsOf(app).store.threads.get('c')).toBeNull();
    return fate;
  },
  'what a node returns': async (value, db) => {
    let calls = 0;
    const app = durable(
      graphOf(() => {
        calls += 1;
        return { value };
      }),
      { db },
    );
    const fate = await fateOf(() => leftBy(app, 'r', {}));
    expect(calls).toBe(1);
    return fate;
  },
  'the result of a step': async (value, db) => {
    let calls = 0;
    const app = durable(
      graphOf(async () => ({
        got: await step('pay', () => {
          calls += 1;
          return { value };
        }).then((back) => typeof (back as { value: unknown }).value),
      })),
      { db },
    );
    const fate = await fateOf(() => leftBy(app, 'r', {}));
    await app.runDue();
    expect(calls).toBe(1);
    if ('refused' in fate) return fate;
    const [row] = internalsOf(app).store.steps.listForThread('r');
    const key = { threadId: 'r', lgTaskId: row?.lgTaskId ?? '', name: 'pay' };
    return { back: ((await internalsOf(app).store.steps.load(key)) as { value: unknown }).value };
  },
  'a signal': async (value, db) => {
    const app = durable(
      graphOf(async () => ({ value: await waitFor<unknown>('told') })),
      { db },
    );
    await app.run('r', {});
    const fate = await fateOf(() => app.signal('r', 'told', value, { by: ada, signalId: '1' }));
    if ('refused' in fate) expect(db.prepare('SELECT count(*) FROM signals').pluck().get()).toBe(0);
    return 'refused' in fate ? fate : fateOf(() => leftBy(app, 'r'));
  },
  'an answer': async (value, db) => {
    const app = durable(
      graphOf(() => ({ value: interrupt('what?') as unknown })),
      { db },
    );
    const gate = only((await app.run('r', {})).gates);
    const fate = await fateOf(() => app.decide(gate, { value, by: ada }));
    if ('refused' in fate) expect(await app.gates('r')).toEqual([gate]);
    return 'refused' in fate ? fate : fateOf(() => leftBy(app, 'r'));
  },
  'the store': async (value, db) => {
    const store = new SqliteStore(db);
    const fate = await fateOf(() => store.put(['a'], 'k', { value }));
    if ('refused' in fate) expect(await store.get(['a'], 'k')).toBeNull();
    return 'refused' in fate ? fate : { back: (await store.get(['a'], 'k'))?.value['value'] };
  },
};

const STORES = ['VALUE_NOT_STORABLE', 'VALUE_TOO_LARGE', 'INVALID_ANSWER'];

/** The first refusal of ours among an error, or what a failed run says of it, and what caused it. */
function codeOf(error: unknown): unknown {
  type Link = { readonly code?: unknown; readonly message?: string; readonly cause?: unknown };
  for (let found = error as Link | undefined; found !== undefined; found = found.cause as Link | undefined) {
    const { code, message = '' } = found;
    const named = STORES.find((name) => name === code || message.startsWith(`${name}: `));
    if (named !== undefined) return named;
  }
  return error;
}

describe.for(Object.entries(PLACES))('in %s', ([, put]) => {
  test.for(Object.entries(VALUES))(
    '%s comes back equal or is refused by its name',
    async ([name, made], { db }) => {
      const fate = await put(made(), db);
      if ('refused' in fate) expect(STORES).toContain(codeOf(fate.refused));
      else expect(fate.back).toEqual(made());
      if (name === 'NUL') expect(fate).toHaveProperty('back');
    },
  );
});
