import { interrupt as langGraphInterrupt } from '@langchain/langgraph';
import { WithheldAnswers } from './WithheldAnswers.ts';

/**
 * LangGraph's `interrupt()`, for nodes of a durable graph that ask several questions. An answer is compared with what the
 * call asks now, so the node does not run once more for it. Outside a durable run it is LangGraph's.
 */
export const interrupt: typeof langGraphInterrupt = (value, options) => {
  WithheldAnswers.handOver(value);
  return langGraphInterrupt(value, options);
};
