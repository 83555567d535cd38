import { readdirSync, readFileSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Annotation, END, interrupt, START, StateGraph } from '@langchain/langgraph';
import type { Database } from 'better-sqlite3';
import { describe, expect } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { EventBus } from '../../events/events.ts';
import type { CommitBarrier } from '../../state/commits/CommitBarrier.ts';
import { leaseLost } from '../../state/commits/immediateTransaction.ts';
import { durable } from '../app/durable.ts';
import { EngineStore } from '../gates/EngineStore.ts';
import { ownGraphProfile } from '../graph/NodeEngine.ts';
import { step } from '../node/step.ts';
import { STEP_CODEC } from '../saver/StrictSerde.ts';

// Law L11: nothing leaves a run while a commit it rests on could be lost.

/** A way on which nothing arrives once the file holds a certain thing, until somebody lets it. */
class HeldOutlet implements CommitBarrier {
  readonly #db: Database;
  readonly #held: string;
  #waiting: { readonly resolve: () => void; readonly reject: (error: Error) => void }[] = [];
  #isOpen = false;
  /** Whether the run may not go on ahead of what has arrived. */
  isFar = false;

  /** @param held - A query: what is committed from where it finds a row on does not arrive. */
  constructor(db: Database, held: string) {
    this.#db = db;
    this.#held = held;
  }

  pending(): Promise<void> | null {
    if (this.#isOpen || this.#db.prepare(this.#held).get() === undefined) return null;
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
  }

  leaving(): Promise<void> | null {
    return this.pending();
  }

  keepsUp(commit: () => void): Promise<void> | null {
    if (!this.isFar) return null;
    commit();
    return this.pending();
  }

  /** Resolves once somebody waits, and all that does not wait has been done. */
  async isWaitedFor(): Promise<void> {
    while (this.#waiting.length === 0) await setImmediate();
    for (let turn = 0; turn < 50; turn += 1) await setImmediate();
  }

  open(): void {
    this.#isOpen = true;
    for (const { resolve } of this.#waiting) resolve();
  }

  lose(error: Error): void {
    this.#isOpen = true;
    for (const { reject } of this.#waiting) reject(error);
  }
}

const Own = Annotation.Root({ draft: Annotation<string>(), sent: Annotation<boolean>() });

/** A graph that makes one call, works on, and asks; and all that leaves its run. */
function leavingRun(db: Database, held: string) {
  const left: string[] = [];
  const leave = (what: string): void => void left.push(what);
  const outlet = new HeldOutlet(db, held);
  const events = new EventBus();
  events.onAny(leave);
  const builder = new StateGraph(Own)
    .addNode('write', async () => {
      const draft = await step('draft', () => {
        leave('call');
        return 'text';
      });
      leave('result');
      return { draft };
    })
    .addNode('send', () => {
      leave('next node');
      return { sent: interrupt('Send it?') };
    })
    .addEdge(START, 'write')
    .addEdge('write', 'send')
    .addEdge('send', END);
  const store = new EngineStore(db, { events, outlet, codec: STEP_CODEC });
  const known = { profile: ownGraphProfile<typeof Own.State>(), store };
  const endOf = () => ({ status: 'completed', reason: null }) as const;
  const app = durable(builder, { db, events }, { ...known, endOf });
  return { app, left, leave, outlet };
}

type Leaving = ReturnType<typeof leavingRun>;

const start = async ({ app, leave }: Leaving): Promise<void> => {
  await app.run('run', { draft: '', sent: false });
  leave('returned');
};

/** A run that waits at its gate, which is decided. */
const decide = async ({ app, leave }: Leaving): Promise<void> => {
  const { gates } = await app.run('run', { draft: '', sent: false });
  leave('asked');
  await app.decide(gates[0] as (typeof gates)[number], { value: true, by: { kind: 'human', id: 'ada' } });
  leave('decided');
};

const signal = async ({ app, leave }: Leaving): Promise<void> => {
  await app.start('run', { draft: '', sent: false });
  leave('started');
  await app.signal('run', 'paid', 1, { by: { kind: 'human', id: 'ada' }, signalId: 's-1' });
  leave('signalled');
  await app.pause('run');
  leave('paused');
  await app.cancel('run');
  leave('cancelled');
};

const stream = async ({ app, leave }: Leaving): Promise<void> => {
  for await (const { mode } of app.stream('run', { draft: '', sent: false })) leave(`streamed ${mode}`);
};

interface Held {
  readonly what: string;
  /** It rests on this. */
  readonly held: string;
  readonly act: (leaving: Leaving) => Promise<void>;
  /** What has left by then. */
  readonly before: string;
  /** What has not, and does when it has arrived. */
  readonly after: readonly string[];
}

const HELD: readonly Held[] = [
  {
    what: 'a call',
    held: "SELECT 1 FROM agent_steps WHERE state = 'intent'",
    act: start,
    before: '', // that its node has begun is in the same commit
    after: ['NODE_STARTED', 'call', 'STEP_FINISHED'],
  },
  {
    what: 'a result',
    held: "SELECT 1 FROM agent_steps WHERE state = 'done'",
    act: start,
    before: 'call',
    after: ['STEP_FINISHED', 'result'],
  },
  {
    what: 'what a node has written',
    held: "SELECT 1 FROM langgraph_checkpoints WHERE turn_type = 'Action'",
    act: start,
    before: 'next node',
    after: ['NODE_FINISHED', 'returned'],
  },
  {
    what: 'a gate',
    held: 'SELECT 1 FROM hitl_sessions',
    act: start,
    before: 'next node',
    after: ['HITL_SESSION_OPENED', 'RUN_SUSPENDED', 'returned'],
  },
  {
    what: 'how a drive has ended',
    held: "SELECT 1 FROM threads WHERE status = 'waiting'",
    act: start,
    before: 'next node', // its question may be in the same commit
    after: ['RUN_SUSPENDED', 'returned'],
  },
  {
    what: 'a decision',
    held: 'SELECT 1 FROM hitl_sessions WHERE decision_json IS NOT NULL',
    act: decide,
    before: 'asked',
    after: ['HITL_SESSION_DECIDED', 'decided'],
  },
  { what: 'a run', held: 'SELECT 1 FROM threads', act: signal, before: '', after: ['started'] },
  {
    what: 'a signal',
    held: "SELECT 1 FROM signals WHERE kind = 'message'",
    act: signal,
    before: 'started',
    after: ['SIGNAL_RECEIVED', 'signalled'],
  },
  {
    what: 'a pause',
    held: "SELECT 1 FROM signals WHERE kind = 'pause'",
    act: signal,
    before: 'signalled',
    after: ['paused'],
  },
  {
    what: 'a cancel',
    held: "SELECT 1 FROM signals WHERE kind = 'cancel'",
    act: signal,
    before: 'paused',
    after: ['RUN_FINISHED', 'cancelled'],
  },
  {
    what: 'what a run streams',
    held: "SELECT 1 FROM stream_events WHERE mode = 'updates'",
    act: stream,
    before: 'result',
    after: ['streamed updates', 'streamed gate'],
  },
];

describe('nothing leaves a run while it could be lost', () => {
  test.for(HELD)('$what', async ({ held, act, before, after }, { db }) => {
    const leaving = leavingRun(db, held);
    const acting = act(leaving);
    await leaving.outlet.isWaitedFor();
    expect(['', ...leaving.left]).toContain(before);
    expect(leaving.left.filter((one) => after.includes(one))).toEqual([]);
    leaving.outlet.open();
    await acting;
    for (const one of after) expect(leaving.left).toContain(one);
    expect(leaving.left.filter((one) => one === 'call').length).toBeLessThanOrEqual(1);
  });

  test('the next node, where the run is too far ahead', async ({ db }) => {
    const leaving = leavingRun(db, "SELECT 1 FROM langgraph_checkpoints WHERE turn_type = 'Action'");
    leaving.outlet.isFar = true;
    const acting = start(leaving);
    await leaving.outlet.isWaitedFor();
    expect(leaving.left).not.toContain('next node');
    leaving.outlet.open();
    await acting;
    expect(leaving.left).toContain('next node');
  });

  test('a call whose intent is lost is not made: its drive ends, and nobody is told', async ({ db }) => {
    const leaving = leavingRun(db, "SELECT 1 FROM agent_steps WHERE state = 'intent'");
    const acting = start(leaving);
    const ended = expect(acting).rejects.toMatchObject({ code: 'LEASE_LOST' });
    await leaving.outlet.isWaitedFor();
    leaving.outlet.lose(leaseLost({ threadId: 'run', epoch: 1 }, 2));
    await ended;
    expect(leaving.left).not.toContain('call');
    expect(leaving.left).not.toContain('NODE_FAILED');
  });
});

describe('the places that wait', () => {
  test('are these; tokens and the journal do not', () => {
    const src = fileURLToPath(new URL('../..', import.meta.url));
    const files = readdirSync(src, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts') && !file.includes('__tests__') && !file.startsWith('testing/'))
      .filter((file) =>
        /\.(?:pending|leaving|keepsUp)\(\)|\bafterBarrier\(/.test(readFileSync(`${src}/${file}`, 'utf8')),
      )
      .sort();
    expect(files).toEqual([
      'engine/drive/drive.ts',
      'engine/drive/lease.ts',
      'engine/drive/signals.ts',
      'engine/file/FileApp.ts',
      'engine/node/step.ts',
      'engine/saver/DrivenSaver.ts',
      'engine/stream/streamRun.ts',
      'state/GitPackStore.ts',
      'state/SqliteRunStore.ts',
      'state/commits/CommitBarrier.ts',
      'state/events/EventOutbox.ts',
      'surface/PipelineFiles.ts',
      'surface/Run.ts',
      'surface/gatesOfRun.ts',
    ]);
  });
});
