import type { Database } from 'better-sqlite3';
import {
  HumanInTheLoopManager as GateManager,
  type HumanInTheLoopManagerOptions,
} from '../engine/gates/HumanInTheLoopManager.ts';
import { PIPELINE_GATES } from './gates/pipelineGates.ts';
import type { GraphState } from './types.ts';

export type { GateRule, GateRules } from '../engine/gates/answers.ts';
export {
  HitlSessionNotFoundError,
  type HumanInTheLoopManagerOptions,
  type PauseOptions,
  type Principal,
  type SessionDecision,
  type SuspendedSession,
} from '../engine/gates/HumanInTheLoopManager.ts';
export { parseApprovalSignal } from './gates/approvalSignal.ts';
export { approveDesignNode } from './gates/approveDesignNode.ts';
export { approveTaskDagNode } from './gates/approveTaskDagNode.ts';
export {
  type Approval,
  type ApprovalRequest,
  askForApproval,
  type EditedGate,
  type GateDecision,
} from './gates/askForApproval.ts';
export type { RecordedEdit } from './gates/gateEdit.ts';
export { type AskingNode, routeAfterApproveDesign, routeAfterApproveTaskDag } from './routing.ts';
export type {
  GraphState,
  HitlApprovalSignal,
  HitlDecisionRecord,
  HitlGate,
  HitlSessionKind,
} from './types.ts';

/**
 * Opens gates and records their answers. Each gate is answered once, by a person who saw its content (law L2). Source:
 * 9_ROADMAP-REQ-006.
 */
export class HumanInTheLoopManager extends GateManager<GraphState> {
  /** @param db - An open, migrated state file. */
  constructor(db: Database, options: HumanInTheLoopManagerOptions = {}) {
    super(db, { rules: PIPELINE_GATES, ...options });
  }
}
