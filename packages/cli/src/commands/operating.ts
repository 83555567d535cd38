/** The verbs for who runs a cluster: one module, which loads what knows PostgreSQL when it is asked. */

export { addMigrate } from './cluster/migrate.ts';
export { addPull } from './cluster/pull.ts';
export { addPush } from './cluster/push.ts';
export { addQueue } from './cluster/queue.ts';
export { addRedrive } from './cluster/redrive.ts';
export { addRetry } from './cluster/retry.ts';
export { addTenants } from './cluster/tenants.ts';
export { addWorker } from './cluster/worker.ts';
export { addWorkers } from './cluster/workers.ts';
