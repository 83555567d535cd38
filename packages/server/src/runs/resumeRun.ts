import type { Principal } from '@devs/core';
import { type Gate, type GateAnswer, gateInterrupt, resumeAnswer } from '@devs/core';
import { gateOfInterrupt } from '@devs/core/internal';
import type { ServedApp } from '../apps/ServedApp.ts';
import { ApiError, invalid } from '../http/ApiError.ts';

/** An answer with the id of the question that its sender was shown. */
export interface Response {
  readonly interrupt: string;
  readonly value: unknown;
}

/** How decisions that come over HTTP are recorded. */
const VIA = 'server';

/**
 * The form of the ids of questions: the hash of the shown content is part of it. The ids of LangGraph are recognized
 * too.
 */
const INTERRUPT_ID = /\.[0-9a-f]{16}$|^[0-9a-f]{32}$/;

/**
 * The answers of a `Command({ resume })`: by the ids of their questions, or one value where exactly one question is open.
 *
 * @throws ApiError where it is not clear which question the value answers.
 */
export function responsesOf(resume: unknown, open: readonly Gate[]): readonly Response[] {
  if (typeof resume === 'object' && resume !== null && !Array.isArray(resume)) {
    const entries = Object.entries(resume);
    if (entries.length > 0 && entries.every(([id]) => INTERRUPT_ID.test(id)))
      return entries.map(([interrupt, value]) => ({ interrupt, value }));
  }
  const [only, ...others] = open;
  if (only === undefined) throw nothingAsked();
  if (others.length > 0)
    throw new ApiError(
      422,
      'ANSWER_UNBOUND',
      'Several questions are open. Answer each by the id of its interrupt.',
    );
  return [{ interrupt: gateInterrupt(only).id, value: resume }];
}

/**
 * Records answers. All are checked before the first is recorded.
 *
 * @throws DevsError `GATE_STALE`, `GATE_NOT_FOUND`, `INVALID_ANSWER`, … as `app.decide`.
 */
export async function decideAll(
  app: ServedApp,
  thread: string,
  { responses, by }: { readonly responses: readonly Response[]; readonly by: Principal },
): Promise<void> {
  const open = await app.gates(thread);
  if (open.length === 0) throw nothingAsked();
  if (new Set(responses.map(({ interrupt }) => interrupt)).size < responses.length)
    throw invalid('Each question takes one answer.');
  const decisions = responses.map(({ interrupt, value }) => {
    const gate = gateOfInterrupt(interrupt, open);
    const answer = { ...resumeAnswer(gate, value), by, via: VIA } as GateAnswer; // `decide` checks it
    return { gate, answer };
  });
  for (const { gate, answer } of decisions) await app.decide(gate, answer);
}

const nothingAsked = (): ApiError =>
  new ApiError(409, 'GATE_STALE', 'The thread waits for no answer. Nothing was recorded.');
