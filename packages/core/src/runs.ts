/**
 * For who keeps the files of runs elsewhere: what an implementation of `Runs` is made of.
 *
 * @module @devs/core/runs
 */

export {
  beginOfLog,
  type Commits,
  committed,
  FRAME_HEADER,
  LOG_HEADER,
  type LogPosition,
} from './db/committedFrames.ts';
export { openStateCopy, openWorkingCopy } from './db/createDatabase.ts';
export { SCHEMA_VERSION } from './db/migrate.ts';
export { emptyLog } from './db/pragmas.ts';
export { newRunFile } from './engine/files/newRunFile.ts';
export { listedGate } from './engine/Gate.ts';
export { runQueryOf } from './engine/runs/listRuns.ts';
export { OpenQuestions } from './engine/runs/OpenQuestions.ts';
export { pageLimit, pageOf, placeOf } from './engine/runs/pages.ts';
export { CountedDeaths } from './state/CountedDeaths.ts';
export { isOwnerAlive, localHost, ownerToken } from './state/hostIdentity.ts';
export type { RunQuery } from './state/RunDirectory.ts';
export { ENDED_STATUSES, hasEnded } from './state/threadRecords.ts';
