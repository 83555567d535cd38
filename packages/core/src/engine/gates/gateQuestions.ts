import type { StepStore } from '../../state/steps/StepStore.ts';
import type { StepKey } from '../../state/steps/stepRecords.ts';
import { sha256Hex } from '../../values/canonicalJson.ts';

/** A question at a gate with its answer, as it is recorded. */
export interface RecordedExchange {
  readonly question: string;
  readonly answer: string;
  /** Such as `human:ada`. */
  readonly principal: string;
}

/** An exchange as it is read back. */
export interface GateExchange extends RecordedExchange {
  /** ISO 8601, UTC. */
  readonly answeredAt: string;
}

// LangGraph's ids of tasks are UUIDs: no visit has a step in such a place.
const PLACE = 'ask';

/** The same question at the same gate is the same step: it is paid for once. @param question - As it is recorded. */
export function exchangeKey(threadId: string, sessionId: string, question: string): StepKey {
  return { threadId, lgTaskId: `${PLACE}/${sessionId}`, name: sha256Hex(question) };
}

/** What was asked and answered at a gate, oldest first. */
export function exchangesAt(threadId: string, sessionId: string, steps: StepStore): readonly GateExchange[] {
  return steps
    .listIn(threadId, `${PLACE}/${sessionId}`)
    .flatMap((key) => {
      const step = steps.find(key);
      return step?.state === 'done' ? [step] : [];
    })
    .toSorted((a, b) => a.finishedAt - b.finishedAt)
    .map(({ result, finishedAt }) => ({
      ...(result as RecordedExchange),
      answeredAt: new Date(finishedAt).toISOString(),
    }));
}

/** Gives up questions whose process died: nobody else is asked while a run is held. @param steps - Of the holder. */
export function abandonQuestions(threadId: string, steps: StepStore): void {
  steps.abandonIn(threadId, PLACE);
}
