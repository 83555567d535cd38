import type { CommandRecipe } from './CommandRecipe.ts';
import { claudeReply, codexReply, geminiReply } from './readReply.ts';

/** Coding CLIs that are known by name. None may ask: nobody sits in front of them. */
export const RECIPES = {
  claude: {
    name: 'claude',
    argv: ['claude', '-p', '--output-format', 'json', '--permission-mode', 'acceptEdits'],
    env: ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'ANTHROPIC_BASE_URL', 'CLAUDE_CODE_OAUTH_TOKEN'],
    home: ['.claude/.credentials.json', '.claude.json'],
    read: claudeReply,
  },
  codex: {
    name: 'codex',
    argv: ['codex', 'exec', '--json', '--skip-git-repo-check', '--sandbox', 'workspace-write', '-'],
    env: ['OPENAI_API_KEY', 'CODEX_API_KEY', 'OPENAI_BASE_URL'],
    home: ['.codex/auth.json', '.codex/config.toml'],
    read: codexReply,
  },
  gemini: {
    name: 'gemini',
    argv: ['gemini', '--output-format', 'json', '--approval-mode', 'auto_edit'],
    env: ['GEMINI_API_KEY', 'GOOGLE_API_KEY', 'GOOGLE_GENAI_USE_VERTEXAI', 'GOOGLE_CLOUD_PROJECT'],
    home: ['.gemini/oauth_creds.json', '.gemini/google_accounts.json', '.gemini/settings.json'],
    read: geminiReply,
  },
  aider: {
    name: 'aider',
    // It opens its message as a file, which a pipe is not.
    argv: ['aider', '--yes-always', '--no-git', '--no-stream', '--no-pretty', '--no-check-update'].concat([
      '--no-show-release-notes',
      '--analytics-disable',
      '--message-file',
      '{promptFile}',
    ]),
    env: [
      'OPENAI_API_KEY',
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
