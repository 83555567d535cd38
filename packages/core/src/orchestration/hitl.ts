export { HitlSessionNotFoundError } from '../engine/gates/HitlSessionNotFoundError.ts';
export {
  HumanInTheLoopManager,
  type Principal,
  type SessionDecision,
  type SuspendedSession,
} from '../engine/gates/HumanInTheLoopManager.ts';
export { parseApprovalSignal } from './gates/approvalSignal.ts';
export { approveDesignNode } from './gates/approveDesignNode.ts';
export { approveTaskDagNode } from './gates/approveTaskDagNode.ts';
export { type Approval, askForApproval } from './gates/askForApproval.ts';
export { routeAfterApproveDesign, routeAfterApproveTaskDag } from './routing.ts';
