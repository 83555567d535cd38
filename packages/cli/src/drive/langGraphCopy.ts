import { type AgentNames, areModels } from '../flags/agentNames.ts';
import type { Session } from '../project/Session.ts';

let isOwn = false;

/**
 * Call it before the engine loads LangGraph. The published command has a copy inside (`scripts/langGraphDoor.mjs`) that loads in a
 * third of the time. A model's package shares `@langchain/core` with the installed one. A program that calls `main` may name a model later.
 */
export function chooseLangGraph(names: AgentNames, { io }: Pick<Session, 'io'>): void {
  isOwn ||= io.isWholeProcess === true && !areModels(names);
}

/** Read by the published command alone. */
export const hasOwnLangGraph = (): boolean => isOwn;
