import { DevsError, isDevsError } from '@devs/core';
import type { ClientBase, Pool } from 'pg';
import { bossSchema, migrateJobs } from './jobs/BossJobs.ts';
import { assertRights, migrateSchema, SCHEMA_STEPS } from './schema.ts';
import { type AwayWait, isAway, notReached, pgFault, pooledFault, waitUntilBack } from './server/faults.ts';
import { sharesSessions } from './server/pool.ts';
import { SERVER_NOW, ServerClock } from './server/ServerClock.ts';
import { quoteIdentifier } from './server/Tables.ts';

export interface SchemaToOpen {
  readonly schema: string;
  /** Whether tables that are missing or old are made here. */
  readonly migrates: boolean;
  /** For messages: without user and password. */
  readonly server: string;
  /** Set by the server's answer. @defaultValue a clock of its own */
  readonly clock?: ServerClock;
  /** Whether a connection needs a session of its own, for named statements, a lock and `LISTEN`. @defaultValue false */
  readonly needsSessions?: boolean;
}

interface FoundSchema {
  /** 0: the tables are missing. */
  readonly version: number;
  /** Of the oldest release that works with them. */
  readonly oldest: number;
  readonly hasJobs: boolean;
}

/**
 * Sees that the database can be used by this release, before anything is done to it.
 *
 * @throws DevsError `STATE_IO` where it cannot be reached, after it was waited for. `CONFIG_INVALID` for a wrong user, a missing
 *   right, missing or old tables that may not be made, or a pooler where sessions are needed. `SCHEMA_TOO_NEW`.
 */
export async function openSchema(pool: Pool, target: SchemaToOpen, waiting: AwayWait): Promise<void> {
  await reaching(target.server, waiting, () => openOnce(pool, target));
}

/**
 * Asks a server of which nobody knows yet that it is there.
 *
 * @throws DevsError `STATE_IO` where it cannot be reached, after it was waited for; what `work` throws.
 */
export async function reaching<Result>(
  server: string,
  waiting: AwayWait,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await waitUntilBack(work, waiting);
  } catch (error) {
    throw isAway(error) && !isDevsError(error) ? notReached(error, server) : pgFault(error);
  }
}

async function openOnce(
  pool: Pool,
  { schema, migrates, needsSessions = false, clock }: SchemaToOpen,
): Promise<void> {
  if (needsSessions && (await sharesSessions(pool))) throw pooledFault();
  const client = await pool.connect();
  try {
    await assertDurable(client, clock);
    const found = await findSchema(client, schema);
    if (found.version > SCHEMA_STEPS && found.oldest > SCHEMA_STEPS) throw tooNew(schema);
    if (found.version < SCHEMA_STEPS || !found.hasJobs) {
      if (!migrates) throw schemaMissing(schema, found);
      await migrateSchema(client, schema);
      await migrateJobs(pool, schema);
    }
    await assertRights(client, schema);
  } finally {
    client.release();
  }
}

/** A commit that is acknowledged before it is on a disk is none. */
async function assertDurable(client: ClientBase, clock = new ServerClock()): Promise<void> {
  const sql = `SELECT current_setting('synchronous_commit') AS level, ${SERVER_NOW} AS server_ms`;
  const ask = () => client.query<{ level: string; server_ms: number }>(sql);
  const { rows } = await clock.reading(ask, ({ rows: [row] }) => row?.server_ms);
  if (rows[0]?.level !== 'off') return;
  throw new DevsError('PostgreSQL can lose acknowledged commits: `synchronous_commit` is off.', {
    code: 'CONFIG_INVALID',
    remedy: 'Turn it on for this role: ALTER ROLE … SET synchronous_commit = on.',
  });
}

/** The tables of a schema in a database. */
export async function findSchema(client: ClientBase | Pool, schema: string): Promise<FoundSchema> {
  const { rows } = await client.query<{ has_tables: boolean; has_jobs: boolean }>(
    `SELECT to_regclass($1) IS NOT NULL AS has_tables, to_regclass($2) IS NOT NULL AS has_jobs`,
    [`${quoteIdentifier(schema)}.schema_version`, `${quoteIdentifier(bossSchema(schema))}.version`],
  );
  const [{ has_tables: hasTables, has_jobs: hasJobs } = { has_tables: false, has_jobs: false }] = rows;
  if (!hasTables) return { version: 0, oldest: 0, hasJobs };
  // Older releases created the table without this column.
  const sql = `SELECT version, (to_jsonb(v) ->> 'oldest')::int AS oldest FROM ${quoteIdentifier(schema)}.schema_version v`;
  const versions = await client.query<{ version: number; oldest: number | null }>(sql);
  const [{ version, oldest } = { version: 0, oldest: null }] = versions.rows;
  return { version, oldest: oldest ?? version, hasJobs };
}

const tooNew = (schema: string): DevsError =>
  new DevsError(`The tables of schema ${schema} belong to a newer release.`, {
    code: 'SCHEMA_TOO_NEW',
    remedy: 'Upgrade @devs/postgres here.',
    context: { schema },
  });

const schemaMissing = (schema: string, { version }: FoundSchema): DevsError =>
  new DevsError(`Schema ${schema} has ${version === 0 ? 'no tables' : 'tables of an older release'}.`, {
    code: 'CONFIG_INVALID',
    remedy: 'Create or upgrade them with a role that is allowed to: `devs migrate`, or `migrate: true`.',
    context: { schema, version },
  });
