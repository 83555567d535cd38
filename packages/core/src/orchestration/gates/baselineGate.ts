import { z } from 'zod';
import { lateSchema } from '../../config/lateSchema.ts';
import { optionalText } from '../../engine/gates/answerForms.ts';
import type { AnswerTo, GateRule } from '../../engine/gates/answers.ts';
import type { AppliedAnswer } from '../../engine/graph/NodeEngine.ts';
import { DevsError } from '../../errors/DevsError.ts';
import type { HitlSession } from '../../state/gates/hitlSession.ts';
import { type Baseline, comparableFailures, joinNames } from '../checks/CheckSummary.ts';
import { withDocuments } from '../nodes/documents.ts';
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

/** The content of the gate. */
export interface ShownBaseline
  extends Pick<Baseline, 'command' | 'parts' | 'failing' | 'appeared' | 'flaky' | 'missing'> {
  /** Test cases that ran; `null` where the runner does not tell. */
  readonly cases: number | null;
  /** End of the checks' output. */
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

/**
 * What a human's word on red checks changes. `again`: they run once more. `first-task`: agents are told to mend them
 * first. `accept`: what was named may go on failing. `research` goes on with each of them.
 */
export function applyBaseline(state: GraphState, answer: BaselineAnswer): AppliedAnswer<GraphState> {
  const { baseline, failedBefore: _, ...config } = state.projectConfig;
  const asked = { pendingSuspension: null };
  if (answer.action === 'again' || baseline === undefined) {
    const failedBefore = baseline && comparableFailures(baseline);
    return {
      update: { ...asked, projectConfig: { ...config, ...(failedBefore && { failedBefore }) } },
      runNode: true,
    };
  }
  if (answer.action === 'accept') {
    const accepted = answer.failures ?? baseline.failing;
    return {
      update: { ...asked, projectConfig: { ...config, baseline: { ...baseline, accepted } } },
      runNode: true,
    };
  }
  const documents = withDocuments(state, [toBeMended(baseline.command, baseline.failing)], config.updatedAt);
  return { update: { ...asked, documents }, runNode: true };
}

function toBeMended(command: string, failing: readonly string[]) {
  const names = failing.map((name) => `- ${name}`).join('\n');
  return {
    type: 'BASELINE',
    title: 'The checks are red before any work',
    content: `\`${command}\` fails on the untouched repository. Before anything else is done, these are mended, by a task of their own that all others depend on:\n\n${names}\n`,
  };
}

/** How the checks went before any work, for the question of a gate; empty where they were not run. */
export function baselineLine({ projectConfig: { baseline } }: Pick<GraphState, 'projectConfig'>): string {
  if (baseline === undefined) return '';
  const { command, failing, accepted, flaky, cases } = baseline;
  if (baseline.nothing === true) return ` Before any work there was nothing to check yet (${command}).`;
  const ran = cases === null ? '' : `, ${cases} test cases ran`;
  const state =
    failing.length === 0 ? 'passed' : `failed (${failing.length}, ${accepted.length} of them accepted)`;
  const unsteady = flaky.length === 0 ? '' : `, flaky: ${flaky.length}`;
  return ` Before any work ${command} ${state}${ran}${unsteady}.`;
}
