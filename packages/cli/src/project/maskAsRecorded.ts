import { type Run, secretRegistry } from '@devs/core';
import { parseSpec } from '../flags/runSpec.ts';

/** From here on this process masks at least as broadly as the run was started to. */
export async function maskAsRecorded(run: Pick<Run, 'agentsRef'>): Promise<void> {
  if (parseSpec(await run.agentsRef())?.secrets?.mask === 'broad') secretRegistry.maskBroadly();
}
