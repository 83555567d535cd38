import {
  CheckSuite,
  CommandChecks,
  findSandbox,
  GitWorkspace,
  type Sandbox,
  SteadyChecks,
} from '@devs/agents';
import { checkKind } from '@devs/agents/internal';
import type { Checks, OrchestratorOptions } from '@devs/core';
import { REPLAY } from '../flags/agentNames.ts';
import { gitIdentity } from '../flags/gitAuthor.ts';
import { type RunSpec, repositoryFor } from '../flags/runSpec.ts';
import { namedAgents } from './namedAgents.ts';
import type { Session } from './Session.ts';

/** Installing takes longer than testing. */
const SETUP_TIMEOUT_MS = 15 * 60_000;

/**
 * @throws DevsError `CONFIG_INVALID` when a recording cannot be read, or a model, its package, its key or a command is
 *   missing; `SANDBOX_MISSING` when the run's sandbox does not run here.
 */
export async function agentsFrom(
  {
    checks,
    agentChecks,
    setup,
    setupInputs,
    caches,
    secrets,
    limits,
    repository,
    git,
    withChanges,
    sandbox: choice,
    ...names
  }: RunSpec,
  { dir }: Pick<Session, 'dir'>,
): Promise<
  Pick<OrchestratorOptions, 'agents' | 'workspace' | 'checks' | 'agentChecks' | 'secrets' | 'limits'>
> {
  const recorded = { ...(secrets !== undefined && { secrets }), ...(limits !== undefined && { limits }) };
  if (names.agents === 'none') return recorded;
  const sandbox = await findSandbox(choice, { project: dir });
  // What was recorded once is nobody's work of today.
  const author = names.agents.startsWith(REPLAY) ? null : await gitIdentity(dir);
  return {
    ...recorded,
    agents: await namedAgents(names, { sandbox }),
    workspace: new GitWorkspace({
      dir,
      ...(author !== null && { author }),
      ...repositoryFor({ repository, ...(git && { git }) }),
      ...(withChanges && { withChanges }),
      ...(setup !== null && { setup: setupChecks(setup, sandbox), setupArgv: setup }),
      ...(setupInputs !== undefined && { setupInputs }),
      ...(caches !== undefined && { caches }),
    }),
    checks: suiteOf(checks, sandbox),
    ...(agentChecks !== undefined && { agentChecks }),
  };
}

/** What it installs comes over the network. */
function setupChecks(argv: readonly string[], sandbox: Sandbox | null): Checks {
  return new CommandChecks({ argv, timeoutMs: SETUP_TIMEOUT_MS, sandbox, network: true });
}

/** One check is shown as its command alone. */
function suiteOf(checks: RunSpec['checks'], sandbox: Sandbox | null): Checks {
  const named = checks.map(({ name, dir, kind, retries = 2, ...options }) => ({
    name,
    dir,
    kind: kind ?? checkKind(options.argv),
    checks: new SteadyChecks(new CommandChecks({ ...options, sandbox }), retries),
  }));
  const [only, ...rest] = named;
  return only?.dir === '.' && rest.length === 0 ? only.checks : new CheckSuite(named);
}
