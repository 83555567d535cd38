import { activeNode } from '../../engine/node/nodeContext.ts';
import { sha256Hex } from '../../values/canonicalJson.ts';
import type { CheckResult, CriterionEvidence, PipelinePorts, TestLoss } from '../ports.ts';
import { rejectedDiff, timesReopened } from '../review/reviewGate.ts';
import {
  checkTurnBudget,
  detectEntropy,
  incrementTurnBudget,
  towardsPivot,
  withOutput,
} from '../robustness.ts';
import { instructionsFor, namedPaths } from '../task/instructions.ts';
import { openWorkspace } from '../task/openWorkspace.ts';
import { RecordedTree } from '../task/RecordedTree.ts';
import { agentLog, appendLog } from '../task/taskBrief.ts';
import { type Judgement, judgeGreen, judgeRed, judgeTurned } from '../task/verdicts.ts';
import { advance, pickTask, withoutVerdict, withTask } from '../taskStates.ts';
import type { CheckedTree, GraphState, TaskRecord } from '../types.ts';
import { TaskAttempt } from './TaskAttempt.ts';

/** `implement` without agents: picks a task and counts a turn, or continues with the pivot after the last turn. */
export function implementNode(state: GraphState): Partial<GraphState> {
  const { task, state: episode } = pickTask(state);
  if (checkTurnBudget(episode) !== null || detectEntropy(episode)) return towardsPivot(state);
  return {
    ...advance(state, 'implementing'),
    ...incrementTurnBudget(episode),
    ...(task !== null && taskUpdate(episode, task)),
  };
}

/** `implement`: one turn of the TDD loop on the active task. The turn's own verdict can only be red; green is verify's. */
export function makeImplementNode(ports: PipelinePorts) {
  return async (state: GraphState): Promise<Partial<GraphState>> => {
    const update = implementNode(state);
    const next: GraphState = { ...state, ...update };
    const task = next.tasks.find(({ taskId }) => taskId === next.activeTaskId);
    if (task?.status !== 'in_progress' || update.pendingRecoveryNode === 'pivot_agent') return update;

    const { tree, evidence, testFiles, green, losses, flaky, findings, message, said, ...turn } =
      await runTddTurn(task, next, ports);
    const thought = `Turn ${next.implementationTurns}`;
    const log = agentLog(next, { task, thought, ...turn }, ports.now());
    const status = turn.passed ? underWay() : 'failed';
    return {
      ...update,
      ...withFlaky(next, flaky),
      agentLogs: appendLog(next, log),
      entropy: withOutput(next, task.taskId, {
        outputHash: sha256Hex(tree),
        seenAt: log.metadata.timestamp,
      }),
      tasks: withTask(withoutVerdict(next.tasks, task.taskId), task.taskId, {
        status,
        ...(evidence && { evidence }),
        ...(testFiles.length > 0 && { testFiles }),
        ...(green && { green }),
        ...(losses && { losses }),
        ...(findings && { findings }),
        ...(message !== undefined && { commitMessage: message }),
        ...(said !== undefined && { reviewerSaid: said }),
      }),
    };
  };
}

/** Names that are kept. */
const MAX_FLAKY = 2_000;

function withFlaky({ projectConfig }: GraphState, seen: readonly string[]): Partial<GraphState> {
  const { flaky = [] } = projectConfig;
  const all = [...new Set([...flaky, ...seen])].slice(0, MAX_FLAKY);
  return all.length === flaky.length ? {} : { projectConfig: { ...projectConfig, flaky: all } };
}

/** A task whose driver died in this visit is marked, so that people can see why it took longer. */
function underWay(): TaskRecord['status'] {
  return activeNode('implement').isResumed ? 'resumed' : 'in_progress';
}

function taskUpdate(episode: GraphState, { taskId, epicId }: TaskRecord): Partial<GraphState> {
  const { entropy, errorHistory, taskAttempts, taskPivots } = episode;
  const epics = episode.epics.map((epic) =>
    epic.epicId === epicId && epic.status === 'pending' ? { ...epic, status: 'active' as const } : epic,
  );
  return {
    activeTaskId: taskId,
    activeEpicId: epicId,
    entropy,
    errorHistory,
    taskAttempts: taskAttempts + 1,
    taskPivots,
    epics,
    tasks: withTask(episode.tasks, taskId, { status: 'in_progress' }),
  };
}

/** How a turn ended, in words for the log and the next attempt. */
interface TurnReport {
  readonly passed: boolean;
  /** Id of the git tree after the turn. Equal trees are equal outputs. */
  readonly tree: string;
  readonly action: string;
  readonly observation: string;
  /** Of the task, all its attempts together. */
  readonly testFiles: readonly string[];
  /** Cases that were seen to fail and pass on the same files. */
  readonly flaky: readonly string[];
  /** The reviewer's evidence for the acceptance criteria. */
  readonly evidence?: readonly CriterionEvidence[];
  /** The checks that accepted the work. */
  readonly green?: CheckedTree;
  readonly losses?: readonly TestLoss[];
  readonly findings?: readonly string[];
  /** For the commit. */
  readonly message?: string;
  /** The reviewer's words. */
  readonly said?: string;
}

/** Characters of the reviewer's words that are kept. */
const MOST_SAID = 2_000;

/**
 * One turn of the TDD loop: the failing test on the tree without the code, the implementation, the documentation, the
 * green run, its review. Every call is a durable step, and each starts from the tree the step before recorded. The
 * commit, the sixth step, is the `verify` node's.
 */
async function runTddTurn(task: TaskRecord, state: GraphState, ports: PipelinePorts): Promise<TurnReport> {
  const workspace = await openWorkspace(state, ports);
  const tree = await RecordedTree.at(workspace);
  const instructions = await instructionsFor(workspace, namedPaths(task));
  const rejected = await rejectedDiff(state, task.taskId, workspace);
  const turn = new TaskAttempt(tree, ports, { task, state, workspace, instructions, rejected });
  await turn.putDocuments();
  const report = await runAttempt(turn, task, state);
  const { testFiles, flaky, notes } = turn;
  const observation = joinParts(report.observation, ...notes);
  return { ...report, observation, tree: turn.tree, testFiles, flaky };
}

type Report = Omit<TurnReport, 'tree' | 'testFiles' | 'flaky'>;

async function runAttempt(turn: TaskAttempt, task: TaskRecord, state: GraphState): Promise<Report> {
  const begun = await BEGIN[task.kind ?? 'test-first'](turn, task, state);
  if (begun.refusal !== null) return begun.refusal;
  await turn.document();
  const green = await turn.checkGreen();
  const verdict = bothHold(judgeGreen(state, green), () => judgeTurned(state, begun.red ?? green, green));
  if (!verdict.holds) return refusedReport('implement', joinParts(verdict.why, green.output));
  const named = await turn.checkNamed();
  if (named !== null && !named.passed) return refusedReport('implement', `${named.command}\n${named.output}`);
  return reviewed(turn, green, task, state);
}

async function reviewed(
  turn: TaskAttempt,
  green: CheckResult,
  task: TaskRecord,
  state: GraphState,
): Promise<Report> {
  const losses = await turn.losses(green);
  if (losses.length > 0 && state.projectConfig.review === undefined) {
    const words = losses.map(({ path, words }) => `- ${path === null ? '' : `${path}: `}${words}`);
    return refusedReport(
      'implement',
      ['The tests lose by this work, and no person reviews it:', ...words].join('\n'),
    );
  }
  const review = await turn.review(green, losses);
  if (!review.approved) return refusedReport('review', review.comments);
  const mayBeOld = task.kind === 'behaviour-kept' || isRework(task, state);
  const evidence = review.evidence && (await turn.judgeEvidence(review.evidence, mayBeOld));
  const { findings, message } = turn;
  const said = review.comments.trim().slice(0, MOST_SAID);
  return {
    passed: true,
    action: turn.action,
    observation: joinParts(turn.documented, ...findings),
    ...(evidence && { evidence }),
    ...(turn.green && { green: turn.green }),
    ...(losses.length > 0 && { losses }),
    ...(findings.length > 0 && { findings }),
    ...(message !== '' && { message }),
    ...(said !== '' && { said }),
  };
}

/** How the work of a turn began: refused, or done, with what was red before it. */
interface BegunAttempt {
  readonly refusal: Report | null;
  readonly red: CheckResult | null;
}

type Begin = (turn: TaskAttempt, task: TaskRecord, state: GraphState) => Promise<BegunAttempt>;

const BEGIN: Readonly<Record<NonNullable<TaskRecord['kind']>, Begin>> = {
  'test-first': testFirst,
  'behaviour-kept': behaviourKept,
  'checked-by': checkedBy,
};

async function testFirst(turn: TaskAttempt, task: TaskRecord, state: GraphState): Promise<BegunAttempt> {
  await turn.writeTest();
  const red = await turn.checkRed();
  const verdict = judgeRed(state, red);
  if (verdict.holds) return implemented(turn, true, red);
  // What a person wants who sent the code back may be nothing that a test can show.
  if (isRework(task, state)) return implemented(turn, true, null);
  if (await turn.isImplementedByHand()) return { refusal: null, red: null };
  if (await turn.goesOnFromHand()) return implemented(turn, true, null);
  const left = await turn.checkRedAsLeft();
  if (left !== null && judgeRed(state, left).holds) return implemented(turn, true, left);
  return stop(refusedReport('test', joinParts(verdict.why, red.output)));
}

async function behaviourKept(turn: TaskAttempt, task: TaskRecord, state: GraphState): Promise<BegunAttempt> {
  const before = await turn.checkBefore(state);
  const verdict = judgeGreen(state, before);
  if (verdict.holds) return implemented(turn, isRework(task, state), null);
  const why = 'The checks are red before anything is changed: that nothing breaks cannot be shown.';
  return stop(refusedReport('test', `${why}\n${before.output}`));
}

/** Runs the command before the work, too: a pass there shows that it proves little. */
async function checkedBy(turn: TaskAttempt, task: TaskRecord, state: GraphState): Promise<BegunAttempt> {
  await turn.checkNamedBefore();
  return implemented(turn, isRework(task, state), null);
}

/** @param mayBeNothing - Whether no change can be right: nothing else shows that there was work. */
async function implemented(
  turn: TaskAttempt,
  mayBeNothing: boolean,
  red: CheckResult | null,
): Promise<BegunAttempt> {
  const wrongTest = await turn.implement();
  if (wrongTest !== null) return stop(refusedReport('implement', `The test is wrong: ${wrongTest}`));
  const isNothing = !mayBeNothing && (await turn.isUnchanged()) && !(await turn.goesOnFromHand());
  return isNothing ? stop(refusedReport('implement', 'Nothing was changed.')) : { refusal: null, red };
}

const isRework = ({ taskId }: TaskRecord, state: GraphState): boolean => timesReopened(state, taskId) > 0;

const stop = (refusal: Report): BegunAttempt => ({ refusal, red: null });

const refusedReport = (action: string, observation: string): Report => ({
  passed: false,
  action,
  observation,
});

const joinParts = (...parts: readonly string[]): string => parts.filter((part) => part !== '').join('\n');

const bothHold = (first: Judgement, second: () => Judgement): Judgement => (first.holds ? second() : first);
