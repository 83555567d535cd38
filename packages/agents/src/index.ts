/**
 * Agents, the git workspace and the checks.
 *
 * @module @devs/agents
 */

export type { AcpMode, AcpProgram } from './acp/AcpProgram.ts';
export { type AcpAgentsOptions, type AcpSource, acpAgents } from './acp/acpAgents.ts';
export { ACP_PROGRAMS, type AcpName, isAcpName } from './acp/programs.ts';
export { agentsPerStage } from './agentsPerStage.ts';
export { planShape } from './answers.ts';
export { CheckSuite, type NamedCheck } from './checks/CheckSuite.ts';
export { CommandChecks, type CommandChecksOptions } from './checks/CommandChecks.ts';
export { checkKind } from './checks/checkKind.ts';
export { SteadyChecks } from './checks/SteadyChecks.ts';
export type { CodingProgram } from './coding/CodingTool.ts';
export type { CodingAgentsOptions } from './coding/codingAgents.ts';
export type { CommandRecipe, CommandReply } from './command/CommandRecipe.ts';
export { type CommandAgentsOptions, type CommandSource, commandAgents } from './command/commandAgents.ts';
export { isRecipeName, RECIPES, type RecipeName } from './command/recipes.ts';
export { type Claim, readClaims } from './models/claims.ts';
export { isModelName, type ModelSettings, type ModelSource } from './models/loadChatModel.ts';
export { MODEL_STAGES, type ModelStage, NEWEST_PROMPTS, type PromptVersion } from './models/loadPrompts.ts';
export { type ModelAgentsOptions, modelAgents } from './models/modelAgents.ts';
export type { CallKey, RecordedStage, RecordedStep } from './replay/callKey.ts';
export { type AgentRequest, type Json, normaliseRequest } from './replay/normaliseRequest.ts';
export {
  type RecordedCall,
  type RecordedUsage,
  type Recording,
  type RecordingHeader,
  readRecording,
  recordingText,
} from './replay/Recording.ts';
export { ReplayAgents, type ReplayOptions } from './replay/ReplayAgents.ts';
export { recordingAgents } from './replay/recordingAgents.ts';
export { type BubblewrapOptions, bubblewrap } from './sandbox/bubblewrap.ts';
export { customSandbox } from './sandbox/customSandbox.ts';
export { bubblewrapRuns, findSandbox, type SandboxChoice } from './sandbox/findSandbox.ts';
export type { Confinement, Sandbox } from './sandbox/Sandbox.ts';
export { GitWorkspace, type GitWorkspaceOptions } from './workspace/GitWorkspace.ts';
export { hideFromStatus } from './workspace/hideFromStatus.ts';
export { resolveInside } from './workspace/pathJail.ts';
export type { FileContent, UnshownFile } from './workspace/UnshownFile.ts';
export type { FilteredFile, UncommittedFiles } from './workspace/uncommittedFiles.ts';
