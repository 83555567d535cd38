import { DevsError } from '../../errors/DevsError.ts';
import type { Lease } from '../../state/ThreadStore.ts';
import type { EngineStore } from './EngineStore.ts';
import { holdLease } from './LeaseKeeper.ts';

/** What the run would do next, as LangGraph describes it. */
export interface NextVisits {
  getState(config: { readonly configurable: { readonly thread_id: string } }): Promise<{
    readonly tasks: readonly { readonly id: string; readonly name: string }[];
  }>;
}

export interface IdleDeps {
  readonly store: EngineStore;
  readonly graph: NextVisits;
}

/**
 * Holds a run while `work` changes what its next visit starts from. A visit that has recorded work would undo the change.
 *
 * @throws DevsError `WORKSPACE_BUSY` when the run stands in the middle of such a visit; `THREAD_BUSY`, `THREAD_NOT_FOUND`.
 */
export async function betweenVisits<T>(
  threadId: string,
  { store, graph }: IdleDeps,
  work: (lease: Lease) => Promise<T>,
): Promise<T> {
  store.threads.require(threadId);
  const held = await holdLease(store.threads, threadId);
  try {
    const { tasks } = await graph.getState({ configurable: { thread_id: threadId } });
    const steps = store.steps.listForThread(threadId).filter(({ kind }) => kind === 'work');
    const begun = tasks.find(({ id }) => steps.some(({ lgTaskId }) => lgTaskId === id));
    if (begun !== undefined) throw inTheMiddle(threadId, begun.name);
    return await work(held.lease);
  } finally {
    held.stop();
  }
}

const inTheMiddle = (threadId: string, node: string): DevsError =>
  new DevsError(`Run "${threadId}" stopped in the middle of "${node}", which goes on from its own files.`, {
    code: 'WORKSPACE_BUSY',
    remedy: 'Resume the run until it waits for a human or has ended, then try again.',
    context: { threadId, node },
  });
