import type { AppliedAnswer } from '../../engine/GraphProfile.ts';
import { comparableFailures } from '../checks/CheckSummary.ts';
import { withDocuments } from '../nodes/documents.ts';
import type { GraphState } from '../types.ts';
import type { BaselineAnswer } from './baselineGate.ts';

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
