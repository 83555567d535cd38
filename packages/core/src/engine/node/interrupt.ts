import { interrupt as langGraphInterrupt } from '@langchain/langgraph';
import { WithheldAnswers } from './WithheldAnswers.ts';

/**
 * LangGraph's `interrupt()`, for nodes of a durable graph that ask several questions. The call compares its
 * question with that of the answer, so the node runs once for each answer. Outside a durable run it is LangGraph's.
 */
export const interrupt: typeof langGraphInterrupt = (value, options) => {
  WithheldAnswers.handOver(value);
  return langGraphInterrupt(value, options);
};
