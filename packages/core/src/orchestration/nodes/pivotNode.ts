import { MAX_PIVOTS } from '../../config/defaults.ts';
import { METADATA_KEY, type NodeMetadata } from '../../engine/node/nodeOutput.ts';
import { isDevsError } from '../../errors/DevsError.ts';
import { sha256Hex } from '../../values/canonicalJson.ts';
import type { PipelinePorts, PivotReason, PivotRequest, PivotResult } from '../ports.ts';
import { checkTurnBudget, detectEntropy, pivotAgentNode, resetTurnBudget } from '../robustness.ts';
import { namedPaths } from '../task/instructions.ts';
import { StageView } from '../task/StageView.ts';
import { agentCall } from '../task/scrubbedStep.ts';
import { guidanceWithTalk, reportsOf, strategiesOf, taskBrief } from '../task/taskBrief.ts';
import { activeTask, advance } from '../taskStates.ts';
import type { GraphState, TaskRecord } from '../types.ts';
import { draftsOf } from './documents.ts';

/** Why a task is handed to a human whose pivots led to nothing. */
export const PIVOTS_EXHAUSTED = 'pivots_exhausted';

/** Why a task is handed to a human whose pivot agent gave no answer that is a strategy. */
const PIVOT_INVALID = 'pivot_invalid';

/** How often the pivot agent is asked for one strategy. */
const MAX_PIVOT_ANSWERS = 2;

type PivotUpdate = Partial<GraphState> & { readonly [METADATA_KEY]?: NodeMetadata };

/**
 * `pivot_agent`: asks the pivot agent for a strategy that was not tried before, and begins the task anew with it. A
 * tried one is refused, once, and so is an answer that is no strategy; after a second one, and after
 * {@link MAX_PIVOTS} pivots, the task goes to a human. Without a pivot agent, or a task, the run ends as in
 * {@link pivotAgentNode}.
 */
export function makePivotNode(ports: PipelinePorts) {
  const { agents } = ports;
  const pivot = agents.pivot?.bind(agents);
  if (pivot === undefined) return pivotAgentNode;
  return async (state: GraphState): Promise<PivotUpdate> => {
    const task = activeTask(state);
    if (task === null) return pivotAgentNode(state);
    if (state.taskPivots >= MAX_PIVOTS) return handOverTask(state);

    const view = await StageView.open(state, ports, namedPaths(task));
    const ask = (name: string, refused: string | null): Promise<PivotResult | null> =>
      strategyIn(
        view.ask(name, (call) =>
          pivot({ ...pivotRequest(state, task, refused), ...view.seen }, agentCall(call)),
        ),
      );
    const first = await ask('pivot', null);
    if (first !== null && isNew(state, task, first)) return adoptStrategy(state, task, first);
    const second = await ask('pivotAgain', first?.strategy ?? null);
    if (second !== null && isNew(state, task, second)) return adoptStrategy(state, task, second);
    return second === null ? handOverUnanswered(state) : handOverTask(state);
  };
}

/** `null` for an answer that is no strategy: asking for ever would not make it one. */
async function strategyIn(answer: Promise<PivotResult>): Promise<PivotResult | null> {
  try {
    const { strategy, reason } = await answer;
    return typeof strategy === 'string' && typeof reason === 'string' && !isBlankStrategy(strategy)
      ? { strategy, reason }
      : null;
  } catch (error) {
    if (isDevsError(error, 'AGENT_INVALID_OUTPUT')) return null;
    throw error;
  }
}

function isNew(state: GraphState, { taskId }: TaskRecord, { strategy }: PivotResult): boolean {
  const fingerprint = strategyFingerprint(strategy);
  return !strategiesOf(state, taskId).some((tried) => tried.fingerprint === fingerprint);
}

/** The task begins anew: what it repeated before counts no more, or it would pivot again at once. */
function adoptStrategy(
  state: GraphState,
  { taskId }: TaskRecord,
  { strategy, reason }: PivotResult,
): PivotUpdate {
  const fingerprint = strategyFingerprint(strategy);
  return {
    ...advance(state, 'implementing'),
    ...resetTurnBudget(),
    entropy: state.entropy.filter((record) => record.taskId !== taskId),
    errorHistory: state.errorHistory.filter((record) => record.taskId !== taskId),
    pendingRecoveryNode: null,
    pivots: [...state.pivots, { taskId, strategy, fingerprint, reason }],
    taskPivots: state.taskPivots + 1,
  };
}

/** The runner opens the failure gate; without a state file nobody can be asked, and the run ends as without an agent. */
function handOverTask(state: GraphState): PivotUpdate {
  const measured = { measure: 'pivots', level: state.taskPivots, limit: MAX_PIVOTS } as const;
  return stuckAt(state, { reason: PIVOTS_EXHAUSTED, measured });
}

function handOverUnanswered(state: GraphState): PivotUpdate {
  const measured = { measure: 'pivot_answers', level: MAX_PIVOT_ANSWERS, limit: MAX_PIVOT_ANSWERS } as const;
  return stuckAt(state, { reason: PIVOT_INVALID, measured });
}

function stuckAt(state: GraphState, stuck: NonNullable<NodeMetadata['stuck']>): PivotUpdate {
  return {
    ...advance(state, 'strategy_pivot'),
    pendingRecoveryNode: null,
    [METADATA_KEY]: { stuck },
  };
}

function pivotRequest(state: GraphState, task: TaskRecord, refused: string | null): PivotRequest {
  const { taskId } = task;
  return {
    task: taskBrief(task),
    documents: draftsOf(state),
    attempt: Math.max(1, state.taskAttempts),
    reason: pivotReason(state),
    tried: strategiesOf(state, taskId).map(({ strategy, fingerprint }) => ({ strategy, fingerprint })),
    observations: reportsOf(state, taskId),
    errors: state.errorHistory.filter((error) => error.taskId === taskId).map(({ message }) => message),
    guidance: guidanceWithTalk(state, taskId),
    refused,
  };
}

function pivotReason(state: GraphState): PivotReason {
  if (checkTurnBudget(state) !== null) return 'turns_spent';
  return detectEntropy(state) ? 'same_output' : 'same_error';
}

/**
 * SHA-256 (hex) of a strategy without what spelling adds: case, punctuation, white space and compatibility forms.
 * Two strategies with one fingerprint count as the same; a text of punctuation alone has that of the empty one.
 */
export function strategyFingerprint(strategy: string): string {
  return sha256Hex(normalisedStrategy(strategy));
}

/** True when nothing is left of a strategy but punctuation and white space. */
function isBlankStrategy(strategy: string): boolean {
  return normalisedStrategy(strategy) === '';
}

function normalisedStrategy(strategy: string): string {
  return strategy
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}
