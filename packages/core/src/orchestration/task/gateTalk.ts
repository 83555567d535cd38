import { exchangesAt } from '../../engine/gates/gateQuestions.ts';
import { currentNodeStore } from '../../engine/node/nodeContext.ts';
import type { HitlSession, HitlSessionKind } from '../../state/gates/hitlSession.ts';
import { taskLabel } from '../taskStates.ts';
import type { GraphState } from '../types.ts';
import { guidanceFor } from './taskBrief.ts';

// What a person and an agent said at gates that are decided, for the next attempt. It is read from rows, which is safe
// in a node: nothing is asked at a gate that is closed, so every execution reads the same.

/** A human's feedback, and below it what was said at the gate since the last decision on a proposal. */
export function withTalk(feedback: string | null, kind: HitlSessionKind): string | null {
  if (feedback === null) return null;
  const talk = decidedLast(kind).flatMap(wordsAt);
  return talk.length === 0 ? feedback : [feedback, ...talk].join('\n\n');
}

/** What humans said about a task, oldest first, and then what was said at its gates. */
export function guidanceWithTalk(state: GraphState, taskId: string): readonly string[] {
  const label = taskLabel(taskId);
  const isAbout = ({ taskId: about, question, decision }: HitlSession): boolean => {
    const { tasks } = (decision ?? {}) as { readonly tasks?: readonly string[] };
    return tasks?.includes(label) ?? (about === taskId || showsTask(question, taskId));
  };
  const sessions = (['task_failure', 'review'] as const).flatMap((kind) =>
    decidedSessions(kind).filter(isAbout),
  );
  return [...guidanceFor(state, taskId), ...sessions.flatMap(wordsAt)];
}

function showsTask(question: unknown, taskId: string): boolean {
  const { artifact } = (question ?? {}) as { readonly artifact?: { readonly tasks?: unknown } };
  const tasks = Array.isArray(artifact?.tasks)
    ? (artifact.tasks as readonly { readonly taskId?: unknown }[])
    : [];
  return tasks.some((task) => task.taskId === taskId);
}

/** The last decision on a kind of gate, with the edits before it: an edit is asked about anew. */
function decidedLast(kind: HitlSessionKind): readonly HitlSession[] {
  const sessions = decidedSessions(kind);
  const edits = sessions.slice(0, -1).findLastIndex(({ decision }) => !isEditDecision(decision));
  return sessions.slice(edits + 1);
}

const isEditDecision = (decision: unknown): boolean =>
  (decision as { readonly action?: unknown } | null)?.action === 'edit';

function decidedSessions(kind: HitlSessionKind): readonly HitlSession[] {
  const visit = currentNodeStore();
  return visit === null ? [] : visit.store.sessions.listDecided(visit.threadId, kind);
}

function wordsAt({ id, threadId }: HitlSession): readonly string[] {
  const visit = currentNodeStore();
  if (visit === null || threadId === null) return [];
  return exchangesAt(threadId, id, visit.store.steps).map(
    ({ question, answer }) => `A person asked about the last attempt: ${question}\nThe answer was: ${answer}`,
  );
}
