/**
 * For agents of LangChain's `createAgent`. Only this entry loads `langchain`. A name here is a promise and has a page.
 *
 * @module @devs/core/langchain
 */

export { recordCalls, recordedSubagents } from './engine/agent/recordCalls.ts';
