/**
 * The public API of @devs/mcp: a read-only view of runs for MCP clients.
 *
 * @module @devs/mcp
 */

export { OrchestratorServer, type OrchestratorServerOptions } from './OrchestratorServer.ts';
