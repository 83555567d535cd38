import fc from 'fast-check';

/** What a client does to one of the threads of a sequence. Each is a request, or waits until the server is at rest. */
export type Op =
  | { readonly kind: 'create'; readonly topic: string }
  | { readonly kind: 'wait'; readonly graph: Graph; readonly text: string }
  | { readonly kind: 'stream'; readonly graph: Graph; readonly text: string; readonly modes: readonly Mode[] }
  | { readonly kind: 'background'; readonly graph: Graph; readonly text: string }
  | { readonly kind: 'resume'; readonly answer: boolean; readonly by: 'scalar' | 'id' | 'stale id' }
  | { readonly kind: 'start'; readonly graph: Graph; readonly text: string }
  | { readonly kind: 'respond'; readonly answer: boolean; readonly id: 'open' | 'stale' }
  | { readonly kind: 'update'; readonly values: 'known' | 'unknown'; readonly asNode: 'last' | null }
  | { readonly kind: 'fork'; readonly back: number; readonly text: string }
  | { readonly kind: 'cancel' }
  | { readonly kind: 'patch'; readonly topic: string }
  | { readonly kind: 'state' }
  | { readonly kind: 'history'; readonly limit: number }
  | { readonly kind: 'runs' }
  | { readonly kind: 'join' }
  | { readonly kind: 'search'; readonly topic: string }
  | { readonly kind: 'delete' }
  | { readonly kind: 'wrong'; readonly request: Wrong };

export type Graph = 'echo' | 'steps' | 'post';
export type Mode = 'values' | 'updates' | 'custom' | 'messages-tuple';
export type Wrong = keyof typeof WRONG;

/** Requests that any server refuses. `T` stands for the thread. */
export const WRONG = {
  'a thread that is not there': ['GET', '/threads/0197b1f0-0000-7000-8000-000000000000', null],
  'the state of a thread that is not there': [
    'GET',
    '/threads/0197b1f0-0000-7000-8000-000000000000/state',
    null,
  ],
  'a run of a thread that is not there': [
    'POST',
    '/threads/0197b1f0-0000-7000-8000-000000000000/runs/wait',
    { assistant_id: 'echo', input: { text: 'x' } },
  ],
  'an assistant that is not there': ['POST', '/threads/T/runs/wait', { assistant_id: 'nobody', input: {} }],
  'a run without an assistant': ['POST', '/threads/T/runs/wait', { input: {} }],
  'a run that is not there': ['GET', '/threads/T/runs/0197b1f0-0000-7000-8000-000000000000', null],
  'no JSON': ['POST', '/threads/search', 'no JSON'],
  'a limit that is no number': ['POST', '/threads/search', { limit: 'many' }],
} as const;

const text = fc.constantFrom('one', 'two', 'ümläut 😀', '');
const topic = fc.constantFrom('red', 'blue');
const graph = fc.constantFrom<Graph>('echo', 'steps', 'post', 'post');
const mode = fc.constantFrom<Mode>('values', 'updates', 'custom', 'messages-tuple');
const modes = fc.uniqueArray(mode, { minLength: 1, maxLength: 2 });

export const op: fc.Arbitrary<Op> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('wait' as const), graph, text }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('stream' as const), graph, text, modes }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('background' as const), graph, text }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('resume' as const),
      answer: fc.boolean(),
      by: fc.constantFrom('scalar' as const, 'id' as const, 'id' as const, 'stale id' as const),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('start' as const), graph, text }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('respond' as const),
      answer: fc.boolean(),
      id: fc.constantFrom('open' as const, 'open' as const, 'stale' as const),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('update' as const),
      values: fc.constantFrom<'known' | 'known' | 'unknown'>('known', 'known', 'unknown'),
      asNode: fc.constantFrom<null | 'last'>(null, 'last'),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('fork' as const), back: fc.integer({ min: 0, max: 2 }), text }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'cancel' as const }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('patch' as const), topic }) },
  { weight: 2, arbitrary: fc.constant({ kind: 'state' as const }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('history' as const), limit: fc.integer({ min: 1, max: 4 }) }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'runs' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'join' as const }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('search' as const), topic }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'delete' as const }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('wrong' as const),
      request: fc.constantFrom(...(Object.keys(WRONG) as Wrong[])),
    }),
  },
);

/** A thread is of one graph: which it is, its first run says. */
export const sequence: fc.Arbitrary<readonly Op[]> = fc
  .tuple(topic, fc.array(op, { minLength: 3, maxLength: 9 }))
  .map(([first, rest]) => [{ kind: 'create' as const, topic: first }, ...rest]);
