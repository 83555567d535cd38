import type { Baseline } from './CheckSummary.ts';
import { listed } from './listed.ts';

/** The project's checks and how they went before any work, for agents. */
export function baselineWords(baseline: Baseline): string {
  const { command, parts = [], failing, accepted, flaky, missing, nothing } = baseline;
  const kinds = parts.map(({ name, kind }) => `${name} (${kind})`).join(', ');
  const lines = [`The checks: ${command}${kinds === '' ? '' : `, made of ${kinds}`}.`];
  if (nothing === true) return [...lines, 'There was nothing for them to check yet.'].join('\n');
  if (missing !== undefined) lines.push(`They could not run: ${missing} is not there.`);
  const open = failing.filter((name) => !accepted.includes(name));
  if (failing.length === 0 && missing === undefined) lines.push('Before any work they passed.');
  if (open.length > 0) lines.push(`Before any work these failed: ${listed(open)}.`);
  if (accepted.length > 0)
    lines.push(`These failed too, and a person accepted that they may go on failing: ${listed(accepted)}.`);
  if (flaky.length > 0) lines.push(`Flaky, failed and passed on the same files: ${listed(flaky)}.`);
  return lines.join('\n');
}
