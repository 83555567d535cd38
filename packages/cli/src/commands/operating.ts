/** The verbs for who runs a cluster: one module, which loads what knows PostgreSQL when it is asked. */

export { addMigrate } from './cluster/migrate.ts';
