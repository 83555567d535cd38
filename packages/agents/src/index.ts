/**
 * Agents, the git workspace and the checks. A name here is a promise and has a page.
 *
 * @module @devs/agents
 */

export { type AcpAgentsOptions, acpAgents } from './acp/acpAgents.ts';
export { agentsPerStage } from './agentsPerStage.ts';
export { CheckSuite } from './checks/CheckSuite.ts';
export { CommandChecks, type CommandChecksOptions } from './checks/CommandChecks.ts';
export { SteadyChecks } from './checks/SteadyChecks.ts';
export { type CommandAgentsOptions, commandAgents } from './command/commandAgents.ts';
export { type ModelAgentsOptions, modelAgents } from './models/modelAgents.ts';
export { ReplayAgents } from './replay/ReplayAgents.ts';
export { recordingAgents } from './replay/recordingAgents.ts';
export { bubblewrap } from './sandbox/bubblewrap.ts';
export { findSandbox } from './sandbox/findSandbox.ts';
export { customSandbox, type Sandbox } from './sandbox/Sandbox.ts';
export { GitWorkspace, type GitWorkspaceOptions } from './workspace/GitWorkspace.ts';
