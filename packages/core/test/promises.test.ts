import path from 'node:path';
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import { describe, expect, expectTypeOf, onTestFinished } from 'vitest';
import { DurableApp } from '../src/engine/app/DurableApp.ts';
import { durable } from '../src/engine/app/durable.ts';
import { Orchestrator } from '../src/surface/Orchestrator.ts';
import { Run } from '../src/surface/Run.ts';
import { fakeAgents, MemoryWorkspace, scriptedChecks } from '../src/testing/index.ts';
import { test } from './support/fixtures.ts';

// The state file of a run may have to be fetched first: what reads or writes it returns a promise, also where nothing
// is awaited yet. docs/internals/decisions/0006-promises-at-the-edge.md says why. A new method that is synchronous fails here.

interface Surface {
  readonly type: { readonly prototype: object };
  /** Methods that read and write no run. */
  readonly synchronous: readonly string[];
  /** Methods that nonsense cannot be given to: they take nothing, or know no run of that name. */
  readonly takesAnything: readonly string[];
  readonly open: (dbPath: string) => Promise<{ readonly subject: object; readonly close: () => void }>;
}

async function openOrchestrator(dbPath: string): Promise<Orchestrator> {
  const devs = await Orchestrator.open({
    dir: path.dirname(dbPath),
    agents: fakeAgents(),
    workspace: new MemoryWorkspace(),
    checks: scriptedChecks(),
  });
  onTestFinished(() => devs.close());
  return devs;
}

function openApp(dbPath: string) {
  const Note = Annotation.Root({ note: Annotation<string> });
  const builder = new StateGraph(Note)
    .addNode('write', () => ({ note: 'done' }))
    .addEdge(START, 'write')
    .addEdge('write', END);
  const app = durable(builder, { file: dbPath, gates: { write: () => 'go?' } });
  onTestFinished(() => app.close());
  return app;
}

const SURFACES: readonly Surface[] = [
  {
    type: Run,
    synchronous: [],
    takesAnything: [
      'status',
      'steps',
      'graph',
      'gates',
      'closedGates',
      'state',
      'recursionDepth',
      'commits',
      'agentsRef',
    ],
    open: async (dbPath) => {
      const devs = await openOrchestrator(dbPath);
      return { subject: await devs.start({ id: 'r', brief: '# Sum' }), close: () => devs.close() };
    },
  },
  {
    type: DurableApp,
    synchronous: ['close', 'follow', 'gateEvents', 'stream'],
    takesAnything: ['checkUpgrade', 'schedules', 'undelivered'],
    open: async (dbPath) => {
      const app = openApp(dbPath);
      await app.run('r', {});
      return { subject: app, close: () => void app.close() };
    },
  },
  {
    type: Orchestrator,
    synchronous: ['close'],
    takesAnything: ['ids', 'gates', 'dataVersion', 'verify'],
    open: async (dbPath) => {
      const devs = await openOrchestrator(dbPath);
      return { subject: devs, close: () => devs.close() };
    },
  },
];

/** Of a class, and of what it extends. */
function methodsOf(prototype: object): readonly string[] {
  if (prototype === Object.prototype) return [];
  const own = Object.getOwnPropertyNames(prototype).filter((name) => name !== 'constructor');
  return [...own, ...methodsOf(Object.getPrototypeOf(prototype) as object)];
}

const CASES = SURFACES.flatMap((surface) =>
  methodsOf(surface.type.prototype)
    .filter((name) => !surface.synchronous.includes(name))
    .map((name) => ({ ...surface, className: (surface.type as { name?: string }).name, name })),
);

/** Calls a method with nonsense; an error that is thrown at once is thrown on. */
const callWithNonsense = (subject: object, name: string): unknown =>
  (subject as Record<string, (...args: readonly unknown[]) => unknown>)[name]?.(null, null, null);

describe('what reads or writes a run', () => {
  test.for(CASES)(
    '$className: $name returns a promise, and a wrong call rejects it',
    async (surface, { dbPath }) => {
      const { subject } = await surface.open(dbPath);
      const returned = callWithNonsense(subject, surface.name);
      expect(returned).toBeInstanceOf(Promise);
      const [{ status }] = await Promise.allSettled([returned]);
      expect(status).toBe(surface.takesAnything.includes(surface.name) ? 'fulfilled' : 'rejected');
    },
  );

  test.for(CASES)('$className: $name rejects when the state file is closed', async (surface, { dbPath }) => {
    const { subject, close } = await surface.open(dbPath);
    close();
    await expect(callWithNonsense(subject, surface.name)).rejects.toThrow();
  });

  test('is a method, as a getter would have to be synchronous', () => {
    const getters = SURFACES.flatMap(({ type }) =>
      Object.entries(Object.getOwnPropertyDescriptors(type.prototype))
        .filter(([, { get, set }]) => get !== undefined || set !== undefined)
        .map(([name]) => name),
    );
    expect(getters).toEqual([]);
  });

  test('is named by the lists above only where it exists', () => {
    for (const surface of SURFACES) {
      expect(methodsOf(surface.type.prototype)).toEqual(
        expect.arrayContaining([...surface.synchronous, ...surface.takesAnything]),
      );
    }
  });

  test('has the type of a promise', () => {
    expectTypeOf<Synchronous<Run>>().toEqualTypeOf<never>();
    expectTypeOf<Synchronous<Orchestrator>>().toEqualTypeOf<'close'>();
    // `stream`, `follow` and `gateEvents` are read with `for await`.
    expectTypeOf<Synchronous<DurableApp<object, object, object>>>().toEqualTypeOf<
      'close' | 'follow' | 'gateEvents' | 'stream'
    >();
  });

  test('rejects also where an orchestrator is opened wrongly', async () => {
    const opened = Orchestrator.open(null as never);
    await expect(opened).rejects.toThrow(TypeError);
  });
});

/** Names of the methods that return no promise. */
type Synchronous<T> = {
  [Name in keyof T]: T[Name] extends (...args: never[]) => infer Returned
    ? Returned extends Promise<unknown>
      ? never
      : Name
    : never;
}[keyof T];

describe('two decisions at once in one process', () => {
  const answers = [
    { approved: true, by: { kind: 'human', id: 'ada' } },
    { approved: false, feedback: 'No.', by: { kind: 'human', id: 'bob' } },
  ] as const;

  async function race(decide: (answer: (typeof answers)[number]) => Promise<unknown>): Promise<void> {
    const [first, second] = await Promise.allSettled(answers.map(decide));
    expect(first?.status).toBe('fulfilled');
    expect(second).toMatchObject({
      status: 'rejected',
      reason: { code: 'GATE_ALREADY_DECIDED', context: { principal: 'human:ada' } },
    });
  }

  test('on an app have one winner', async ({ dbPath }) => {
    const app = openApp(dbPath);
    const [gate] = (await app.run('r', {})).gates;
    if (gate === undefined) throw new Error('No gate is open.');
    await race((answer) => app.decide(gate, answer));
    expect(await app.run('r')).toMatchObject({ status: 'completed', values: { note: 'done' } });
  });

  test('on a run have one winner', async ({ dbPath }) => {
    const run = await (await openOrchestrator(dbPath)).start({ id: 'r', brief: '# Sum' });
    const [gate] = (await run.resume()).gates;
    if (gate === undefined) throw new Error('No gate is open.');
    await race((answer) => run.decide(gate, answer));
    expect(await run.gates()).toEqual([]);
  });
});
