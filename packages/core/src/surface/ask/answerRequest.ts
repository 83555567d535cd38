import { internalsOf } from '../../engine/appInternals.ts';
import { exchangesAt } from '../../engine/gates/gateQuestions.ts';
import { briefOf, draftsOf } from '../../orchestration/nodes/documents.ts';
import { PIVOTS_EXHAUSTED } from '../../orchestration/nodes/pivotNode.ts';
import type { OrchestrationApp } from '../../orchestration/orchestrationApp.ts';
import type { AnsweringStage, AnswerRequest, WorkspaceReader } from '../../orchestration/ports.ts';
import type { PipelineDeps } from '../../orchestration/task/pipelineDeps.ts';
import { taskBrief } from '../../orchestration/task/taskBrief.ts';
import type { HitlSession, HitlSessionKind } from '../../state/gates/hitlSession.ts';

/** Kinds that show an agent's work; the others show what the engine measured. */
const STAGES: Readonly<Partial<Record<HitlSessionKind, AnsweringStage>>> = {
  design_approval: 'design',
  dag_approval: 'distill',
  review: 'review',
  task_failure: 'implement',
};

/** Who answers for a gate; `null` where nobody can. */
export function answeringStage({ kind, question }: HitlSession): AnsweringStage | null {
  const { artifact } = (question ?? {}) as { readonly artifact?: { readonly reason?: unknown } | null };
  if (kind === 'task_failure' && artifact?.reason === PIVOTS_EXHAUSTED) return 'pivot';
  return STAGES[kind] ?? null;
}

interface RequestDeps {
  readonly app: OrchestrationApp;
  readonly pipeline: PipelineDeps;
}

/** What the agent is told: what the person is shown, on the documents its work was made from. */
export async function answerRequest(
  session: HitlSession,
  question: string,
  { app, pipeline }: RequestDeps,
): Promise<AnswerRequest> {
  const threadId = session.threadId ?? '';
  const state = await app.values(threadId);
  const { message = '', artifact = null } = (session.question ?? {}) as {
    readonly message?: string;
    readonly artifact?: unknown;
  };
  const task = state?.tasks.find(({ taskId }) => taskId === session.taskId);
  const workspace = await readerOf(threadId, pipeline);
  return {
    stage: answeringStage(session) ?? 'design',
    gate: { kind: session.kind, message, artifact },
    question,
    earlier: exchangesAt(threadId, session.id, internalsOf(app).store.steps).map((each) => ({
      question: each.question,
      answer: each.answer,
    })),
    brief: state === null ? '' : briefOf(state),
    documents: state === null ? [] : draftsOf(state),
    ...(task && { task: taskBrief(task) }),
    workspace,
  };
}

/** A run has its folder before its first gate is asked. */
async function readerOf(threadId: string, { workspace }: PipelineDeps): Promise<WorkspaceReader> {
  const opened = await workspace.open(threadId);
  return { dir: opened.dir, list: () => opened.list(), read: (path) => opened.read(path) };
}
