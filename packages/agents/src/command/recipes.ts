import type { CommandRecipe } from './CommandRecipe.ts';

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
