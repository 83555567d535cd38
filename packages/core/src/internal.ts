/**
 * For the sibling packages alone: no name here is a promise, any release may change it. The layer check keeps everybody
 * else out.
 *
 * @module @devs/core/internal
 */

export { runIdOfText } from './brief/brief.ts';
export { BUDGET_MEASURES, eachMeasure } from './config/budgetMeasures.ts';
export { STATE_FILE } from './config/defaults.ts';
export { DEFAULT_LIMITS, MAX_LIMITS } from './config/limits.ts';
export { openState } from './db/createDatabase.ts';
export { walFrames } from './db/writeAheadLog.ts';
export type { EntropyScore } from './engine/entropy/scoreEntropy.ts';
export type { GateComment, QuotableSection } from './engine/gates/answerForms.ts';
export { listedGate, type ShownGate } from './engine/gates/Gate.ts';
export { gateOfInterrupt, gateRefusal } from './engine/gates/gateInterrupt.ts';
export { withPlaceholders } from './engine/gates/hiddenPlaces.ts';
export { runFile } from './engine/remote/newRunFile.ts';
export { OpenQuestions, pages, runQueryOf } from './engine/runs/lists.ts';
export type {
  LeasedRun,
  NewRun,
  RunDriver,
  RunFileView,
  RunRelease,
  RunSignal,
} from './engine/runs/Runs.ts';
export { endingWith } from './errors/DevsError.ts';
export type { ActivityListener } from './events/Activity.ts';
export { leaveAtGate, maskAtGate } from './masking/maskAtGate.ts';
export { maskCutText, maskStart } from './masking/maskSensitiveData.ts';
export { maskInTurns, maskView } from './masking/maskView.ts';
export { MASK_REACH } from './masking/safeCut.ts';
export { oneLine, visibleJson, visibleText } from './masking/visibleText.ts';
export { failuresOf, formatCheck } from './orchestration/checks/CheckSummary.ts';
export { assertPlan, assertPlanEdit } from './orchestration/nodes/plan.ts';
export { unknownFilesIn } from './orchestration/nodes/unknownFiles.ts';
export type { CodeReview } from './orchestration/ports.ts';
export type { LastComment } from './orchestration/review/lastComments.ts';
export type * as WorkspacePort from './orchestration/workspacePort.ts';
export type { CommitBarrier } from './state/commits/CommitBarrier.ts';
export { EventStore } from './state/events/EventStore.ts';
export type { HitlSession } from './state/gates/hitlSession.ts';
export {
  assertNoRuns,
  nameStateFile,
  placeStateFile,
  readStateFileName,
  type StateFileName,
} from './state/moving/movedRun.ts';
export { StepStore } from './state/steps/StepStore.ts';
export { CountedDeaths } from './state/threads/driverDeaths.ts';
export { hosts } from './state/threads/hostIdentity.ts';
export { ThreadStore } from './state/threads/ThreadStore.ts';
export { ENDED_STATUSES, hasEnded } from './state/threads/threadRecords.ts';
export { moveRunOut, packRun, receiveRun } from './surface/moveRun.ts';
export type { TranscriptEntry } from './surface/transcripts.ts';
