import type { ReadContext } from './StateReader.ts';

/** How close a run is to being stopped for making no progress [9_ROADMAP-RISK-401]. */
export async function recursionView({ devs, maxRecursionDepth }: ReadContext, threadId: string) {
  const depth = await devs.view(threadId, (run) => run.recursionDepth());
  return { threadId, runId: threadId, ...depth, MAX_RECURSION_DEPTH: maxRecursionDepth };
}
