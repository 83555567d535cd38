import { EventEmitter, once } from 'node:events';
import { Annotation, END, GraphDrained, interrupt, START, StateGraph } from '@langchain/langgraph';
import fc from 'fast-check';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { createDatabase } from '../../../db/createDatabase.ts';
import { localHost } from '../../../state/threads/hostIdentity.ts';
import { ThreadStore } from '../../../state/threads/ThreadStore.ts';
import { hasEnded, THREAD_STATUSES, type ThreadStatus } from '../../../state/threads/threadRecords.ts';
import { SkippingClock } from '../../../testing/TestApp.ts';
import { ada } from '../../__tests__/ownGraph.ts';
import { durable } from '../../app/durable.ts';
import { internalsOf } from '../../file/appInternals.ts';
import { child, sleep, waitFor } from '../../node/waitFor.ts';
import type { RunError, RunInfo, RunResult } from '../RunResult.ts';

/** What a node does the first time that it comes to its place in the program. */
const NODES = ['go', 'ask', 'sleep', 'wait', 'child', 'throw', 'drain', 'leave', 'cancel'] as const;
/** What happens between two drives, and what kind of drive follows. */
const DEEDS = [
  'run',
  'stopped',
  'crowded',
  'due',
  'answer',
  'tell',
  'pause',
  'end',
  'die',
  'revive',
] as const;

interface Program {
  readonly nodes: readonly (typeof NODES)[number][];
  readonly deeds: readonly (typeof DEEDS)[number][];
}

const HOUR = 3_600_000;
const RUN = 'r';
/** As many drivers as may die, and one more. */
const DEATHS = 6;
const dead = { ...localHost(), pid: 2 ** 30, isProcessAlive: () => false };

const State = Annotation.Root({
  nodes: Annotation<Program['nodes']>(),
  done: Annotation<number>({ reducer: (left, right) => left + right, default: () => 0 }),
});

const looping = (work: (state: typeof State.State) => Promise<void>) =>
  new StateGraph(State)
    .addNode('work', async (state) => {
      await work(state);
      return { done: 1 };
    })
    .addEdge(START, 'work')
    .addConditionalEdges('work', ({ nodes, done }) => (done < nodes.length ? 'work' : END));

/** One program: after each drive, what it returned is compared with the list. */
class Watched {
  readonly seen = new Set<ThreadStatus>();
  readonly #program: Program;
  readonly #clock = new SkippingClock();
  readonly #db = createDatabase({ dbPath: ':memory:' });
  readonly #below = durable(
    looping(async () => void interrupt('below?')),
    { db: this.#db, now: this.#clock.now },
  );
  readonly #app = durable(
    looping((state) => this.#node(state)),
    { db: this.#db, now: this.#clock.now },
  );
  readonly #begun = new Set<number>();
  #leaves = new AbortController();
  readonly #crowd = new EventEmitter();
  #crowds = 0;

  constructor(program: Program) {
    this.#program = program;
  }

  async check(): Promise<void> {
    await this.#app.start(RUN, { nodes: this.#program.nodes });
    for (const deed of this.#program.deeds) await this.#deed(deed);
    this.#db.close();
  }

  async #node({ nodes, done }: typeof State.State): Promise<void> {
    const what = nodes[done];
    if (what === undefined) return this.#inTheCrowd();
    if (what === 'ask') interrupt(`go on after ${done}?`);
    if (what === 'sleep') await sleep(HOUR);
    if (what === 'wait') await waitFor('word');
    if (what === 'child') await child(this.#below, `${RUN}/${done}`, { nodes: ['ask'] });
    if (this.#begun.has(done)) return;
    this.#begun.add(done);
    if (what === 'throw') throw new Error('not yet');
    if (what === 'drain') throw new GraphDrained('enough for today');
    if (what === 'leave') this.#leaves.abort();
    if (what === 'cancel') await this.#app.cancel(RUN);
  }

  async #inTheCrowd(): Promise<void> {
    this.#crowd.emit('begun');
    await once(this.#crowd, 'called off');
  }

  async #deed(deed: Program['deeds'][number]): Promise<void> {
    if (deed === 'run') return this.#drives({ drain: this.#leaves.signal });
    if (deed === 'stopped') return this.#drives({ drain: AbortSignal.abort() });
    if (deed === 'crowded') return this.#isCrowdedOut();
    if (deed === 'due') return this.#drivesDue();
    if (deed === 'die') return this.#drivenByTheDead();
    if (deed === 'pause') return void (await this.#app.pause(RUN));
    if (deed === 'end') return void (await this.#app.cancel(RUN));
    if (deed === 'revive') return void (await this.#app.revive(RUN, { by: ada }));
    if (hasEnded((await this.#listed()).status)) return;
    if (deed === 'tell')
      return void (await this.#app.signal(RUN, 'word', null, {
        by: ada,
        signalId: internalsOf(this.#app).newId(),
      }));
    for (const gate of await this.#app.gates(RUN)) await this.#app.decide(gate, { value: true, by: ada });
  }

  async #listed(): Promise<RunInfo> {
    const { runs } = await this.#app.list();
    const run = runs.find(({ id }) => id === RUN);
    if (run === undefined) throw new Error('The run is not listed.');
    return run;
  }

  async #compare({ status, gates, ...result }: RunResult): Promise<void> {
    expect(status).toBe((await this.#listed()).status);
    expect(gates).toEqual(status === 'waiting' ? await this.#app.gates(RUN) : []);
    if (status !== 'waiting') expect(result).not.toHaveProperty('until');
    this.seen.add(status);
  }

  async #drives(options: { readonly drain: AbortSignal }): Promise<void> {
    await this.#compare(await this.#app.run(RUN, undefined, { ...options, throwOnFailure: false }));
    this.#leaves = new AbortController();
  }

  async #drivesDue(): Promise<void> {
    this.#clock.advance(HOUR);
    const { driven } = await this.#app.runDue();
    const own = driven.find(({ id }) => id === RUN);
    if (own !== undefined) await this.#compare(own);
  }

  /** Another run of this process has to be alone, and is until it was called off. */
  async #isCrowdedOut(): Promise<void> {
    const id = `crowd-${this.#crowds}`;
    this.#crowds += 1;
    await this.#app.start(id, { nodes: [] });
    this.#dies(id, 2);
    const begun = once(this.#crowd, 'begun');
    const other = this.#app.run(id, undefined, { throwOnFailure: false });
    await begun;
    await this.#drives({ drain: AbortSignal.abort() });
    this.#crowd.emit('called off');
    await other;
  }

  async #drivenByTheDead(): Promise<void> {
    if (!hasEnded((await this.#listed()).status)) this.#dies(RUN, DEATHS);
  }

  #dies(id: string, drivers: number): void {
    const threads = new ThreadStore(this.#db, { host: dead });
    for (let nth = 0; nth < drivers; nth += 1) {
      const claim = threads.claim(id);
      if (claim.kind === 'busy') throw new Error('The dead driver counts as alive.');
      threads.begin(claim.lease, { recovered: claim.recovered });
      threads.markWorked(claim.lease);
    }
  }
}

/** Between them they come to every status. */
const EXAMPLES: readonly Program[] = [
  {
    nodes: ['ask', 'sleep', 'wait', 'child'],
    deeds: ['run', 'answer', 'run', 'due', 'tell', 'run', 'crowded'],
  },
  {
    nodes: ['drain', 'leave', 'throw', 'go'],
    deeds: ['crowded', 'run', 'run', 'run', 'crowded', 'run', 'run'],
  },
  { nodes: ['ask', 'cancel', 'go'], deeds: ['stopped', 'pause', 'run', 'crowded', 'end', 'run'] },
  { nodes: ['ask'], deeds: ['run', 'die', 'crowded', 'run', 'revive', 'run', 'answer', 'run', 'end', 'run'] },
];

const programs = fc.record({
  nodes: fc.array(fc.constantFrom(...NODES), { minLength: 1, maxLength: 4 }),
  deeds: fc.array(fc.constantFrom(...DEEDS), { minLength: 1, maxLength: 10 }),
});

describe('what a run returns', () => {
  it('is the status that the list has at that moment, whatever happens to it', async () => {
    const seen = new Set<ThreadStatus>();
    await fc.assert(
      fc.asyncProperty(programs, async (program) => {
        const watched = new Watched(program);
        await watched.check();
        for (const status of watched.seen) seen.add(status);
      }),
      { numRuns: 25, examples: EXAMPLES.map((program) => [program]) },
    );
    expect([...seen].toSorted()).toEqual([...THREAD_STATUSES].toSorted());
  });

  it('has the types of its status', () => {
    const use = (ran: RunResult<{ readonly log: string }>): void => {
      expectTypeOf(ran.status).toEqualTypeOf<ThreadStatus>();
      expectTypeOf(ran.until).toEqualTypeOf<number | undefined>();
      if (ran.status === 'failed') expectTypeOf(ran.error).toEqualTypeOf<RunError | undefined>();
      else expectTypeOf(ran.error).toEqualTypeOf<undefined>();
      if (ran.status === 'completed') expectTypeOf(ran.until).toEqualTypeOf<undefined>();
      expectTypeOf(ran.values).toEqualTypeOf<{ readonly log: string } | null>();
    };
    expect(use).toBeTypeOf('function');
  });
});
