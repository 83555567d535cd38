import { setTimeout as sleep } from 'node:timers/promises';
import { type Graph, type Op, WRONG } from './Op.ts';

/** What came back, without what differs in every run: ids, times, figures. */
export interface Seen {
  readonly status: number;
  readonly body: unknown;
}

interface Interrupt {
  readonly id?: string;
  readonly value?: unknown;
}
interface ThreadState {
  readonly values: unknown;
  readonly next: readonly string[];
  readonly tasks: readonly { readonly name: string; readonly interrupts: readonly Interrupt[] }[];
  readonly checkpoint?: { readonly checkpoint_id?: string } | null;
}
interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

const EXPIRED = '0000000000000000000000000000dead';
const REST_MS = 20;
/** A request that takes longer waits for ever. */
const LONGEST_MS = 60_000;

/** One thread of a server, and requests that stock clients send, byte for byte the same to both servers. */
export class ThreadClient {
  readonly #url: string;
  #thread = '';
  #run = '';
  #graph: Graph | null = null;
  #tag = '';

  /** @param tag - Tells the threads of this sequence from those of others in a search. */
  constructor(url: string, tag: string) {
    this.#url = url;
    this.#tag = tag;
  }

  async send(method: string, path: string, body: unknown): Promise<Reply> {
    const sent = body === null ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) };
    const signal = AbortSignal.timeout(LONGEST_MS);
    try {
      const headers = { 'content-type': 'application/json' };
      const response = await fetch(this.#url + path, { method, headers, signal, ...sent });
      return { status: response.status, headers: response.headers, text: await response.text() };
    } catch (error) {
      throw new Error(`${method} ${this.#url}${path} ${JSON.stringify(body)} was not answered`, {
        cause: error,
      });
    }
  }

  /** Does it, waits until the thread is at rest, and says what a client sees of it. */
  async do(op: Op): Promise<Seen> {
    const seen = await this.#request(op);
    if (op.kind !== 'delete') await this.#rest();
    return seen;
  }

  /** What is there afterwards, whatever was said. */
  async state(): Promise<Seen> {
    const reply = await this.send('GET', `/threads/${this.#thread}/state`, null);
    return reply.status === 200 ? { status: 200, body: plainState(parsed(reply)) } : bare(reply);
  }

  #request(op: Op): Promise<Seen> {
    const act = this.#acts[op.kind] as (op: Op) => Promise<Seen>;
    return act(op);
  }

  get #at(): string {
    return `/threads/${this.#thread}`;
  }

  readonly #acts: { readonly [Kind in Op['kind']]: (op: Op & { readonly kind: Kind }) => Promise<Seen> } = {
    create: async ({ topic }) => {
      const reply = await this.send('POST', '/threads', { metadata: { topic, tag: this.#tag } });
      this.#thread = String(field(parsed(reply), 'thread_id'));
      return { status: reply.status, body: plainThread(parsed(reply)) };
    },
    wait: (op) => this.#waited(this.#runOf(op)),
    stream: (op) => this.#streamed({ ...this.#runOf(op), stream_mode: op.modes }),
    background: async (op) => this.#started(await this.send('POST', `${this.#at}/runs`, this.#runOf(op))),
    resume: async (op) =>
      this.#waited({ assistant_id: this.#graph ?? 'post', command: { resume: await this.#answer(op) } }),
    start: (op) => this.#command('run.start', this.#runOf(op)),
    respond: async ({ id, answer }) => {
      const open = await this.#open();
      const interrupt_id = id === 'open' ? (open?.id ?? EXPIRED) : EXPIRED;
      return this.#command('input.respond', { interrupt_id, namespace: [], response: answer });
    },
    update: async ({ values, asNode }) => {
      const graph = this.#graph ?? 'echo';
      const known = graph === 'post' ? { url: 'https://elsewhere.example' } : { text: 'changed' };
      const as = asNode === null ? {} : { as_node: LAST[graph] };
      const body = { values: values === 'known' ? known : { unheard: 'of' }, ...as };
      return bare(await this.send('POST', `${this.#at}/state`, body));
    },
    fork: async ({ back, text }) => {
      const states = list(parsed(await this.send('POST', `${this.#at}/history`, { limit: 10 })));
      const checkpoint_id = field(field(states[back], 'checkpoint'), 'checkpoint_id');
      const from = checkpoint_id === undefined ? {} : { checkpoint_id };
      return this.#waited({ ...this.#runOf({ graph: this.#graph ?? 'echo', text }), ...from });
    },
    cancel: async () => bare(await this.send('POST', `${this.#runAt}/cancel?wait=1`, {})),
    patch: async ({ topic }) => {
      const reply = await this.send('PATCH', this.#at, { metadata: { topic } });
      return { status: reply.status, body: plainThread(parsed(reply)) };
    },
    state: () => this.state(),
    history: async ({ limit }) => {
      const reply = await this.send('POST', `${this.#at}/history`, { limit });
      return { status: reply.status, body: list(parsed(reply)).map(plainState) };
    },
    runs: async () => {
      const reply = await this.send('GET', `${this.#at}/runs`, null);
      return { status: reply.status, body: list(parsed(reply)).map((run) => field(run, 'status')) };
    },
    join: async () => {
      const reply = await this.send('GET', `${this.#runAt}/join`, null);
      return { status: reply.status, body: reply.status === 200 ? plain(parsed(reply)) : null };
    },
    search: async ({ topic }) => {
      const metadata = { topic, tag: this.#tag };
      const reply = await this.send('POST', '/threads/search', { metadata });
      return { status: reply.status, body: list(parsed(reply)).map(plainThread) };
    },
    delete: async () => bare(await this.send('DELETE', this.#at, null)),
    wrong: async ({ request }) => {
      const [method, path, body] = WRONG[request];
      return bare(await this.send(method, path.replace('/T/', `/${this.#thread}/`), body));
    },
  };

  get #runAt(): string {
    return `${this.#at}/runs/${this.#run || EXPIRED_RUN}`;
  }

  /** A thread keeps the graph of its first run. */
  #runOf({ graph, text }: { readonly graph: Graph; readonly text: string }): object {
    this.#graph ??= graph;
    const input =
      this.#graph === 'post'
        ? { messages: [{ type: 'human', content: text, id: `said ${text}` }] }
        : { text };
    return { assistant_id: this.#graph, input };
  }

  async #waited(body: object): Promise<Seen> {
    const reply = await this.send('POST', `/threads/${this.#thread}/runs/wait`, body);
    this.#noteRun(reply);
    return { status: reply.status, body: reply.status === 200 ? plain(parsed(reply)) : null };
  }

  async #streamed(body: object): Promise<Seen> {
    const reply = await this.send('POST', `/threads/${this.#thread}/runs/stream`, body);
    this.#noteRun(reply);
    return { status: reply.status, body: reply.status === 200 ? plainEvents(reply.text) : null };
  }

  #started(reply: Reply): Seen {
    if (reply.status !== 200) return bare(reply);
    this.#run = String(field(parsed(reply), 'run_id'));
    return { status: 200, body: { status: field(parsed(reply), 'status') } };
  }

  async #command(method: string, params: object): Promise<Seen> {
    const reply = await this.send('POST', `/threads/${this.#thread}/commands`, { id: 1, method, params });
    const body = parsed(reply);
    return { status: reply.status, body: { type: field(body, 'type'), error: field(body, 'error') ?? null } };
  }

  #noteRun(reply: Reply): void {
    const at = reply.headers.get('content-location');
    this.#run = at?.split('/').at(-1) ?? this.#run;
  }

  async #open(): Promise<Interrupt | undefined> {
    const reply = await this.send('GET', `/threads/${this.#thread}/state`, null);
    if (reply.status !== 200) return undefined;
    return (parsed(reply) as ThreadState).tasks.flatMap(({ interrupts }) => interrupts)[0];
  }

  async #answer({ answer, by }: Op & { readonly kind: 'resume' }): Promise<unknown> {
    if (by === 'scalar') return answer;
    return { [by === 'id' ? ((await this.#open())?.id ?? EXPIRED) : EXPIRED]: answer };
  }

  /** Until no run of the thread is left to do. */
  async #rest(): Promise<void> {
    for (const since = Date.now(); ; ) {
      const runs = await this.send('GET', `/threads/${this.#thread}/runs`, null);
      const isDoing = list(parsed(runs)).some((run) => OPEN.has(field(run, 'status')));
      const thread = await this.send('GET', `/threads/${this.#thread}`, null);
      if (thread.status !== 200 || (!isDoing && field(parsed(thread), 'status') !== 'busy')) return;
      if (Date.now() - since > LONGEST_MS)
        throw new Error(`${this.#url}${this.#at} does not come to rest: ${runs.text} ${thread.text}`);
      await sleep(REST_MS);
    }
  }
}

const OPEN: ReadonlySet<unknown> = new Set(['pending', 'running']);
/** The node that wrote last when a run of the graph is at rest. */
const LAST: Readonly<Record<Graph, string>> = { echo: 'echo', steps: 'three', post: 'write' };

const EXPIRED_RUN = '0197b1f0-0000-7000-8000-000000000000';

const bare = ({ status }: Reply): Seen => ({ status, body: null });

function parsed({ text }: Reply): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const field = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;

/** Ids of messages that nobody gave, of interrupts and of tasks are others on each server. */
const VOLATILE = new Set([
  'id',
  'ns',
  'response_metadata',
  'additional_kwargs',
  'usage_metadata',
  'content_blocks',
  'created_at',
  'resumable',
  'when',
]);

/** The form of a message is LangChain's, which writes absent members as it likes. */
export function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value)
    .filter(([name, item]) => !VOLATILE.has(name) && !isNothing(item))
    .map(([name, item]) => [name, name === 'content' ? textOf(item) : plain(item)] as const);
  return Object.fromEntries(kept.toSorted(([left], [right]) => (left < right ? -1 : 1)));
}

/** The content of a message is a text, or the same as a block. */
const textOf = (content: unknown): unknown =>
  Array.isArray(content) ? content.map((block) => field(block, 'text') ?? '').join('') : content;

const isNothing = (value: unknown): boolean =>
  value === null || value === undefined || (Array.isArray(value) && value.length === 0);

function plainState(value: unknown): unknown {
  const { values, next, tasks } = value as ThreadState;
  const interrupts = list(tasks).flatMap((task) =>
    list(field(task, 'interrupts')).map((each) => field(each, 'value')),
  );
  return { values: plain(values), next, interrupts };
}

function plainThread(value: unknown): unknown {
  const { topic } = (field(value, 'metadata') ?? {}) as { readonly topic?: string };
  return { topic, status: field(value, 'status'), values: plain(field(value, 'values')) ?? null };
}

/** The events of a stream, without the run's ids. */
function plainEvents(text: string): readonly unknown[] {
  return text.split(/\r?\n\r?\n/).flatMap((block) => {
    const event = /^event: ?(.*)$/m.exec(block)?.[1];
    const data = /^data: ?(.*)$/m.exec(block)?.[1];
    if (event === undefined || event === 'end') return [];
    const value = data === undefined || data === '' ? null : (JSON.parse(data) as unknown);
    if (event === 'metadata') return [{ event, hasRun: field(value, 'run_id') !== undefined }];
    if (event === 'messages') return [{ event, data: plain(list(value)[0]) }];
    if (event === 'error') return [{ event }];
    return [{ event, data: plain(value) }];
  });
}
