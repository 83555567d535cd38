import { step } from '../../engine/node/step.ts';
import type {
  CheckResult,
  CriterionEvidence,
  RunWorkspace,
  StageAgents,
  TaskRequest,
  WorkResult,
} from '../ports.ts';
import { timesReopened } from '../review/reviewDecisions.ts';
import { agentCall } from '../task/agentCall.ts';
import { lastObservation } from '../task/agentLog.ts';
import { guidanceWithTalk } from '../task/gateTalk.ts';
import { openWorkspace } from '../task/openWorkspace.ts';
import type { PipelineDeps } from '../task/pipelineDeps.ts';
import { RecordedTree } from '../task/RecordedTree.ts';
import { strategiesOf, taskBrief } from '../task/taskBrief.ts';
import type { GraphState, TaskRecord } from '../types.ts';
import { draftsOf } from './documents.ts';

/** How a turn ended, in words for the log and the next attempt. */
export interface TurnReport {
  readonly passed: boolean;
  /** What the turn left: the id of its git tree. Equal trees are equal outputs. */
  readonly tree: string;
  readonly action: string;
  readonly observation: string;
  /** What showed the reviewer that the acceptance criteria are met. */
  readonly evidence?: readonly CriterionEvidence[];
}

/**
 * One turn of the TDD loop: the failing test, the implementation, its review, the green run, the documentation.
 * Every call is a durable step, and each starts from the tree the step before recorded. Automated verification,
 * the sixth step, is the `verify` node's.
 */
export async function runTddTurn(
  task: TaskRecord,
  state: GraphState,
  deps: PipelineDeps,
): Promise<TurnReport> {
  const workspace = await openWorkspace(state, deps);
  const tree = await RecordedTree.at(workspace);
  const turn = new Turn(tree, deps, taskRequest(task, state, workspace));
  const report = await takeTurn(turn, timesReopened(state, task.taskId) > 0);
  return { ...report, tree: tree.id };
}

type Report = Omit<TurnReport, 'tree'>;

/** @param isRework - A human sent the task's code back; what they want may be nothing that a test can show. */
async function takeTurn(turn: Turn, isRework: boolean): Promise<Report> {
  await turn.edit('test', 'writeTest');
  const red = await turn.check('red');
  if (!red.passed || isRework) await turn.edit('implement', 'implement');
  else if (!(await turn.isImplementedByHand())) {
    return refused('test', `The new test passes before anything is implemented.\n${red.output}`);
  }
  const review = await turn.review();
  if (!review.approved) return refused('review', review.comments);
  const green = await turn.check('green');
  if (!green.passed) return refused('implement', green.output);
  const documented = await turn.edit('document', 'document');
  const { evidence } = review;
  const action = 'test, implement, review, document';
  return { passed: true, action, observation: documented, ...(evidence && { evidence }) };
}

const refused = (action: string, observation: string): Report => ({ passed: false, action, observation });

type EditingAgent = 'writeTest' | 'implement' | 'document';

class Turn {
  readonly #tree: RecordedTree;
  readonly #deps: PipelineDeps;
  readonly #request: TaskRequest;

  constructor(tree: RecordedTree, deps: PipelineDeps, request: TaskRequest) {
    this.#tree = tree;
    this.#deps = deps;
    this.#request = request;
  }

  /** Lets an agent edit; returns its summary. */
  edit(name: string, agent: EditingAgent): Promise<string> {
    const { agents } = this.#deps;
    const propose: StageAgents[EditingAgent] = agents[agent].bind(agents);
    return this.#tree.change(name, (call): Promise<WorkResult> => propose(this.#request, agentCall(call)));
  }

  check(name: string): Promise<CheckResult> {
    return this.#tree.check(name, this.#deps.checks);
  }

  isImplementedByHand(): Promise<boolean> {
    return this.#tree.beganAdopted();
  }

  review() {
    return step('review', (call) => this.#deps.agents.review(this.#request, agentCall(call)));
  }
}

function taskRequest(task: TaskRecord, state: GraphState, workspace: RunWorkspace): TaskRequest {
  const { taskId } = task;
  const strategy = strategiesOf(state, taskId).at(-1)?.strategy;
  return {
    task: taskBrief(task),
    documents: draftsOf(state),
    attempt: state.taskAttempts,
    lastFailure: lastObservation(state, taskId),
    ...(strategy !== undefined && { strategy }),
    guidance: guidanceWithTalk(state, taskId),
    workspace,
  };
}
