import type { Database } from 'better-sqlite3';
import { createDatabase } from '../../../src/db/createDatabase.ts';
import type { DurableApp } from '../../../src/engine/app/DurableApp.ts';
import { durable as durableOver } from '../../../src/engine/app/durable.ts';
import type { RunDueOptions } from '../../../src/engine/drive/drive.ts';
import { nullIfBusy } from '../../../src/engine/drive/lease.ts';
import { type AppInternals, registerInternals } from '../../../src/engine/file/appInternals.ts';
import { EventBus } from '../../../src/events/events.ts';
import { StateFile } from '../../../src/state/StateFile.ts';
import { runsOf } from './places.ts';
import { SeenRuns } from './SeenRuns.ts';
import { WHERE } from './where.ts';

export type { DurableOptions } from '../../../src/engine/app/durable.ts';

type AnyApp = DurableApp<unknown, unknown, object>;
type Open = (source: object, options: Record<string, unknown>, known?: object) => unknown;

/**
 * As `durable` over a state file. Where `DEVS_TEST_RUNS` says so, its runs are reached through `Runs` instead: the app has
 * the file's place, and the test finds in its file what the runs' own files say.
 */
export const durable = (WHERE === 'plain' ? durableOver : throughRuns) as typeof durableOver;

function throughRuns(
  source: object,
  { db, file, ...options }: Record<string, unknown>,
  known?: object,
): unknown {
  const open = durableOver as unknown as Open;
  if (db === undefined && file === undefined) return open(source, options, known);
  const own = db === undefined ? createDatabase({ dbPath: file as string }) : null;
  const seen = (own ?? db) as Database;
  const { now = Date.now } = options as { readonly now?: () => number };
  const runs = runsOf(seen, now);
  const app = open(source, { graph: 'suite', ...options, runs }, known) as AnyApp;
  const proxy = new Proxy(app, new AsDurable({ app, runs, now, close: () => own?.close() }));
  registerInternals(proxy, internalsOver(proxy, seen));
  return proxy;
}

/** What of an app's insides can be had through `Runs`. */
function internalsOver(app: AnyApp, db: Database): AppInternals<unknown> {
  const own = {
    drive: (id: string, options: object) => app.run(id, undefined, { ...options, throwOnFailure: false }),
    recordRun: async ({ threadId, input, ...others }: { threadId: string; input: object }) => {
      if (Object.keys(others).length > 0) throw new Error('A run has no more than an input through `Runs`.');
      await app.start(threadId, input);
    },
    get store() {
      return new StateFile(db, { events: new EventBus() });
    },
  };
  return own as unknown as AppInternals<unknown>;
}

interface Parts {
  readonly app: AnyApp;
  readonly runs: unknown;
  readonly now: () => number;
  readonly close: () => void;
}

/** As a worker does: where a run stands says when it goes on by itself. */
async function runDue(app: AnyApp, clock: () => number, { now = clock() }: RunDueOptions = {}) {
  const driven: object[] = [];
  for (const { id } of (await app.list()).runs.toReversed()) {
    const { until = Number.POSITIVE_INFINITY } = await app.result(id);
    const drive = async () =>
      driven.push({ id, ...(await app.run(id, undefined, { throwOnFailure: false })) });
    if (until <= now) await nullIfBusy(drive);
  }
  return { driven, refused: [] };
}

/** Methods that need one state file, or close it. */
class AsDurable implements ProxyHandler<AnyApp> {
  readonly #parts: Parts;
  readonly #others: Partial<Record<keyof AnyApp, unknown>>;

  constructor(parts: Parts) {
    this.#parts = parts;
    const { app, now, close } = parts;
    this.#others = {
      close,
      runDue: (options?: RunDueOptions) => runDue(app, now, options),
    };
  }

  get(app: AnyApp, name: keyof AnyApp): unknown {
    const value: unknown = name in this.#others ? Reflect.get(this.#others, name) : Reflect.get(app, name);
    if (value === undefined && name !== ('then' as never)) throw new Error(`The app has no ${String(name)}.`);
    if (typeof value !== 'function' || name === 'close') return value;
    return (...given: unknown[]): unknown => {
      const result: unknown = Reflect.apply(value, app, given);
      return result instanceof Promise ? this.#seen(result) : result;
    };
  }

  /** What came of a call, once the test's file says so. */
  async #seen(result: Promise<unknown>): Promise<unknown> {
    const { runs, app } = this.#parts;
    await result.catch(() => undefined);
    const last = runs instanceof SeenRuns ? runs.last : null;
    if (last !== null) await app.gates(last).catch(() => undefined);
    return result;
  }
}
