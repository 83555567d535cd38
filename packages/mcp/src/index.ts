// The public API of @devs/mcp: a read-only view of runs for MCP clients.

export { OrchestratorServer, type OrchestratorServerOptions } from './OrchestratorServer.ts';
export type { ErrorView } from './renderError.ts';
