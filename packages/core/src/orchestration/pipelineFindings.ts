import { MAX_PIVOTS } from '../config/defaults.ts';
import { type GuardFinding, type GuardLevel, warningOf } from '../engine/guards/lattice.ts';
import { ENTROPY_LOOP_THRESHOLD } from './robustness/entropy.ts';
import { CONSECUTIVE_ERROR_PIVOT_THRESHOLD } from './robustness/routeAfterError.ts';
import { MAX_IMPLEMENTATION_TURNS } from './robustness/turnBudget.ts';
import type { GraphState } from './types.ts';

/** What the guards of the pipeline found in what a node changed: equal errors, turns, equal outputs. Pure. */
export function pipelineFindings(before: GraphState, after: GraphState): readonly GuardFinding[] {
  return [...errorFindings(before, after), ...pivotFindings(before, after)];
}

function errorFindings(before: GraphState, { errorHistory }: GraphState): readonly GuardFinding[] {
  const last = errorHistory.at(-1);
  if (last === undefined || last.errorId === before.errorHistory.at(-1)?.errorId) return [];
  const { errorId, consecutiveCount: level, sourceNode, kind } = last;
  if (level < CONSECUTIVE_ERROR_PIVOT_THRESHOLD) return [];
  const limit = CONSECUTIVE_ERROR_PIVOT_THRESHOLD;
  const evidence = { sourceNode, kind, message: last.message };
  return [tripped({ measure: 'equal_errors', level, limit, episode: errorId, evidence })];
}

function pivotFindings(before: GraphState, after: GraphState): readonly GuardFinding[] {
  const asksForPivot = after.pendingRecoveryNode === 'pivot_agent' && before.pendingRecoveryNode === null;
  const turns = turnsLevel(after);
  if (!asksForPivot) return after.implementationTurns > before.implementationTurns ? warningOf(turns) : [];
  const sameOutput = sameOutputLevel(after);
  return [tripped(turns.level >= turns.limit || sameOutput === null ? turns : sameOutput)];
}

/** What will make the next `implement` hand the task to the pivot, while the task has pivots left. Pure. */
export function dueForPivot(state: GraphState): readonly GuardLevel[] {
  if (state.taskPivots >= MAX_PIVOTS) return [];
  const levels = [turnsLevel(state), sameOutputLevel(state)];
  return levels.filter((level) => level !== null).filter(({ level, limit }) => level >= limit);
}

function turnsLevel({ implementationTurns: level, activeTaskId, progressStep }: GraphState): GuardLevel {
  const evidence = { taskId: activeTaskId, turns: level };
  return {
    measure: 'turns',
    level,
    limit: MAX_IMPLEMENTATION_TURNS,
    episode: String(progressStep),
    evidence,
  };
}

function sameOutputLevel({ entropy, activeTaskId, progressStep }: GraphState): GuardLevel | null {
  const most = entropy
    .filter(({ taskId }) => taskId === activeTaskId)
    .toSorted((a, b) => b.loopCount - a.loopCount)[0];
  if (most === undefined) return null;
  const { loopCount: level, outputHash } = most;
  const evidence = { taskId: activeTaskId, outputHash };
  return {
    measure: 'same_output',
    level,
    limit: ENTROPY_LOOP_THRESHOLD,
    episode: String(progressStep),
    evidence,
  };
}

const tripped = (level: GuardLevel): GuardFinding => ({ event: 'GUARD_TRIPPED', level });
