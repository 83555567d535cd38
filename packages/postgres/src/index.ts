/**
 * Runs on several machines: one SQLite file per run, kept in PostgreSQL.
 *
 * @module @devs/postgres
 */

export { type DeadLetter, jobsSql } from './BossJobs.ts';
export {
  type ClusterAddress,
  ClusterAdmin,
  type ClusterQueue,
  type Migrated,
} from './ClusterAdmin.ts';
export type { QueueLine, WorkerLine } from './ClusterView.ts';
export { requireTenant } from './options.ts';
export type { PostgresRuns } from './PostgresRuns.ts';
export { type PostgresOptions, postgres } from './postgres.ts';
export type { RunCodec, RunCodecs } from './RunFiles.ts';
export { rightsSql } from './rights.ts';
export { schemaSql } from './schema.ts';
export type { TenantLine } from './TenantView.ts';
export type { Worker, WorkerEvent, WorkerOptions } from './Worker.ts';
