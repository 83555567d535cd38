/**
 * The state file and its tables. Loads no LangGraph.
 *
 * @module @devs/core/state
 */

export { type Backup, backup } from './db/backup.ts';
export {
  type CreateDatabaseOptions,
  closeDatabase,
  createDatabase,
  getDatabase,
  openReadOnly,
  openState,
} from './db/createDatabase.ts';
export type { EncryptionKey } from './db/encryptionKey.ts';
export { runMigrations } from './db/migrate.ts';
export { type Rekeyed, type RekeyOptions, rekey } from './db/rekey.ts';
export { CheckpointPersister } from './state/CheckpointPersister.ts';
export { type DoctorReport, doctor, type FileSizes, type Finding } from './state/doctor.ts';
export { type EventRecord, EventStore } from './state/EventStore.ts';
export { GitPackStore, PACK_PART_BYTES } from './state/GitPackStore.ts';
export { type GitRecord, gitRecord, type RecordedFile } from './state/gitRecord.ts';
export { type HitlSession, HitlSessionStore } from './state/HitlSessionStore.ts';
export type { HitlSessionKind, HitlSessionStatus, Principal } from './state/hitlSession.ts';
export type { Outlet } from './state/Outlet.ts';
export { assertNoRuns, placeStateFile } from './state/placeStateFile.ts';
export type * from './state/RunStore.ts';
export { type RunCost, StepStore } from './state/StepStore.ts';
export { nameStateFile, readStateFileName, type StateFileName } from './state/stateFileName.ts';
export { type Lease, type Thread, type ThreadStatus, ThreadStore } from './state/ThreadStore.ts';
export type { LangGraphCheckpoint, TurnType } from './state/types.ts';
