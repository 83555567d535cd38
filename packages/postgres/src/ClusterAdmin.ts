import { DevsError } from '@devs/core';
import type { Pool } from 'pg';
import { ClusterView, type QueueLine, type TenantLine, type WorkerLine } from './cluster/ClusterView.ts';
import { type RunStanding, readStanding } from './cluster/RunStanding.ts';
import { FileTemplates } from './files/FileTemplates.ts';
import { MAX_FILE_BYTES, plainCodecs, type RunCodecs, RunFiles, requireFileLimit } from './files/RunFiles.ts';
import { BossJobs } from './jobs/BossJobs.ts';
import { findSchema, openSchema, reaching } from './openSchema.ts';
import { requireSchema, requireTenant, serverOf } from './options.ts';
import { type EndedRunFilter, EndedRuns, type RemovedRuns } from './rows/EndedRuns.ts';
import { LabelBackfill, type LabelProgress, type UnreadableRun } from './rows/LabelBackfill.ts';
import { type DeadLetter, Leases } from './rows/Leases.ts';
import { type StoppedRunFilter, StoppedRuns } from './rows/StoppedRuns.ts';
import { SCHEMA_STEPS } from './schema.ts';
import { type AwayWait, saysLater } from './server/faults.ts';
import { CONNECTION, poolOf } from './server/pool.ts';
import { Tables } from './server/Tables.ts';

/** Address of a cluster. */
export interface ClusterAddress {
  /** `postgres://user@host:5432/database`; the password can be in the places that `pg` reads. */
  readonly url: string;
  /** @defaultValue 'devs' */
  readonly schema?: string;
  /** How long to wait for a server that starts or recovers, in milliseconds. @defaultValue 0 */
  readonly awayMs?: number;
  /** Called with the error while waiting, and with `null` when the server is available. @defaultValue no callback */
  readonly onAway?: (why: unknown) => void;
  /** As `codec` of `postgres`: for `migrate`, which reads run files. @defaultValue files are stored as they are */
  readonly codec?: RunCodecs;
  /** As `maxFileBytes` of `postgres`: for `migrate`. @defaultValue 256 MiB */
  readonly maxFileBytes?: number;
}

/** Options of {@link ClusterAdmin.migrate}. */
export interface MigrateOptions {
  /** Called after every batch of runs that become searchable. @defaultValue ignored */
  readonly onProgress?: (progress: LabelProgress) => void;
}

/** Result of {@link ClusterAdmin.migrate}. */
export interface Migrated {
  readonly schema: string;
  /** `null` for a new schema. */
  readonly before: number | null;
  readonly version: number;
  /** Runs of older releases that became searchable by metadata and tags. */
  readonly labelled: number;
  /** Runs with an unreadable file, in order of their ids. They were skipped; the next call tries them again. */
  readonly unreadable: readonly UnreadableRun[];
}

/** Waiting runs and dead letters of a cluster. */
export interface ClusterQueue {
  readonly queues: readonly QueueLine[];
  readonly tenants: readonly TenantLine[];
  /** Oldest first, at most 1,000. */
  readonly deadLetters: readonly DeadLetter[];
}

/** Whoever waits at a terminal is told. */
const AT_ONCE = { awayMs: 0, onAway: () => undefined } as const;

/** Views and changes of a cluster for operators. */
export class ClusterAdmin {
  readonly #pool: Pool;
  readonly #tables: Tables;
  readonly #server: string;
  readonly #waiting: AwayWait;
  readonly #jobs: BossJobs;
  readonly #files: RunFiles;

  /**
   * Connects on first use.
   *
   * @throws DevsError `CONFIG_INVALID` for an invalid URL; RangeError for a limit.
   */
  constructor({ url, schema = 'devs', awayMs = 0, onAway = () => undefined, ...kept }: ClusterAddress) {
    const { codec = plainCodecs, maxFileBytes = MAX_FILE_BYTES } = kept;
    requireFileLimit(maxFileBytes);
    requireSchema(schema);
    this.#server = serverOf(url);
    this.#waiting = { awayMs, onAway, passes: saysLater };
    this.#pool = poolOf({ connectionString: url, ...CONNECTION, max: 2 });
    this.#tables = new Tables(this.#pool, { schema, patience: AT_ONCE, isPooled: true });
    this.#jobs = new BossJobs(this.#pool, { schema });
    this.#files = new RunFiles(this.#tables, new FileTemplates(this.#tables), {
      codecs: codec,
      maxFileBytes,
    });
  }

  /**
   * Creates the tables, or updates them to this release. Then makes runs of older releases searchable by metadata and tags:
   * it reads one file after the other. If it is interrupted, the next call continues. Several processes can call it at once.
   *
   * @throws DevsError `STATE_IO`; `CONFIG_INVALID` for a role without the rights; `SCHEMA_TOO_NEW`.
   */
  async migrate({ onProgress = () => undefined }: MigrateOptions = {}): Promise<Migrated> {
    const { schemaName: schema } = this.#tables;
    const found = await reaching(this.#server, this.#waiting, () => findSchema(this.#pool, schema));
    await this.#open(true);
    const filled = await new LabelBackfill(this.#tables, this.#files).fill(onProgress);
    return { schema, before: found.version || null, version: SCHEMA_STEPS, ...filled };
  }

  /**
   * Returns queues, tenants and dead letters, of all tenants or of one. @throws DevsError `STATE_IO`; `CONFIG_INVALID` if the tables are missing,
   * old or unreadable; as all methods below.
   */
  async queue({ tenant }: { readonly tenant?: string | undefined } = {}): Promise<ClusterQueue> {
    const wanted = tenant === undefined ? null : requireTenant(tenant);
    await this.#open(false);
    const view = new ClusterView(this.#tables);
    const letters = await new Leases(this.#tables, this.#jobs).deadLetters();
    const ofTenant =
      wanted === null
        ? null
        : await view.ofTenant(
            wanted,
            letters.map(({ threadId }) => threadId),
          );
    return {
      queues: await view.queues(wanted),
      tenants: await view.tenants(wanted),
      deadLetters: letters.filter(({ threadId }) => ofTenant?.has(threadId) ?? true),
    };
  }

  async workers(): Promise<readonly WorkerLine[]> {
    await this.#open(false);
    return new ClusterView(this.#tables).workers();
  }

  async tenants(): Promise<readonly TenantLine[]> {
    await this.#open(false);
    return new ClusterView(this.#tables).tenants();
  }

  /** Limits the runs of a tenant that execute at the same time; `null` removes the limit. */
  async setCap(tenant: string, cap: number | null): Promise<void> {
    await this.#open(false);
    await new Leases(this.#tables, this.#jobs).setCap(tenant, cap);
  }

  /**
   * Executes dead letters again: one, or with `null` all. Returns their ids.
   *
   * @throws DevsError `THREAD_NOT_FOUND` for a run that is not a dead letter.
   */
  async redrive(id: string | null): Promise<readonly string[]> {
    await this.#open(false);
    const redriven = await new Leases(this.#tables, this.#jobs).redrive(id === null ? null : [id]);
    if (id !== null && redriven.length === 0) throw notGivenUp(id);
    return redriven;
  }

  /** Returns the holder of a run and the reasons why it waits. @throws DevsError `THREAD_NOT_FOUND` */
  async why(id: string): Promise<RunStanding> {
    await this.#open(false);
    return readStanding(this.#tables, id);
  }

  /** Executes runs again that failed or were paused, those that match. Recorded steps are not repeated. Returns their ids. */
  async retry(filter: StoppedRunFilter): Promise<readonly string[]> {
    if (filter.tenant !== undefined) requireTenant(filter.tenant);
    await this.#open(false);
    return new StoppedRuns(this.#tables, this.#jobs).retry(filter);
  }

  /**
   * Deletes runs that ended longer ago than `olderThanMs`, in small portions, but for those that something needs: see `retention`
   * of `postgres`. Their ids are free then.
   */
  async removeEnded(filter: EndedRunFilter): Promise<RemovedRuns> {
    const { olderThanMs, tenant } = filter;
    if (!(olderThanMs >= 0)) throw new RangeError(`olderThanMs: expected milliseconds, got ${olderThanMs}`);
    if (tenant !== undefined) requireTenant(tenant);
    await this.#open(false);
    return new EndedRuns(this.#tables, this.#jobs).remove(filter);
  }

  async close(): Promise<void> {
    await this.#jobs.close();
    await this.#pool.end();
  }

  #open(migrates: boolean): Promise<void> {
    const { schemaName: schema } = this.#tables;
    return openSchema(this.#pool, { schema, migrates, server: this.#server }, this.#waiting);
  }
}

const notGivenUp = (id: string): DevsError =>
  new DevsError(`Run "${id}" is not a dead letter.`, {
    code: 'THREAD_NOT_FOUND',
    remedy: 'List the dead letters with devs queue.',
    context: { threadId: id },
  });
