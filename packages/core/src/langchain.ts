/**
 * For agents of LangChain's `createAgent`. Only this entry loads `langchain`. A name here is a promise and has a page.
 *
 * @module @devs/core/langchain
 */

export type { CallGate, CallGates } from './engine/agent/callGates.ts';
export { type RecordCallsOptions, recordCalls } from './engine/agent/recordCalls.ts';
