import { type Run, secretRegistry } from '@devs/core';
import { REPOSITORY_URL } from '../config/ProjectConfig.ts';
import { repositoryAround } from '../config/repositoryAround.ts';
import { newSpec, parseSpec, type RunSpec, resumedSpec, type SpecFlags, specHere } from '../flags/runSpec.ts';
import { type AcceptOptions, acceptedConfig } from './acceptedConfig.ts';
import { acceptedStateFile } from './acceptedStateFile.ts';
import { withRuns } from './openProject.ts';
import type { Session } from './Session.ts';

/**
 * The repository a recorded run works for. That is the one its project is: a project that was moved has it with it, and a
 * copy never works for the original.
 */
export const repositoryIn = (dir: string, { repository }: Pick<RunSpec, 'repository'>): string | null =>
  repository !== null && !REPOSITORY_URL.test(repository) && repositoryAround(dir) === dir ? dir : repository;

/** Who works on a run that is there: as it was started, where no flag says otherwise. */
export async function specOf(
  id: string,
  flags: SpecFlags,
  session: Session,
  asking: AcceptOptions = {},
): Promise<RunSpec> {
  const { io, dir } = session;
  await acceptedStateFile(session, asking);
  const agentsRef = await withRuns(session, async (devs) => (await devs.run(id)).agentsRef());
  const recorded = parseSpec(agentsRef);
  if (recorded !== null)
    return resumedSpec(flags, io.cwd, {
      ...specHere(recorded, dir),
      repository: repositoryIn(dir, recorded),
    });
  return newSpec(flags, { cwd: io.cwd, dir, config: await acceptedConfig(session, asking) });
}

/** From here on this process masks at least as broadly as the run was started to. */
export async function maskAsRecorded(run: Pick<Run, 'agentsRef'>): Promise<void> {
  if (parseSpec(await run.agentsRef())?.secrets?.mask === 'broad') secretRegistry.maskBroadly();
}
