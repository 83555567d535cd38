import { type AgentNames, areModels } from '../flags/agentNames.ts';
import type { Session } from '../project/Session.ts';

let isOwn = false;

/**
 * Says, before the first of its files is loaded, that the engine of this process may take the LangGraph that is in the published
 * command (`scripts/langGraphDoor.mjs`), which starts in less than half the time. Agents that are models need the installed one:
 * their packages share its `@langchain/core`. So does a process that is not this command alone, which may load a model later.
 */
export function chooseLangGraph(names: AgentNames, { io }: Pick<Session, 'io'>): void {
  isOwn ||= io.isWholeProcess === true && !areModels(names);
}

/** What the published command asks as it loads LangGraph. In the sources there is only the installed one. */
export const hasOwnLangGraph = (): boolean => isOwn;
