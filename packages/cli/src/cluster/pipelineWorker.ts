import { loadOrchestratorConfig, Orchestrator, type RunDriver, type Runs } from '@devs/core';
import { newSpec, type RunSpec } from '../flags/runSpec.ts';
import { acceptedConfig } from '../project/acceptedConfig.ts';
import { agentsFrom } from '../project/agentsFrom.ts';
import type { Session } from '../project/Session.ts';

/** What the pipeline is driven with on this machine: as the configuration of its project says, like `devs run`. */
export async function workerSpec(session: Session): Promise<RunSpec> {
  const { io, dir } = session;
  return newSpec({}, { cwd: io.cwd, dir, config: await acceptedConfig(session) });
}

/**
 * The pipeline, to be driven over `runs` by a worker in a project folder.
 *
 * @throws DevsError as `devs run`, for a configuration, agents or a sandbox that cannot be used here.
 */
export async function pipelineDriver(runs: Runs, session: Session): Promise<RunDriver> {
  const working = await agentsFrom(await workerSpec(session), session);
  const config = loadOrchestratorConfig(session.io.env, (text) => session.out.note(text));
  const prices = session.io.env['DEVS_PRICES']?.trim();
  const devs = await Orchestrator.open({ runs, config, ...(prices && { prices }), ...working });
  return devs.driver();
}
