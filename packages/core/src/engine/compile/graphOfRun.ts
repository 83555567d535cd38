import { DevsError } from '../../errors/DevsError.ts';
import type { Policies } from '../../state/threads/ThreadStore.ts';
import type { EngineStore } from '../EngineStore.ts';

/** Among a run's policies. */
const RECORDED_AS = 'graphName';

/** What a run says of the graph that it was started with, for its policies. */
export const recordedAs = (name: string | undefined): Policies =>
  name === undefined ? {} : { [RECORDED_AS]: name };

/** Whether a run is one of a graph; one that was recorded without a name may be. */
export function isOfGraph(
  name: string,
  threadId: string,
  { threads }: Pick<EngineStore, 'threads'>,
): boolean {
  const recorded = threads.get(threadId)?.policies[RECORDED_AS];
  return recorded === undefined || recorded === name;
}

/** Whether a run is driven by who drives a queue: of its graph, in its shape. */
export const isInQueue = (
  { graph, fingerprint }: { readonly graph: string; readonly fingerprint: string },
  threadId: string,
  store: Pick<EngineStore, 'threads'>,
): boolean =>
  store.threads.require(threadId).graphFingerprint === fingerprint && isOfGraph(graph, threadId, store);

/**
 * Two graphs of one shape are two graphs.
 *
 * @param threadIds - A run, and others of its file by one of which it may be meant: a child is its own graph's and its
 *   parent's.
 * @throws DevsError `THREAD_NOT_FOUND` for a run of another graph.
 */
export function assertOfGraph(
  name: string | undefined,
  threadIds: readonly [string, ...string[]],
  store: Pick<EngineStore, 'threads'>,
): void {
  if (name === undefined || threadIds.some((id) => isOfGraph(name, id, store))) return;
  const [threadId] = threadIds;
  throw new DevsError(`Run "${threadId}" does not belong to the graph "${name}".`, {
    code: 'THREAD_NOT_FOUND',
    remedy:
      'Use the app of its graph, or another id for the new run. If the graph was renamed, accept its runs with acceptGraph().',
    context: { threadId, graph: name },
  });
}
