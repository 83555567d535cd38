import { AsyncLocalStorageProviderSingleton } from '@langchain/core/singletons';
import { interrupt, isGraphInterrupt } from '@langchain/langgraph';

/**
 * LangGraph's ids of the first interrupts of a task of the root graph. It offers no function for it, so its `interrupt()`
 * is asked, in the place of a task that was given as many answers before.
 */
export function interruptIds(node: string, taskId: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, answered) => interruptId(`${node}:${taskId}`, answered));
}

/** Of the interrupt that a task asks after `answered` others. @param namespace - `checkpoint_ns` of the task */
export function interruptId(namespace: string, answered: number): string {
  const scratchpad = { interruptCounter: answered - 1, resume: Array.from({ length: answered }) };
  const configurable = {
    __pregel_checkpointer: true,
    __pregel_scratchpad: scratchpad,
    checkpoint_ns: namespace,
  };
  try {
    AsyncLocalStorageProviderSingleton.runWithConfig({ configurable }, () => interrupt(null));
  } catch (error) {
    if (isGraphInterrupt(error)) return error.interrupts[0]?.id ?? '';
    throw error;
  }
  return '';
}
