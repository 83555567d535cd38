import path from 'node:path';
import type { AcpAgentsOptions, CommandAgentsOptions } from '@devs/agents';
import { isAcpName, isRecipeName } from '@devs/agents/internal';
import { splitCommand } from './splitCommand.ts';

const ACP = 'acp:';
const COMMAND = 'command:';

/** How a coding CLI is driven: through the Agent Client Protocol, or called with a prompt on its input. */
export type ToolKind = 'acp' | 'command';

/**
 * How the coding CLI of this name is driven: one that is known, or `acp:` or `command:` with program and arguments.
 *
 * @returns `null` for any other name.
 */
export function toolKind(text: string): ToolKind | null {
  if (isAcpName(text) || isWithProgram(text, ACP)) return 'acp';
  return isRecipeName(text) || isWithProgram(text, COMMAND) ? 'command' : null;
}

/** @throws DevsError `CONFIG_INVALID` for a command with an open quote. */
export function acpSource(name: string): AcpAgentsOptions['agent'] {
  return isAcpName(name) ? name : programOf(name.slice(ACP.length));
}

/** @throws DevsError `CONFIG_INVALID` for a command with an open quote. */
export function commandSource(name: string): CommandAgentsOptions['command'] {
  return isRecipeName(name) ? name : programOf(name.slice(COMMAND.length));
}

const isWithProgram = (text: string, prefix: string): boolean =>
  text.startsWith(prefix) && text.length > prefix.length;

function programOf(text: string): { readonly name: string; readonly argv: readonly string[] } {
  const argv = splitCommand(text);
  return { name: path.basename(argv[0] ?? text), argv };
}
