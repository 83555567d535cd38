import { CheckSuite, CommandChecks, GitWorkspace, ReplayAgents } from '@devs/agents';
import type { Checks, OrchestratorOptions } from '@devs/core';
import { REPLAY, type RunSpec } from './runSpec.ts';

/** Installing takes longer than testing. */
const SETUP_TIMEOUT_MS = 15 * 60_000;

/** @throws DevsError `CONFIG_INVALID` when a recording cannot be read. */
export function agentsFrom(
  { agents, checks, setup, repository }: RunSpec,
  dir: string,
): Pick<OrchestratorOptions, 'agents' | 'workspace' | 'checks'> {
  if (agents === 'none') return {};
  return {
    agents: ReplayAgents.open(agents.slice(REPLAY.length)),
    workspace: new GitWorkspace({
      dir,
      ...(repository !== null && { repository }),
      ...(setup !== null && { setup: new CommandChecks({ argv: setup, timeoutMs: SETUP_TIMEOUT_MS }) }),
    }),
    checks: suiteOf(checks),
  };
}

/** One check is shown as its command alone. */
function suiteOf(checks: RunSpec['checks']): Checks {
  const named = checks.map(({ name, dir, ...options }) => ({
    name,
    dir,
    checks: new CommandChecks(options),
  }));
  const [only, ...rest] = named;
  return only?.dir === '.' && rest.length === 0 ? only.checks : new CheckSuite(named);
}
