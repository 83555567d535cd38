// Questions that the driver asks instead of a node: at a breakpoint, and about a suspension that the last node raised.

import type { CheckpointTuple } from '@langchain/langgraph-checkpoint';
import type { FencedLease } from '../../state/commits/immediateTransaction.ts';
import type { InterruptedQuestion } from '../../state/gates/HitlSessionStore.ts';
import type { HitlSession } from '../../state/gates/hitlSession.ts';
import type { RunStore } from '../../state/RunStore.ts';
import { showableValues as plainValues } from '../../values/showable.ts';
import { type Breakpoint, breakpointMessage, dueBreakpoint } from '../breakpoints/Breakpoint.ts';
import type { EngineStore } from '../EngineStore.ts';
import { guardsOf } from '../execution/channels.ts';
import { questionAbout, sessionForQuestion } from '../gates/question.ts';
import { stuckMessage, suspensionArtifact } from '../graph/GraphProfile.ts';
import type { Engine } from './Engine.ts';

/** The session of a question that no node asks: the driver does, and it is told where it was not asked before. */
export function openGateSession(
  question: InterruptedQuestion,
  lease: FencedLease,
  runs: Pick<RunStore, 'ask'>,
): HitlSession {
  const [session] = runs.ask(lease, [
    {
      question,
      facts: ({ session: { id: sessionId, kind, taskId, threadId }, opened }) => {
        const scope = { taskId, ...(threadId !== null && { threadId }) };
        return opened ? [{ name: 'HITL_SESSION_OPENED', payload: { sessionId, kind, taskId }, scope }] : [];
      },
    },
  ]);
  return session as HitlSession;
}

/**
 * The session of a suspension that the last node of an own graph raised. No node is left whose entry could ask, so
 * the question is bound to the last checkpoint instead of an interrupt; `null` when there is none.
 */
export function questionAtEnd(
  { config, checkpoint }: CheckpointTuple,
  lease: FencedLease,
  store: EngineStore,
): HitlSession | null {
  const { pendingSuspension } = guardsOf(checkpoint.channel_values);
  if (!pendingSuspension) return null;
  const { sessionId, kind, taskId } = pendingSuspension;
  const question = questionAbout(suspensionArtifact(pendingSuspension), {
    kind,
    key: sessionId,
    taskId,
    message: stuckMessage(pendingSuspension),
  });
  const checkpointId = String(config.configurable?.['checkpoint_id']);
  const { threadId } = lease;
  return openGateSession(
    sessionForQuestion(question, `end/${checkpointId}`, { threadId, checkpointId }),
    lease,
    store.runs,
  );
}

interface StoppedRun {
  readonly lease: FencedLease;
  readonly tuple: CheckpointTuple;
  /** The tasks of the next super-step. */
  readonly tasks: readonly { readonly id: string; readonly name: string }[];
  readonly values: unknown;
}

/** What stands for the interrupt of a stop: LangGraph has none for its own. */
export const breakpointKey = ({ checkpoint }: CheckpointTuple): string => `stop/${checkpoint.id}`;

/**
 * The session of the stop that a run stands at, answered or not; `null` where it stands at none. A stop that it is past,
 * because a task of the next super-step has begun, is not asked.
 */
export async function questionAtBreakpoint(
  run: StoppedRun,
  engine: Pick<Engine, 'breakpoints' | 'saver' | 'store'>,
): Promise<HitlSession | null> {
  const { lease, tuple, tasks, values } = run;
  const { threadId } = lease;
  const { store, saver, breakpoints } = engine;
  const known = store.sessions.findByInterrupt(threadId, breakpointKey(tuple));
  if (known !== null) return known;
  if (hasBegun(run, store)) return null;
  const next = [...new Set(tasks.map(({ name }) => name))];
  const parent = tuple.parentConfig && (await saver.getTuple(tuple.parentConfig));
  const due = dueBreakpoint(breakpoints, { tuple, parent, next });
  if (due === null) return null;
  const stop: Breakpoint = {
    breakpoint: { graph: [], ...due, next },
    values: plainValues((values ?? {}) as object),
  };
  const about = { kind: 'interrupt', key: `stop/${threadId}`, taskId: threadId } as const;
  const question = questionAbout(stop, { ...about, message: breakpointMessage(stop) });
  const checkpointId = tuple.checkpoint.id;
  return openGateSession(
    sessionForQuestion(question, breakpointKey(tuple), { threadId, checkpointId }),
    lease,
    store.runs,
  );
}

function hasBegun({ lease: { threadId }, tuple, tasks }: StoppedRun, { steps }: EngineStore): boolean {
  const written = new Set((tuple.pendingWrites ?? []).map(([taskId]) => taskId));
  return tasks.some(({ id }) => written.has(id) || steps.hasVisit(threadId, id));
}
