import { DevsError } from '../../errors/DevsError.ts';
import { isOfExecution } from '../../state/StepStore.ts';
import type { EngineStore } from '../EngineStore.ts';

/** What the run would do next, as LangGraph describes it. */
export interface NextNodes {
  getState(config: { readonly configurable: { readonly thread_id: string } }): Promise<{
    readonly tasks: readonly { readonly id: string; readonly name: string }[];
  }>;
}

export interface IdleDeps {
  readonly store: EngineStore;
  readonly graph: NextNodes;
}

/**
 * Refuses to change what the next visit of a run starts from when the visit has recorded work: it would undo the change.
 * Call it while the run is held.
 *
 * @throws DevsError `WORKSPACE_BUSY` when the run stands in the middle of such a visit.
 */
export async function assertBetweenNodes(threadId: string, { store, graph }: IdleDeps): Promise<void> {
  const { tasks } = await graph.getState({ configurable: { thread_id: threadId } });
  const steps = store.steps.listForThread(threadId).filter(({ kind }) => kind === 'work');
  const begun = tasks.find(({ id }) => steps.some((step) => isOfExecution(step, id)));
  if (begun !== undefined) throw inTheMiddle(threadId, begun.name);
}

const inTheMiddle = (threadId: string, node: string): DevsError =>
  new DevsError(`Run "${threadId}" stopped inside node "${node}", which must finish first.`, {
    code: 'WORKSPACE_BUSY',
    remedy: 'Resume the run until it waits at a gate or has ended, then try again.',
    context: { threadId, node },
  });
