import { z } from 'zod';
import { lateSchema } from '../../config/lateSchema.ts';
import { optionalText } from '../../engine/gates/answerForms.ts';
import type { AnswerTo, GateRule } from '../../engine/gates/answers.ts';
import { DevsError } from '../../errors/DevsError.ts';
import type { HitlSession } from '../../state/gates/hitlSession.ts';
import type { Baseline } from '../checks/CheckSummary.ts';
import { joinNames } from '../checks/joinNames.ts';
import type { GraphState } from '../types.ts';

const baselineAnswer = lateSchema(() => {
  const reason = optionalText();
  return z.discriminatedUnion('action', [
    z.strictObject({ action: z.enum(['again', 'first-task']), reason }),
    /** `failures`: names of those shown; all of them when left out. */
    z.strictObject({
      action: z.literal('accept'),
      failures: z.exactOptional(z.array(z.string().min(1)).min(1)),
      reason,
    }),
    z.strictObject({ action: z.literal('abort'), reason }),
  ]);
});

/** Of checks that are red before anything was done. Nothing declared beforehand answers it. */
export const baselineGate = {
  given: baselineAnswer,
  recorded: baselineAnswer,
  shape:
    "{ action: 'again' }, { action: 'first-task' }, { action: 'accept', failures? } or { action: 'abort', reason? }",
  policyName: null,
  assertFits: assertAccepts,
} satisfies GateRule;

export type BaselineAnswer = AnswerTo<typeof baselineGate>;

/** What a human reads at the gate. */
export interface ShownBaseline
  extends Pick<Baseline, 'command' | 'parts' | 'failing' | 'appeared' | 'flaky' | 'missing'> {
  /** Test cases that ran; `null` where the runner does not tell. */
  readonly cases: number | null;
  /** End of what the checks printed. */
  readonly output: string;
}

export function shownBaseline({ projectConfig, pendingSuspension }: GraphState): ShownBaseline | null {
  const { baseline } = projectConfig;
  if (baseline === undefined) return null;
  const { command, parts, failing, appeared, flaky, missing, cases } = baseline;
  return {
    command,
    failing,
    flaky,
    cases,
    output: pendingSuspension?.checkOutput ?? '',
    ...(parts && { parts }),
    ...(appeared && { appeared }),
    ...(missing !== undefined && { missing }),
  };
}

/** A program that is missing judges nothing, so there is nothing to accept; nor is what did not fail. */
function assertAccepts(given: object, { id, question }: HitlSession): void {
  const { action, failures = [] } = given as {
    readonly action?: string;
    readonly failures?: readonly string[];
  };
  if (action !== 'accept' && action !== 'first-task') return;
  const { artifact } = (question ?? {}) as { readonly artifact?: Partial<ShownBaseline> };
  const { missing, failing = [] } = artifact ?? {};
  if (missing !== undefined) {
    throw new DevsError(`The checks could not run: ${missing} is not installed.`, {
      code: 'INVALID_ANSWER',
      remedy: `Install it, or add a setup command that installs it, then answer again.`,
      context: { sessionId: id },
    });
  }
  const unknown = failures.find((name) => !failing.includes(name));
  if (unknown === undefined) return;
  throw new DevsError(`Gate "${id}" has no failure "${unknown}".`, {
    code: 'INVALID_ANSWER',
    remedy: `Use failures of this gate: ${joinNames(failing)}.`,
    context: { sessionId: id },
  });
}
