export { parseApprovalSignal } from './hitl/approvalSignal.ts';
export { approveDesignNode } from './hitl/approveDesignNode.ts';
export { approveTaskDagNode } from './hitl/approveTaskDagNode.ts';
export { type Approval, askForApproval } from './hitl/askForApproval.ts';
export { HitlSessionNotFoundError } from './hitl/HitlSessionNotFoundError.ts';
export {
  HumanInTheLoopManager,
  type Principal,
  type SessionDecision,
  type SuspendedSession,
} from './hitl/HumanInTheLoopManager.ts';
export { routeAfterApproveDesign, routeAfterApproveTaskDag } from './routing.ts';
