// Random programs of LangGraph's functional API: tasks one after another, side by side and inside each other, with questions
// in between.
import { entrypoint, interrupt, task } from '@langchain/langgraph';
import fc from 'fast-check';

/** What an entrypoint or a task does. */
export type Deed =
  | { readonly kind: 'call' | 'ask' | 'step' }
  /** A task that throws so many times before it makes its call. */
  | { readonly kind: 'flaky'; readonly times: number }
  | { readonly kind: 'all' | 'sequence' | 'task' | 'entrypoint'; readonly of: readonly Deed[] };

export interface TaskWorld {
  /** A call in a task. */
  call(what: string): string;
  /** A call in the code around tasks. */
  step(name: string, what: string): Promise<string>;
  fails(what: string, times: number): boolean;
}

const leaf = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constantFrom('call' as const) }) },
  fc.record({ kind: fc.constantFrom('ask' as const, 'step' as const) }),
  fc.record({ kind: fc.constant('flaky' as const), times: fc.integer({ min: 1, max: 2 }) }),
);

const { deed } = fc.letrec<{ deed: Deed }>((tie) => ({
  deed: fc.oneof(
    { maxDepth: 3, depthSize: 'small', withCrossShrink: true },
    leaf,
    fc.record({
      kind: fc.constantFrom('all' as const, 'sequence' as const, 'task' as const, 'entrypoint' as const),
      of: fc.array(tie('deed'), { minLength: 1, maxLength: 3 }),
    }),
  ),
}));

export const taskPrograms = fc.array(deed, { minLength: 1, maxLength: 4 });

const RETRY = { maxAttempts: 3, initialInterval: 1, jitter: false, logWarning: false } as const;

/** Each deed is named by its place in the program. */
export function buildTasks(program: readonly Deed[], world: TaskWorld) {
  const called = task('called', async (what: string) => world.call(what));
  const flaky = task({ name: 'flaky', retry: RETRY }, async (what: string, times: number) => {
    if (world.fails(what, times)) throw new Error(`${what} fails`);
    return world.call(what);
  });
  const within = task('within', async (at: string, deeds: readonly Deed[]) => inTurn(deeds, at));
  const inner = entrypoint('inner', async ({ at, deeds }: { at: string; deeds: readonly Deed[] }) =>
    inTurn(deeds, at),
  );

  async function inTurn(deeds: readonly Deed[], at: string): Promise<readonly unknown[]> {
    const results: unknown[] = [];
    for (const [index, each] of deeds.entries()) results.push(await done(each, `${at}.${index}`));
    return results;
  }

  async function done(what: Deed, at: string): Promise<unknown> {
    switch (what.kind) {
      case 'call':
        return called(at);
      case 'ask':
        return interrupt(at);
      case 'step':
        return world.step(`step ${at}`, at);
      case 'flaky':
        return flaky(at, what.times);
      case 'sequence':
        return inTurn(what.of, at);
      case 'all':
        return Promise.all(what.of.map((each, index) => done(each, `${at}.${index}`)));
      case 'task':
        return within(at, what.of);
      case 'entrypoint':
        return inner.invoke({ at, deeds: what.of });
    }
  }

  return entrypoint('program', async (name: string) => inTurn(program, name));
}
