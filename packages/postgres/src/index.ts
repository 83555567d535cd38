/**
 * Runs on several machines: one SQLite file per run, kept in PostgreSQL. A name here is a promise and has a page.
 *
 * @module @devs/postgres
 */

export { ClusterAdmin } from './ClusterAdmin.ts';
export { jobsSql } from './jobs/BossJobs.ts';
export { requireTenant } from './options.ts';
export type { PostgresRuns } from './PostgresRuns.ts';
export { type PostgresOptions, postgres } from './postgres.ts';
export { rowSecuritySql } from './rows/tenantPolicies.ts';
export { rightsSql, schemaSql } from './schema.ts';
export type { Worker, WorkerEvent, WorkerOptions } from './worker/Worker.ts';
