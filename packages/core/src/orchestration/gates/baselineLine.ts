import type { GraphState } from '../types.ts';

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
