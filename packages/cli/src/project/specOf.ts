import { newSpec, parseSpec, type RunSpec, resumedSpec, type SpecFlags } from '../flags/runSpec.ts';
import { acceptedConfig } from './acceptedConfig.ts';
import { withRuns } from './openProject.ts';
import type { Session } from './Session.ts';

/** Who works on a run that is there: as it was started, where no flag says otherwise. */
export async function specOf(id: string, flags: SpecFlags, session: Session): Promise<RunSpec> {
  const { io, dir } = session;
  const agentsRef = await withRuns(session, async (devs) => (await devs.run(id)).agentsRef());
  const recorded = parseSpec(agentsRef);
  if (recorded !== null) return resumedSpec(flags, io.cwd, recorded);
  return newSpec(flags, { cwd: io.cwd, dir, config: await acceptedConfig(session) });
}
