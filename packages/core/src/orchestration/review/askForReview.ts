import type { CodeReview, ReviewedCheck, ReviewedTask, ReviewSubject } from '../CodeReview.ts';
import type { CheckResult } from '../ports.ts';
import { checkOf } from '../task/checkKept.ts';
import { openWorkspace } from '../task/openWorkspace.ts';
import type { PipelineDeps } from '../task/pipelineDeps.ts';
import { RecordedTree } from '../task/RecordedTree.ts';
import { scrubbedStep } from '../task/scrubbedStep.ts';
import type { GraphState, PendingSuspension, TaskRecord } from '../types.ts';
import { reviewDecisions, reviewsOf } from './reviewDecisions.ts';
import { type DueReview, dueReview } from './reviewRange.ts';

/** Of a check's output, in characters: its end says what failed. */
const OUTPUT_SHOWN = 4_000;

/**
 * The suspension that has a human shown the code that is due; `null` when none is. Everything it is made of is
 * committed by then: the next node's entry asks.
 *
 * @param state - With what the node has finished.
 * @param check - Of this visit, if it ran one.
 */
export async function askForReview(
  state: GraphState,
  check: CheckResult | null,
  deps: PipelineDeps,
): Promise<PendingSuspension | null> {
  if (state.projectConfig.review === undefined) return null;
  const workspace = await openWorkspace(state, deps);
  const due = await scrubbedStep('changes', () => dueReview(state, workspace), { kind: 'work' });
  if (due === null) return null;
  const result = check ?? (await checkAgain(due, state, deps));
  const { subject } = due;
  const taskId = subject.epicId ?? (subject.taskIds.at(-1) as string);
  return {
    sessionId: `review/${taskId}/${reviewDecisions(state).length + 1}`,
    kind: 'review',
    taskId,
    node: 'verify',
    review: codeReview(state, due, result && checkShown(result)),
  };
}

/** No task was verified in this visit; a folder that holds more than the newest commit says nothing about it. */
async function checkAgain(
  { range }: DueReview,
  state: GraphState,
  deps: PipelineDeps,
): Promise<CheckResult | null> {
  const known = checkOf(state, range.tree);
  if (known !== null) return known;
  const tree = await RecordedTree.at(await openWorkspace(state, deps));
  return tree.id === range.tree ? tree.check('verify', (request) => deps.checks.run(request)) : null;
}

function codeReview(state: GraphState, due: DueReview, check: ReviewedCheck | null): CodeReview {
  const { subject, range, since } = due;
  return {
    ...subject,
    epicName: state.epics.find(({ epicId }) => epicId === subject.epicId)?.name ?? null,
    tasks: subject.taskIds
      .flatMap((id) => state.tasks.filter(({ taskId }) => taskId === id))
      .map((task) => taskShown(task, due)),
    range,
    since,
    check,
    rejections: rejectionsOf(state, subject),
  };
}

function rejectionsOf(state: GraphState, { taskIds }: ReviewSubject): CodeReview['rejections'] {
  return reviewsOf(state, taskIds)
    .filter(({ signal }) => !signal.approved)
    .map(({ signal, decidedAt }) => ({
      by: signal.approvedBy ?? '',
      at: decidedAt,
      feedback: signal.feedback ?? signal.comments?.[0]?.text ?? '',
    }));
}

/** A commit that was made anew by a sync is found in the range, under its new id. */
function taskShown(
  { taskId, name, gitHash, acceptanceCriteria = [], evidence = [], losses }: TaskRecord,
  { range: { commits }, moved = {} }: DueReview,
): ReviewedTask {
  const criteria = acceptanceCriteria.map((criterion) => ({
    criterion,
    shownBy: evidence.find((entry) => entry.criterion === criterion)?.shownBy ?? null,
  }));
  const now = gitHash === undefined ? undefined : (moved[gitHash] ?? gitHash);
  return {
    taskId,
    name,
    commit: commits.find(({ sha }) => sha === now)?.sha ?? null,
    criteria,
    ...(losses && { losses }),
  };
}

function checkShown({ command, passed, exitCode, output }: CheckResult): ReviewedCheck {
  return { command, passed, exitCode, output: output.slice(-OUTPUT_SHOWN) };
}
