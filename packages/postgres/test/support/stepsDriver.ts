import type { Orchestrator, Runs } from '@devs/core';
import { createDatabase } from '@devs/core/state';

type RunQueue = NewRunFile['queue'];
type RunDriver = Awaited<ReturnType<Orchestrator['driver']>>;
type NewRunFile = Parameters<Runs['create']>[0];
type HeldRunEnd = Parameters<HeldRun['settle']>[0];
type HeldRun = Awaited<ReturnType<Runs['hold']>>;

/** What a run does that stands for a graph: so many calls, each recorded in its file, then it waits for so many messages. */
export interface Steps {
  readonly id: string;
  readonly steps: number;
  readonly tells?: number;
  readonly tenant?: string;
  readonly priority?: number;
}

export interface StepsDriverOptions {
  readonly queue?: RunQueue;
  /** A call that costs something: once per step, unless its driver dies. */
  readonly call?: (runId: string, step: number, abort: AbortSignal) => Promise<void>;
  /** Before the run is told to stand somewhere. */
  readonly ending?: (held: HeldRun) => Promise<void>;
  /** When it goes on by itself, once it waits. */
  readonly until?: (runId: string) => number | null;
}

export const QUEUE: RunQueue = { graph: 'steps', fingerprint: 'f'.repeat(64) };

/** A new run, its plan in its file. */
export function stepsRun({ id, steps, tells = 0, tenant, priority }: Steps, queue = QUEUE): NewRunFile {
  const db = createDatabase({ dbPath: ':memory:' });
  db.exec('CREATE TABLE plan (steps INTEGER, tells INTEGER); CREATE TABLE done (step INTEGER PRIMARY KEY)');
  db.exec('CREATE TABLE told (id TEXT PRIMARY KEY)');
  db.prepare('INSERT INTO plan VALUES (?, ?)').run(steps, tells);
  const file = db.serialize();
  db.close();
  return {
    ...{ id, queue, file },
    ...(tenant !== undefined && { tenant }),
    ...(priority !== undefined && { priority }),
    index: { status: 'created', reason: null, title: id, view: null, gates: [], metadata: {}, tags: [] },
  };
}

/** Drives such runs. */
export function stepsDriver(options: StepsDriverOptions = {}): RunDriver {
  const { queue = QUEUE, call, ending, until } = options;
  const at = (held: HeldRun, status: HeldRunEnd['status'], goesOn: number | null = null): HeldRunEnd => {
    const told = held.db.prepare('SELECT id FROM told ORDER BY rowid').pluck().all();
    return {
      status,
      reason: null,
      title: held.id,
      view: { told },
      gates: [],
      metadata: {},
      tags: [],
      until: goesOn,
    };
  };
  const count = (held: HeldRun, table: string): number =>
    held.db.prepare(`SELECT count(*) FROM ${table}`).pluck().get() as number;
  return {
    queue,
    drive: async (held, { signal, abort }) => {
      const plan = held.db.prepare('SELECT steps, tells FROM plan').get() as Required<Steps>;
      for (;;) {
        for (const { id } of await held.signals())
          held.db.prepare('INSERT OR IGNORE INTO told VALUES (?)').run(id);
        const step = count(held, 'done');
        if (step === plan.steps) break;
        if (signal.aborted) return at(held, 'running');
        await held.outlet.pending();
        await call?.(held.id, step, AbortSignal.any([abort, held.lost]));
        held.db.prepare('INSERT INTO done VALUES (?)').run(step);
        await held.outlet.pending();
      }
      await ending?.(held);
      if (count(held, 'told') >= plan.tells) return at(held, 'completed');
      return at(held, 'waiting', until?.(held.id) ?? null);
    },
  };
}
