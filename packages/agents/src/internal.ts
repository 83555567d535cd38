/**
 * For the command alone: no name here is a promise, any release may change it. The layer check keeps everybody else out.
 *
 * @module @devs/agents/internal
 */

export { ACP_PROGRAMS, isAcpName } from './acp/AcpProgram.ts';
export { planShape } from './answers.ts';
export { checkKind } from './checks/checkKind.ts';
export { isRecipeName, RECIPES } from './command/CommandRecipe.ts';
export { askGit } from './git/gitCommand.ts';
export { isModelName } from './models/loadChatModel.ts';
export { MODEL_STAGES, type ModelStage, NEWEST_PROMPTS } from './models/loadPrompts.ts';
export { type FoundNetworkSettings, findNetworkSettings } from './process/networkSettings.ts';
export type { UnshownFile } from './workspace/CommitDiff.ts';
export { hideFromStatus } from './workspace/engineFiles.ts';
export type { FilteredFile } from './workspace/uncommittedFiles.ts';
