/**
 * Runs on several machines: one SQLite file per run, kept in PostgreSQL. A name here is a promise and has a page.
 *
 * @module @devs/postgres
 */

export { jobsSql } from './BossJobs.ts';
export { ClusterAdmin } from './ClusterAdmin.ts';
export { requireTenant } from './options.ts';
export type { PostgresRuns } from './PostgresRuns.ts';
export { type PostgresOptions, postgres } from './postgres.ts';
export { rightsSql } from './rights.ts';
export { schemaSql } from './schema.ts';
export type { Worker, WorkerEvent, WorkerOptions } from './Worker.ts';
