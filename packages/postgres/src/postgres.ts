import type { Pool } from 'pg';
import { ClusterView } from './cluster/ClusterView.ts';
import { WorkerMeters } from './cluster/metrics.ts';
import { FileTemplates } from './files/FileTemplates.ts';
import {
  LookedAtFiles,
  MAX_FILE_BYTES,
  plainCodecs,
  type RunCodecs,
  RunFiles,
  requireFileLimit,
} from './files/RunFiles.ts';
import { WorkingCopies } from './held/HeldFile.ts';
import { BossJobs } from './jobs/BossJobs.ts';
import { openSchema } from './openSchema.ts';
import { requireRetention, requireSchema, serverOf } from './options.ts';
import { PostgresRuns } from './PostgresRuns.ts';
import { EndedRuns } from './rows/EndedRuns.ts';
import { GraphQueues } from './rows/GraphQueues.ts';
import { Leases } from './rows/Leases.ts';
import { NewRuns } from './rows/NewRuns.ts';
import { RunLists } from './rows/RunLists.ts';
import { RunRows } from './rows/RunRows.ts';
import { ScheduleRows } from './rows/ScheduleRows.ts';
import { Shipper } from './rows/Shipper.ts';
import { Watches } from './rows/Watches.ts';
import { WebhookRows } from './rows/WebhookRows.ts';
import { Words } from './rows/Words.ts';
import { type AwayWait, isAway, type Patience, saysLater } from './server/faults.ts';
import { CONNECT_MS, CONNECTION, poolOf } from './server/pool.ts';
import { ServerClock } from './server/ServerClock.ts';
import { SessionOwner } from './server/SessionOwner.ts';
import { Tables } from './server/Tables.ts';
import type { WaitingWorker } from './worker/Worker.ts';

/** Options of `postgres`. */
export interface PostgresOptions {
  /** For example `postgres://user:password@host:5432/database`. */
  readonly url: string;
  /**
   * The server itself, if `url` is a pooler in transaction mode: one connection per process listens and has a lock. Without it, such a
   * pooler is `CONFIG_INVALID`. @defaultValue `url`
   */
  readonly directUrl?: string;
  /** Schema of the tables; jobs are in `${schema}_boss`. @defaultValue 'devs' */
  readonly schema?: string;
  /** Whether to create or update tables on first use. @defaultValue true */
  readonly migrate?: boolean;
  /**
   * How long PostgreSQL can be away before calls fail, in milliseconds. A first call fails at once if there is no
   * server at the address, except in a worker. @defaultValue 60,000
   */
  readonly awayMs?: number;
  /** Called with the error while it is away, and with `null` when it is back. @defaultValue no callback */
  readonly onAway?: (why: unknown) => void;
  /** Encrypts the files of a tenant's runs. Lists and gates stay readable. @defaultValue files are stored as they are */
  readonly codec?: RunCodecs;
  /** Largest file of a run, in bytes; at most 1 GB. A larger one fails until it is pruned. @defaultValue 256 MiB */
  readonly maxFileBytes?: number;
  /** Folder of working copies: a local disk, or memory. @defaultValue the folder of temporary files */
  readonly dir?: string;
  /**
   * How long ended runs are kept: a number of ms, s, m, h or d, such as `'30d'`. Workers delete them afterwards, in small
   * portions; of several workers, the longest time counts. @defaultValue until somebody deletes them
   */
  readonly retention?: { readonly ended: string };
}

/** Of a process: 8 with the direct one. */
const CONNECTIONS = { ship: 2, work: 4, boss: 1 } as const;
const AWAY_MS = 60_000;

/**
 * Creates a storage for runs of any number of machines: each run is a file in PostgreSQL. Connects on first use; close
 * it at the end.
 *
 * @param options - Or only the URL.
 * @throws DevsError `CONFIG_INVALID` for an invalid URL or schema, or a URL that hides another server; RangeError for
 *   limits. The first call throws `STATE_IO`, `CONFIG_INVALID` or `SCHEMA_TOO_NEW`, before it changes anything.
 *
 * @example
 * ```ts
 * const app = durable(builder, { runs: postgres('postgres://devs@db.internal/devs'), graph: 'mail' });
 * ```
 */
export function postgres(options: string | PostgresOptions): PostgresRuns {
  const { url, directUrl = url, schema = 'devs', codec = plainCodecs, ...rest } = optionsOf(options);
  const { dir, retention } = rest;
  const { migrate = true, awayMs = AWAY_MS, onAway = () => undefined, maxFileBytes = MAX_FILE_BYTES } = rest;
  const retentionMs = retention === undefined ? null : requireRetention(retention);
  const server = requireOptions({ url, directUrl, schema, awayMs, maxFileBytes });
  const meters = new WorkerMeters();
  const told = (why: unknown): void => {
    if (why !== null) meters.add('awayRetries');
    onAway(why);
  };
  const patience: Patience = { awayMs, onAway: told };
  const pools = poolsOf(url, Math.max(awayMs, CONNECT_MS));
  const isPooled = directUrl !== url;
  const tables = new Tables(pools.work, { schema, patience, isPooled });
  // Background tasks ask again by themselves.
  const impatient = new Tables(pools.work, { schema, patience: { awayMs: 0, onAway: told }, isPooled });
  const jobs = new BossJobs(pools.boss, { schema });
  const clock = new ServerClock();
  const files = new RunFiles(tables, new FileTemplates(tables), { codecs: codec, maxFileBytes, clock });
  const connection = { connectionString: directUrl, ...CONNECTION };
  const owner = new SessionOwner({ connection, schema, awayMs, clock });
  const ready = untilOnce((worker) => {
    const target = { schema, migrates: migrate, server, needsSessions: !isPooled, clock };
    return openSchema(pools.work, target, waitsOf(worker, patience));
  });
  return new PostgresRuns({
    schema,
    clock,
    rows: new RunRows(tables, files, { jobs, clock }),
    made: new NewRuns(tables, files, jobs),
    files,
    looked: new LookedAtFiles(files),
    lists: new RunLists(tables),
    webhooks: new WebhookRows(tables, ready),
    schedules: new ScheduleRows(tables, ready),
    watches: new Watches(tables, owner),
    words: new Words({ pool: pools.work, owner, schema, codecs: codec }),
    shipper: new Shipper(pools.ship, { schema, patience, meters, isPooled }),
    owner,
    copies: new WorkingCopies(dir),
    maxFileBytes,
    driving: {
      ...{ jobs, meters, clock, retentionMs, ...partsOver(impatient, jobs) },
      insist: (work) => tables.insist(work),
    },
    ready,
    end: () => endAll(jobs, pools),
  });
}

/** Returns the server, for messages. @throws As `postgres`. */
function requireOptions({
  url,
  directUrl,
  schema,
  awayMs,
  maxFileBytes,
}: Required<Pick<PostgresOptions, 'url' | 'directUrl' | 'schema' | 'awayMs' | 'maxFileBytes'>>): string {
  requireFileLimit(maxFileBytes);
  if (!(awayMs >= 0)) throw new RangeError(`awayMs: expected milliseconds, got ${awayMs}`);
  requireSchema(schema);
  const server = serverOf(url);
  serverOf(directUrl);
  return server;
}

const partsOver = (tables: Tables, jobs: BossJobs) => ({
  leases: new Leases(tables, jobs),
  ended: new EndedRuns(tables, jobs),
  graphs: new GraphQueues(tables),
  view: new ClusterView(tables),
});

async function endAll(jobs: BossJobs, pools: ReturnType<typeof poolsOf>): Promise<void> {
  await jobs.close();
  await Promise.all(Object.values(pools).map((pool) => pool.end()));
}

const optionsOf = (options: string | PostgresOptions): PostgresOptions =>
  typeof options === 'string' ? { url: options } : options;

function poolsOf(url: string, queryMs: number): Readonly<Record<keyof typeof CONNECTIONS, Pool>> {
  const config = { connectionString: url, ...CONNECTION, query_timeout: queryMs };
  const pools = Object.entries(CONNECTIONS).map(([name, max]) => [name, poolOf({ ...config, max })]);
  return Object.fromEntries(pools) as Record<keyof typeof CONNECTIONS, Pool>;
}

/** Whoever only asks something may have mistyped the address. */
function waitsOf(worker: WaitingWorker | null, patience: Patience): AwayWait {
  if (worker === null) return { ...patience, passes: saysLater };
  const onAway = (why: unknown): void => {
    patience.onAway(why);
    worker.onAway(why);
  };
  return { ...patience, passes: isAway, onAway, signal: worker.signal };
}

/** Until it has succeeded once. A worker does not share the try of who does not wait. */
function untilOnce(
  work: (worker: WaitingWorker | null) => Promise<void>,
): (worker?: WaitingWorker) => Promise<void> {
  let isDone = false;
  let trying: Promise<void> | null = null;
  const attempt = async (worker: WaitingWorker | null): Promise<void> => {
    await work(worker);
    isDone = true;
  };
  return async (worker) => {
    if (isDone) return;
    if (worker !== undefined) return attempt(worker);
    trying ??= attempt(null).finally(() => {
      trying = null;
    });
    return trying;
  };
}
