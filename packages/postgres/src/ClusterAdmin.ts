import { DevsError, isDevsError } from '@devs/core';
import pg, { type Pool } from 'pg';
import { BossJobs, type DeadLetter } from './BossJobs.ts';
import { ClusterView, type QueueLine, type WorkerLine } from './ClusterView.ts';
import { isAway } from './isAway.ts';
import { Leases } from './Leases.ts';
import { openSchema } from './openSchema.ts';
import { notReached, pgFault } from './pgFault.ts';
import { CONNECTION, serverOf } from './postgres.ts';
import { schemaVersion } from './schema.ts';
import { type TenantLine, tenantLines } from './TenantView.ts';

/** Which cluster. */
export interface ClusterAddress {
  /** `postgres://user@host:5432/database`; a password that is not in it is looked for as `pg` does. */
  readonly url: string;
  /** @defaultValue 'devs' */
  readonly schema?: string;
}

/** What {@link ClusterAdmin.migrate} has found and made. */
export interface Migrated {
  readonly schema: string;
  /** `null` where there was nothing. */
  readonly before: number | null;
  readonly version: number;
}

/** What waits in a cluster, and what was given up. */
export interface ClusterQueue {
  readonly queues: readonly QueueLine[];
  readonly tenants: readonly TenantLine[];
  /** Oldest first, at most 1,000. */
  readonly deadLetters: readonly DeadLetter[];
}

/** What people who run a cluster see of it and change. */
export class ClusterAdmin {
  readonly #pool: Pool;
  readonly #schema: string;
  readonly #server: string;
  readonly #jobs: BossJobs;

  /**
   * Connects when it is first asked something.
   *
   * @throws DevsError `CONFIG_INVALID` for a URL that is none.
   */
  constructor({ url, schema = 'devs' }: ClusterAddress) {
    this.#server = serverOf(url);
    this.#schema = schema;
    this.#pool = new pg.Pool({ connectionString: url, ...CONNECTION, max: 2 });
    this.#pool.on('error', () => undefined); // of one that nobody uses: the next one is made anew
    this.#jobs = new BossJobs(this.#pool, { schema });
  }

  /**
   * Makes the tables, or brings them up to this release's; several may try at the same time.
   *
   * @throws DevsError `STATE_IO`; `CONFIG_INVALID` for a role that may not; `SCHEMA_TOO_NEW`.
   */
  async migrate(): Promise<Migrated> {
    return this.#asking(async () => {
      const schema = this.#schema;
      const before = await schemaVersion(this.#pool, schema);
      await this.#open(true);
      return { schema, before, version: (await schemaVersion(this.#pool, schema)) ?? 0 };
    });
  }

  /** @throws DevsError `STATE_IO`; `CONFIG_INVALID` where the tables are missing or old, or may not be read; as all below. */
  async queue(): Promise<ClusterQueue> {
    return this.#looking(async () => ({
      queues: await new ClusterView(this.#pool, this.#schema).queues(),
      tenants: await tenantLines(this.#pool, this.#schema),
      deadLetters: await this.#jobs.deadLetters(),
    }));
  }

  async workers(): Promise<readonly WorkerLine[]> {
    return this.#looking(() => new ClusterView(this.#pool, this.#schema).workers());
  }

  async tenants(): Promise<readonly TenantLine[]> {
    return this.#looking(() => tenantLines(this.#pool, this.#schema));
  }

  /** Limits how many runs of a tenant are driven at the same time; `null` for as many as there are slots. */
  async setCap(tenant: string, cap: number | null): Promise<void> {
    await this.#looking(() => new Leases(this.#pool, this.#jobs, this.#schema).setCap(tenant, cap));
  }

  /**
   * Has runs driven again that were given up: one, or with `null` all. Returns their ids, oldest first.
   *
   * @throws DevsError `THREAD_NOT_FOUND` for one that was not given up.
   */
  async redrive(id: string | null): Promise<readonly string[]> {
    return this.#looking(async () => {
      const letters = await this.#jobs.deadLetters();
      const wanted = letters.filter(({ runId }) => id === null || runId === id);
      if (id !== null && wanted.length === 0) throw notGivenUp(id);
      await this.#jobs.redrive(wanted);
      return wanted.map(({ runId }) => runId);
    });
  }

  async close(): Promise<void> {
    await this.#jobs.close();
    await this.#pool.end();
  }

  #looking<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#asking(async () => {
      await this.#open(false);
      return work();
    });
  }

  #open(migrates: boolean): Promise<void> {
    return openSchema(this.#pool, { schema: this.#schema, migrates, server: this.#server });
  }

  async #asking<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      throw isAway(error) && !isDevsError(error) ? notReached(error, this.#server) : pgFault(error);
    }
  }
}

const notGivenUp = (id: string): DevsError =>
  new DevsError(`Run "${id}" is none that was given up.`, {
    code: 'THREAD_NOT_FOUND',
    remedy: 'List those that were with devs queue.',
    context: { threadId: id },
  });
