import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PostgresRuns } from '../../src/PostgresRuns.ts';
import { Worker } from '../../src/worker/Worker.ts';
import { note } from './ledger.ts';
import { type LifeApp, lifeApp } from './life.ts';

export interface LifeWorkerOptions {
  readonly ledger: string;
  readonly slots: number;
  /** A call takes so long on the average, ms. */
  readonly callMs: number;
  /** Awaited before a call ends. @defaultValue nothing */
  readonly mayEnd?: () => Promise<void>;
}

/** A worker in this process that writes into the ledger what it does. */
export async function lifeWorker(
  runs: PostgresRuns,
  { ledger, slots, callMs, mayEnd }: LifeWorkerOptions,
): Promise<{ readonly app: LifeApp; readonly worker: Worker }> {
  const { pid } = process;
  const app = lifeApp(runs, async (run, name) => {
    const nonce = randomUUID();
    note(ledger, { is: 'begun', at: Date.now(), pid, run, name, nonce });
    await sleep(Math.random() * 2 * callMs);
    await mayEnd?.();
    return nonce;
  });
  const worker = await Worker.start(runs, {
    drivers: [app],
    slots,
    onEvent: (event) => {
      if (event.is === 'driving' || event.is === 'lost')
        note(ledger, { is: event.is, pid, run: event.threadId });
      if (event.is === 'failed') process.stderr.write(`${event.threadId}: ${String(event.error)}\n`);
    },
  });
  return { app, worker };
}

const ADA = { kind: 'human', id: 'ada' } as const;

/** Answers every question that is asked, until it is told to end. */
export async function answerAll(app: LifeApp, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const { gates } = await app.openGates({ limit: 50 });
    for (const gate of gates) await app.decide(gate, { value: 'yes', by: ADA }).catch(unlessDecided);
    await sleep(50);
  }
}

/** By a server that has lost what it listed, or as the answer to the decision was lost. */
function unlessDecided(error: unknown): void {
  if (!/^GATE_|^THREAD_NOT_FOUND/.test(String(Object(error).code))) throw error;
}
