import type { CheckResult, PipelinePorts } from '../ports.ts';
import { askForReview } from '../review/askForReview.ts';
import { timesReopened } from '../review/reviewGate.ts';
import { openWorkspace, singleLine } from '../task/openWorkspace.ts';
import { RecordedTree } from '../task/RecordedTree.ts';
import { scrubbedStep } from '../task/scrubbedStep.ts';
import { agentLog, appendLog } from '../task/taskBrief.ts';
import { judgeGreen } from '../task/verdicts.ts';
import {
  activeTask,
  advance,
  closeEpics,
  isEpicOpen,
  taskLabel,
  withGreenOf,
  withTask,
} from '../taskStates.ts';
import type { GraphState, TaskRecord } from '../types.ts';

/** `verify` without agents: completes the active task, then closes finished epics and the project. */
export function verifyNode(state: GraphState): Partial<GraphState> {
  if (state.pendingRecoveryNode === 'pivot_agent') return {};
  const task = activeTask(state);
  if (task === null) return closeProject(state, state.tasks);
  return closeProject(state, withTask(state.tasks, task.taskId, { status: 'completed' }));
}

/**
 * `verify`: the project's own checks decide; they run again only if the turn did not find this very tree green. Green: the
 * task's work becomes one commit and the task is completed.
 * Red: the task failed, stays active and is tried again. A turn that `implement` already called red is not checked.
 * Code that a human wants to be shown is asked about before an epic or the project is closed.
 */
export function makeVerifyNode(ports: PipelinePorts) {
  return async (state: GraphState): Promise<Partial<GraphState>> => {
    const task = activeTask(state);
    if (state.pendingRecoveryNode === 'pivot_agent') return verifyNode(state);
    if (task === null) return reviewOrClose(state, null, ports);
    if (task.status === 'failed') return {};

    const workspace = await openWorkspace(state, ports);
    const tree = await RecordedTree.left(workspace);
    const result = await checkedBefore(task, tree, ports);
    if (!judgeGreen(state, result).holds) return red(state, task, result.output, ports);
    const gitHash = await scrubbedStep(
      'commit',
      ({ key }) =>
        workspace.commit({ tree: tree.id, message: taskCommitMessage(task, state, ports), stepKey: key }),
      { kind: 'work' },
    );
    return reviewOrClose(withCompleted(state, task, gitHash), result, ports);
  };
}

/** The very tree that the turn found green is not checked again. */
function checkedBefore(
  { green }: TaskRecord,
  tree: RecordedTree,
  { checks }: Pick<PipelinePorts, 'checks'>,
): Promise<CheckResult> | CheckResult {
  if (green !== undefined && green.tree === tree.id) return green.check;
  return tree.check('verify', (request) => checks.run(request));
}

function withCompleted(state: GraphState, { taskId }: TaskRecord, gitHash: string): GraphState {
  const { tasks, taskAttempts: attempts, projectConfig } = state;
  const kept = projectConfig.review !== undefined && { attempts };
  const own = withGreenOf(tasks, taskId);
  return { ...state, tasks: withTask(own, taskId, { status: 'completed', gitHash, ...kept }) };
}

async function reviewOrClose(
  state: GraphState,
  check: CheckResult | null,
  ports: PipelinePorts,
): Promise<Partial<GraphState>> {
  const pendingSuspension = await askForReview(state, check, ports);
  if (pendingSuspension === null) return closeProject(state, state.tasks);
  return { tasks: state.tasks, pendingSuspension };
}

function red(
  state: GraphState,
  task: TaskRecord,
  observation: string,
  { now }: Pick<PipelinePorts, 'now'>,
): Partial<GraphState> {
  const log = agentLog(
    state,
    { task, thought: 'Verification', action: 'verify', observation, passed: false },
    now(),
  );
  return {
    agentLogs: appendLog(state, log),
    tasks: withTask(state.tasks, task.taskId, { status: 'failed' }),
  };
}

function closeProject(state: GraphState, tasks: readonly TaskRecord[]): Partial<GraphState> {
  const epics = closeEpics({ ...state, tasks });
  const isDone = epics.length > 0 && !epics.some(isEpicOpen);
  const status = epics.some((epic) => epic.status === 'failed') ? 'failed' : 'completed';
  return { tasks, epics, ...(isDone && advance(state, status)) };
}

function taskCommitMessage(
  task: TaskRecord,
  state: GraphState,
  { agents }: Pick<PipelinePorts, 'agents'>,
): string {
  const { taskId, name, evidence = [] } = task;
  const rework = timesReopened(state, taskId);
  const title = singleLine(name) || taskLabel(taskId);
  const subject = rework === 0 ? title : `${title} (rework ${rework})`;
  const shown = evidence.map(
    ({ criterion, shownBy }) => `- ${singleLine(criterion)}: ${singleLine(shownBy)}`,
  );
  const trailers = [
    `Devs-Task: ${taskLabel(taskId)} (${taskId})`,
    `Devs-Agents: ${singleLine(agents.name)} (${agents.provenance})`,
  ];
  return [subject, ...(shown.length > 0 ? [shown.join('\n')] : []), trailers.join('\n')].join('\n\n');
}
