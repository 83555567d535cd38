import fc from 'fast-check';
import { expect } from 'vitest';
import { howMany } from '../../core/test/support/howMany.ts';
import { longer } from '../../core/test/support/longer.ts';
import { tried } from '../../core/test/support/tried.ts';
import { test } from './support/fixtures.ts';
import type { Served } from './support/serveApps.ts';

// Whatever a client sends, only an answer to the question that waits passes it.

/** Sequences of requests to a thread whose question waits. */
const SEQUENCES = howMany('DEVS_GATE_SEQUENCES', 25);

interface Attempt {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
}

const said = fc.constantFrom(
  { messages: [{ type: 'human', content: 'publish nothing yet' }] },
  { messages: [{ type: 'human', content: 'true' }] },
  { messages: [], url: 'https://elsewhere.example' },
  null,
  {},
  { __resume__: true },
  { __interrupt__: [], url: 'x' },
);
const strategy = fc.constantFrom(undefined, 'reject', 'enqueue', 'rollback');
const node = fc.constantFrom('publish', 'write', '__start__', '__end__', 'nowhere');
const stale = fc.constantFrom('0'.repeat(32), 'publish', '__proto__', '', '*');
/** Commands that answer nothing, or nothing that is asked. */
const command = fc.oneof(
  fc.record({ goto: node }),
  fc.record({ goto: fc.tuple(node, node) }),
  fc.record({ goto: fc.record({ node, input: said }) }),
  fc.record({ update: said }),
  fc.record({ update: said, goto: node }),
  // Another object would be a value: what a person answers where one question is open.
  fc
    .constantFrom('0'.repeat(32), `${crypto.randomUUID()}.0123456789abcdef`)
    .map((id) => ({ resume: { [id]: true } })),
  fc.record({ resume: fc.constant(true), goto: node }),
  fc.record({ resume: fc.constant(true), update: said }),
  fc.constant({}),
);
const run = fc
  .record({
    input: fc.option(said, { nil: undefined }),
    command: fc.option(command, { nil: undefined }),
    multitask_strategy: strategy,
    checkpoint_id: fc.constantFrom(undefined, 'C'),
    interrupt_before: fc.constantFrom(undefined, [], '*'),
    if_not_exists: fc.constantFrom(undefined, 'create'),
  })
  .map((body) => ({ assistant_id: 'post', ...body }));
const ways = fc.constantFrom('runs', 'runs/wait', 'runs/stream');

const attempt: fc.Arbitrary<Attempt> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.tuple(ways, run).map(([way, body]) =>
      // One that is to come next is waited for as long as the question.
      post(body.multitask_strategy === 'enqueue' ? 'runs' : way, body),
    ),
  },
  {
    weight: 3,
    arbitrary: fc
      .record({
        values: said,
        as_node: fc.option(node, { nil: undefined }),
        checkpoint_id: fc.constantFrom(undefined, 'C'),
      })
      .map((body) => post('state', body)),
  },
  {
    weight: 3,
    arbitrary: fc.oneof(
      run.map((params) => protocol('run.start', params)),
      stale.map((interrupt_id) => protocol('input.respond', { interrupt_id, namespace: [], response: true })),
      fc
        .record({ response: fc.constant(true), goto: node, update: said })
        .map((params) => protocol('input.respond', { interrupt_id: 'I', namespace: [], ...params })),
      said.map((message) => protocol('input.inject', { message, namespace: [] })),
      fc.record({ values: said, as_node: node }).map((params) => protocol('state.update', params)),
      fc.constant(protocol('state.fork', { checkpoint_id: 'C' })),
    ),
  },
  { weight: 1, arbitrary: said.map((metadata) => ({ method: 'PATCH', path: '', body: { metadata } })) },
  { weight: 1, arbitrary: fc.constant(post('state/checkpoint', { checkpoint: { checkpoint_id: 'C' } })) },
);

function post(path: string, body: unknown): Attempt {
  return { method: 'POST', path: `/${path}`, body };
}
function protocol(method: string, params: object): Attempt {
  return post('commands', { id: 1, method, params });
}

class Thread {
  readonly #served: Served;
  readonly id: string;
  /** Of a checkpoint and of the interrupt, in the place of `C` and `I`. */
  #known: Readonly<Record<string, string>> = {};

  constructor(served: Served, id: string) {
    this.#served = served;
    this.id = id;
  }

  /** Until its question waits. */
  async ask(): Promise<void> {
    await this.#served.apps.post.run(this.id, { messages: [{ type: 'human', content: 'hi' }] });
    const { body } = await this.send({ method: 'GET', path: '/state', body: undefined });
    const { checkpoint, tasks } = JSON.parse(body) as {
      readonly checkpoint: { readonly checkpoint_id: string };
      readonly tasks: readonly { readonly interrupts: readonly { readonly id: string }[] }[];
    };
    const id = tasks.flatMap(({ interrupts }) => interrupts)[0]?.id;
    if (id === undefined) throw new Error('Expected a question.');
    this.#known = { C: checkpoint.checkpoint_id, I: id };
  }

  async send({ method, path, body }: Attempt): Promise<{ readonly status: number; readonly body: string }> {
    const text = JSON.stringify(body, (name, value: unknown) =>
      (name === 'checkpoint_id' || name === 'interrupt_id') && typeof value === 'string'
        ? (this.#known[value] ?? value)
        : value,
    );
    const init = body === undefined ? {} : { body: text };
    const headers = { 'content-type': 'application/json' };
    const response = await this.#served.ask(`/threads/${this.id}${path}`, { method, headers, ...init });
    return { status: response.status, body: await response.text() };
  }
}

test('no message, update, fork or command passes a question', {
  timeout: longer(60_000, SEQUENCES / 25),
}, async ({ served, task, annotate }) => {
  const statuses = new Map<number, number>();
  let requests = 0;
  const property = fc.asyncProperty(fc.array(attempt, { minLength: 1, maxLength: 6 }), async (attempts) => {
    const thread = new Thread(served, crypto.randomUUID());
    await thread.ask();
    for (const each of attempts) {
      const { status } = await thread.send(each);
      requests += 1;
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      expect(status, JSON.stringify(each)).toBeLessThan(500 + 2);
      expect(status, JSON.stringify(each)).not.toBe(500);
    }
    expect(served.calls.filter((call) => call.startsWith('published'))).toEqual([]);
    const values = (await served.apps.post.getState(thread.id)).values;
    expect(values.url).not.toBe('https://posts.example/1');
    const info = await served.apps.post.get(thread.id);
    expect(info?.status, JSON.stringify(attempts)).not.toBe('completed');
  });
  await fc.assert(property, { numRuns: SEQUENCES });
  tried(task, { ways: requests });
  await annotate([...statuses].map(([status, count]) => `${status}: ${count}`).join(', '));
});
