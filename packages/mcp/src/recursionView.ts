import type { ReadContext } from './StateReader.ts';

/** How close a run is to being stopped for making no progress [9_ROADMAP-RISK-401]. */
export async function recursionView({ devs, maxRecursionDepth }: ReadContext, runId: string) {
  const run = await devs.run(runId);
  const depth = await run.recursionDepth();
  return { runId, ...depth, MAX_RECURSION_DEPTH: maxRecursionDepth };
}
