/**
 * The public API of @devs/server: LangGraph's HTTP API over durable apps, as a fetch handler.
 *
 * @module @devs/server
 */

export type { ActedOn, Action, Authorize, OwnedRun, OwnerFields, Verdict } from './access/Access.ts';
export { createServer, type ServerHandler, type ServerLimits, type ServerOptions } from './createServer.ts';
