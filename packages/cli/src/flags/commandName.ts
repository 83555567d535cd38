import path from 'node:path';
import { type CommandSource, isRecipeName } from '@devs/agents';
import { splitCommand } from './splitCommand.ts';

const COMMAND = 'command:';

/** Whether `text` names a coding CLI: one that is known, or `command:` and program and arguments. */
export function isCommandName(text: string): boolean {
  return isRecipeName(text) || (text.startsWith(COMMAND) && text.length > COMMAND.length);
}

/** @throws DevsError `CONFIG_INVALID` for a command with an open quote. */
export function commandSource(name: string): CommandSource {
  if (isRecipeName(name)) return name;
  const argv = splitCommand(name.slice(COMMAND.length));
  return { name: path.basename(argv[0] ?? name), argv };
}
