import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import type { Database } from 'better-sqlite3';
import { describe, expect } from 'vitest';
import { ada } from '../../src/engine/__tests__/ownGraph.ts';
import { internalsOf } from '../../src/engine/file/appInternals.ts';
import type { DeclaredChanges } from '../../src/engine/graph/graphShape.ts';
import { step } from '../../src/engine/node/step.ts';
import { everyTable } from '../../src/orchestration/__tests__/everyTable.ts';
import { test } from '../support/fixtures.ts';
import { only } from '../support/only.ts';
import { durable } from '../support/runs/durable.ts';

/** What may differ between the program that started a run and the one that goes on with it. */
interface Variation {
  /** Name of the first node. */
  readonly write: string;
  /** Name of the node behind the gate. */
  readonly publish: string;
  /** Name of the last node; `null` where there is none. */
  readonly announce: string | null;
  /** A node between the last two. */
  readonly between: string | null;
  /** Name of the channel the gate shows. */
  readonly draft: string;
  /** Name of the channel `publish` writes. */
  readonly url: string;
  /** A channel nobody writes. */
  readonly extra: string | null;
  readonly gateAtPublish: boolean;
  readonly gateAtAnnounce: boolean;
  readonly version: string;
}

const BEFORE: Variation = {
  write: 'write',
  publish: 'publish',
  announce: 'announce',
  between: null,
  draft: 'draft',
  url: 'url',
  extra: null,
  gateAtPublish: true,
  gateAtAnnounce: false,
  version: '1',
};

const text = Annotation<string>();
type State = Readonly<Record<string, string>>;
type Nodes = Record<string, (state: State) => Promise<Record<string, string>>>;

/** A run's outside world: the calls it got, and where the process is stopped. */
class World {
  readonly calls: string[] = [];
  readonly #stop = new AbortController();
  #stopAt: string | null = null;

  /** Stops the process as `kill` would, as far as the file can tell: the visit has begun and nothing ends it. */
  stopAt(place: string): AbortSignal {
    this.#stopAt = place;
    return this.#stop.signal;
  }

  pass(place: string): void {
    if (this.#stopAt !== place) return;
    this.#stopAt = null;
    this.#stop.abort();
    throw new Error('stopped');
  }

  call(name: string): string {
    this.calls.push(name);
    this.pass(`in ${name}`);
    return name;
  }
}

/** Whatever is told to a run is taken at another time by each who looks. */
const AT = Date.UTC(2030, 0, 1);

function program(
  db: Database,
  world: World,
  changes: Partial<Variation> = {},
  graphChanges?: DeclaredChanges,
) {
  const now = { ...BEFORE, ...changes };
  const names = [now.draft, now.url, 'said', now.extra].filter((name) => name !== null);
  const schema = Annotation.Root(Object.fromEntries(names.map((name) => [name, text])));
  const nodes: Nodes = {
    [now.write]: async () => ({ [now.draft]: await step('draft', () => world.call('draft')) }),
    [now.publish]: async (state) => {
      const upload = await step('upload', () => world.call('upload'));
      world.pass('after upload');
      return { [now.url]: `${upload} of ${state[now.draft]}` };
    },
    ...(now.between !== null && { [now.between]: async () => ({}) }),
    ...(now.announce !== null && {
      [now.announce]: async (state) => ({
        said: `see ${state[now.url]}, ${await step('tell', () => world.call('tell'))}`,
      }),
    }),
  };
  // Names are data here, so the builder's types have nothing to say.
  const builder = new StateGraph(schema) as unknown as StateGraph<unknown, State, State, string>;
  const order = Object.keys(nodes);
  for (const name of order) builder.addNode(name, nodes[name] as Nodes[string]);
  for (const [index, name] of [START, ...order].entries())
    builder.addEdge(name as typeof START, order[index] ?? END);
  return durable(builder, {
    now: () => AT,
    db,
    version: now.version,
    ...(graphChanges && { graphChanges }),
    gates: {
      ...(now.gateAtPublish && { [now.publish]: (state: State) => state[now.draft] }),
      ...(now.gateAtAnnounce &&
        now.announce !== null && { [now.announce]: (state: State) => state[now.url] }),
    },
  });
}

type Program = ReturnType<typeof program>;

/** Approves whatever is asked until the run has ended; returns its values and every call that was made. */
async function finish(app: Program, world: World) {
  for (;;) {
    const { status, gates, values } = await app.run('run');
    if (status === 'waiting') for (const gate of gates) await app.decide(gate, { approved: true, by: ada });
    else return { status, values, calls: [...world.calls] };
  }
}

/** Where a run may be when its program changes. */
const PLACES: Readonly<Record<string, (app: Program, world: World) => Promise<unknown>>> = {
  'not begun': (app) => internalsOf(app).recordRun({ threadId: 'run', input: {} }),
  'waiting at the gate': (app) => app.run('run', {}),
  'approved, not gone on': async (app) => {
    const { gates } = await app.run('run', {});
    await app.decide(only(gates), { approved: true, by: ada });
  },
  'stopped behind the gate': (app, world) => stopBehindGate('after upload', app, world),
};

async function stopBehindGate(place: string, app: Program, world: World): Promise<void> {
  const { gates } = await app.run('run', {});
  await app.decide(only(gates), { approved: true, by: ada });
  const abort = world.stopAt(place);
  await expect(app.run('run', undefined, { abort })).rejects.toThrow(abort.reason);
  expect((await app.result('run')).status).toBe('paused');
}

const ACCEPTED: Readonly<Record<string, readonly [Partial<Variation>, DeclaredChanges]>> = {
  'another version': [{ version: '2' }, {}],
  'a node added': [{ between: 'check' }, {}],
  'a channel added': [{ extra: 'note' }, {}],
  'a question inserted further on': [{ gateAtAnnounce: true }, {}],
  'a node behind renamed': [{ write: 'compose' }, { renamed: { nodes: { write: 'compose' } } }],
  'the node at the gate renamed': [{ publish: 'release' }, { renamed: { nodes: { publish: 'release' } } }],
  'a node ahead renamed': [{ announce: 'tell' }, { renamed: { nodes: { announce: 'tell' } } }],
  'two nodes swapped': [
    { write: 'publish', publish: 'write' },
    { renamed: { nodes: { write: 'publish', publish: 'write' } } },
  ],
  'the channel at the gate renamed': [{ draft: 'body' }, { renamed: { channels: { draft: 'body' } } }],
  'a channel ahead renamed': [{ url: 'address' }, { renamed: { channels: { url: 'address' } } }],
  'everything at once': [
    {
      ...BEFORE,
      write: 'w',
      publish: 'p',
      announce: 'a',
      draft: 'd',
      url: 'u',
      extra: 'e',
      between: 'b',
      version: '2',
    },
    {
      renamed: {
        nodes: { write: 'w', publish: 'p', announce: 'a' },
        channels: { draft: 'd', url: 'u' },
      },
    },
  ],
};

/** What LangGraph takes: nothing that a run stands on has changed. */
const TAKEN = [
  'a node added',
  'a channel added',
  'a question inserted further on',
  'a node behind renamed',
  'a node ahead renamed',
  'the channel at the gate renamed',
  'a channel ahead renamed',
];

/** Every change where most can be lost, and everything at once where there is little. */
const cases = Object.keys(PLACES).flatMap((place) =>
  Object.keys(ACCEPTED)
    .filter(
      (change) =>
        place.startsWith('waiting') || place.startsWith('stopped') || change === 'everything at once',
    )
    .map((change) => [change, place] as const),
);

describe('a run whose graph has changed', () => {
  test.for(cases)(
    '%s, %s: refused, accepted, and ends as an unchanged run does',
    async ([change, place], { db }) => {
      const [variation, declared] = ACCEPTED[change] as (typeof ACCEPTED)[string];
      const renamed = declared.renamed?.channels ?? {};
      const world = new World();
      await PLACES[place]?.(program(db, world), world);
      const now = program(db, world, variation);

      const rows = everyTable(db);
      const refused = { code: 'GRAPH_CHANGED', context: { threadId: 'run' } };
      if (!TAKEN.includes(change)) await expect(now.run('run')).rejects.toMatchObject(refused);
      expect(everyTable(db)).toBe(rows);

      const { changes } = await now.acceptGraph('run', { by: ada, ...declared });
      expect(changes.length).toBeGreaterThan(0);
      const log = internalsOf(now)
        .store.log.list('run')
        .filter(({ name }) => name === 'GRAPH_ACCEPTED');
      expect(only(log).payload).toMatchObject({ principal: 'human:ada', changes: changes.join('; ') });
      expect(await now.acceptGraph('run', { by: ada })).toEqual({ changes: [] });

      expect(await finish(now, world)).toEqual({
        status: 'completed',
        values: {
          [renamed['draft'] ?? 'draft']: 'draft',
          [renamed['url'] ?? 'url']: 'upload of draft',
          said: 'see upload of draft, tell',
        },
        calls: ['draft', 'upload', 'tell'],
      });
      expect(await now.gates('run')).toEqual([]);
    },
  );
});

describe('a run whose program declares what became of its names', () => {
  const declared = cases.filter(
    ([change]) => change !== 'two nodes swapped' && (ACCEPTED[change]?.[0].version ?? '1') === '1',
  );

  test.for(declared)(
    '%s, %s: goes on, and ends as an unchanged run does',
    async ([change, place], { db }) => {
      const [variation, graphChanges] = ACCEPTED[change] as (typeof ACCEPTED)[string];
      const renamed = graphChanges.renamed?.channels ?? {};
      const world = new World();
      const before = program(db, world);
      await PLACES[place]?.(before, world);
      const now = program(db, world, variation, graphChanges);

      expect(await finish(now, world)).toEqual({
        status: 'completed',
        values: {
          [renamed['draft'] ?? 'draft']: 'draft',
          [renamed['url'] ?? 'url']: 'upload of draft',
          said: 'see upload of draft, tell',
        },
        calls: ['draft', 'upload', 'tell'],
      });
      const log = internalsOf(now)
        .store.log.list('run')
        .filter(({ name }) => name === 'GRAPH_TAKEN');
      expect(only(log).payload).toMatchObject({ changes: expect.stringMatching(/ is new| asks for /) });
      await before.run('other', {});
      await expect(before.run('run')).resolves.toMatchObject({ status: 'completed' });
    },
  );

  test('a gate that is gone is declared as removed, or the run is refused', async ({ db }) => {
    const world = new World();
    await program(db, world, { gateAtAnnounce: true }).run('run', {});
    const rows = everyTable(db);
    await expect(program(db, world).run('run')).rejects.toMatchObject({
      code: 'GRAPH_CHANGED',
      context: { reason: 'gate_removed' },
    });
    await expect(program(db, world).acceptGraph('run', { by: ada })).rejects.toMatchObject({
      code: 'GRAPH_NOT_ACCEPTED',
      context: { reason: 'gate_removed' },
    });
    expect(everyTable(db)).toBe(rows);
    const { calls } = await finish(program(db, world, {}, { removed: ['announce'] }), world);
    expect(calls).toEqual(['draft', 'upload', 'tell']);
  });

  test('a name that was renamed twice is followed', async ({ db }) => {
    const world = new World();
    await program(db, world).run('run', {});
    const nodes = { publish: 'release', release: 'deliver' };
    const now = program(db, world, { publish: 'deliver' }, { renamed: { nodes } });
    expect((await finish(now, world)).calls).toEqual(['draft', 'upload', 'tell']);
  });

  test.for([
    [{ renamed: { nodes: { publish: 'realese' } } }, 'no node "realese"'],
    [{ renamed: { gates: {} } }, 'no option `gates`'],
    [{ removed: [1] }, 'expected names'],
    [{ rename: {} }, 'no option `rename`'],
    [[], 'expected { renamed, removed }'],
  ] as const)('%o is no declaration', ([graphChanges, why], { db }) => {
    expect(() => program(db, new World(), {}, graphChanges as never)).toThrow(TypeError);
    expect(() => program(db, new World(), {}, graphChanges as never)).toThrow(why);
  });
});

/** What is not accepted: why, the new program, what is declared, and where the run is. */
const REFUSED: Readonly<Record<string, readonly [string, Partial<Variation>, DeclaredChanges, string?]>> = {
  'a renamed node nobody declared': ['undeclared', { publish: 'release' }, {}],
  'a removed node nobody declared': ['undeclared', { announce: null }, {}],
  'a renamed channel nobody declared': ['undeclared', { url: 'address' }, {}],
  'a new name that is not there': [
    'unknown_target',
    { publish: 'release' },
    { renamed: { nodes: { publish: 'realese' } } },
  ],
  'an old name that never was': ['unknown_name', { version: '2' }, { removed: { channels: ['cost'] } }],
  'two names made one': ['ambiguous', { announce: null }, { renamed: { nodes: { announce: 'publish' } } }],
  'the node at the gate removed': [
    'pending_visit',
    { publish: 'release' },
    { removed: { nodes: ['publish'] } },
  ],
  'the gate removed': ['gate_changed', { gateAtPublish: false }, {}],
  'the gate removed once it was passed': [
    'gate_changed',
    { gateAtPublish: false },
    {},
    'stopped behind the gate',
  ],
};

describe('what cannot be accepted', () => {
  test.for(Object.entries(REFUSED))('%s', async ([_what, [reason, variation, declared, place]], { db }) => {
    const world = new World();
    await PLACES[place ?? 'waiting at the gate']?.(program(db, world), world);
    const now = program(db, world, variation);
    const rows = everyTable(db);
    const refused = { code: 'GRAPH_NOT_ACCEPTED', context: { threadId: 'run', reason } };
    await expect(now.acceptGraph('run', { by: ada, ...declared })).rejects.toMatchObject(refused);
    expect(everyTable(db)).toBe(rows);
    expect((await finish(program(db, world), world)).calls).toEqual(['draft', 'upload', 'tell']);
  });

  test('a call in flight would get another key where its node is renamed, and keeps it where it is not', async ({
    db,
  }) => {
    const world = new World();
    await stopBehindGate('in upload', program(db, world), world);
    const renamed = { nodes: { publish: 'release' } };
    const refused = { code: 'GRAPH_NOT_ACCEPTED', context: { reason: 'call_in_flight' } };
    const other = program(db, world, { publish: 'release' });
    await expect(other.acceptGraph('run', { by: ada, renamed })).rejects.toMatchObject(refused);
    const now = program(db, world, { version: '2' });
    await now.acceptGraph('run', { by: ada });
    expect((await finish(now, world)).calls).toEqual(['draft', 'upload', 'upload', 'tell']);
  });

  test.for([
    [{ kind: 'agent', id: 'reviewer' }, 'AGENT_MAY_NOT_DECIDE'],
    [{ kind: 'policy', id: 'upgrades' }, 'POLICY_NOT_DECLARED'],
  ] as const)('what a principal of kind %o declares', async ([by, code], { db }) => {
    const world = new World();
    await program(db, world).run('run', {});
    const rows = everyTable(db);
    await expect(program(db, world, { version: '2' }).acceptGraph('run', { by })).rejects.toMatchObject({
      code,
    });
    expect(everyTable(db)).toBe(rows);
  });

  test('a run that has ended', async ({ db }) => {
    const world = new World();
    const before = program(db, world);
    await before.run('run', {});
    await finish(before, world);
    const now = program(db, world, { version: '2' });
    const refused = { code: 'GRAPH_NOT_ACCEPTED', context: { reason: 'ended' } };
    await expect(now.acceptGraph('run', { by: ada })).rejects.toMatchObject(refused);
  });
});

test('the removed node and channel are gone, and nothing of the rest is', async ({ db }) => {
  const world = new World();
  await program(db, world, { extra: 'note' }).run('run', { note: 'secret plan' });
  const now = program(db, world, { announce: null });
  await now.acceptGraph('run', { by: ada, removed: { nodes: ['announce'], channels: ['note'] } });
  const { values, calls } = await finish(now, world);
  expect(calls).toEqual(['draft', 'upload']);
  expect(values).toEqual({
    draft: 'draft',
    url: 'upload of draft',
  });
});

test('GRAPH_CHANGED names every difference', async ({ db }) => {
  const world = new World();
  await program(db, world).run('run', {});
  const now = program(db, world, { publish: 'release', url: 'address', gateAtAnnounce: true, version: '2' });
  await expect(now.run('run')).rejects.toThrow(
    'node "publish" is gone; node "release" is new; channel "url" is gone; channel "address" is new; ' +
      'node "announce" asks for node_gate, previously nothing; version "1" became "2"',
  );
});
