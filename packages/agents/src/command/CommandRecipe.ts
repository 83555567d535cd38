import type { CallUsage } from '@devs/core';
import type { CodingProgram } from '../coding/CodingTool.ts';

/**
 * How to call a coding CLI: prompt on stdin, files edited in place. In `argv`, `{promptFile}` becomes the path of a
 * file with the prompt.
 */
export interface CommandRecipe extends CodingProgram {
  /** `argv` inside a sandbox, for a CLI that brings its own. @defaultValue `argv` */
  readonly argvInSandbox?: readonly string[];
  /** Reads its output. @defaultValue all output is the answer */
  readonly read?: (stdout: string) => CommandReply;
}

/** Answer and cost of a coding CLI. */
export interface CommandReply {
  readonly text: string;
  readonly usage: CallUsage;
  /** Error that the CLI reports, regardless of its exit code; `null` without one. */
  readonly problem: string | null;
}

/** Known coding CLIs without the Agent Client Protocol. They must not ask questions. */
export const RECIPES = {
  // Never run: its arguments follow its documentation.
  aider: {
    name: 'aider',
    // It opens its message as a file, which a pipe is not, and keeps its histories in the folder it works in.
    argv: ['aider', '--yes-always', '--no-git', '--no-stream', '--no-pretty', '--no-check-update'].concat([
      '--no-show-release-notes',
      '--analytics-disable',
      ...['--input-history-file', '{promptFile}.inputs', '--chat-history-file', '{promptFile}.chat'],
      ...['--message-file', '{promptFile}'],
    ]),
    env: [
      'OPENAI_API_KEY',
      'OPENAI_API_BASE',
      'ANTHROPIC_API_KEY',
      'GEMINI_API_KEY',
      'DEEPSEEK_API_KEY',
      'OPENROUTER_API_KEY',
      'AIDER_MODEL',
    ],
    home: ['.aider.conf.yml'],
  },
} as const satisfies Readonly<Record<string, CommandRecipe>>;

export type RecipeName = keyof typeof RECIPES;

export const isRecipeName = (text: string): text is RecipeName => Object.hasOwn(RECIPES, text);
