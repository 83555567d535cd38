/**
 * The state file: open, back up, check. Loads no LangGraph.
 *
 * @module @devs/core/state
 */

export { backup } from './db/backup.ts';
export { createDatabase, openReadOnly } from './db/createDatabase.ts';
export { runMigrations } from './db/migrate.ts';
export { rekey } from './db/rekey.ts';
export { CheckpointPersister } from './state/CheckpointPersister.ts';
export { type DoctorReport, doctor } from './state/doctor/doctor.ts';
export type { Principal } from './state/gates/hitlSession.ts';
export type { LangGraphCheckpoint } from './state/types.ts';
