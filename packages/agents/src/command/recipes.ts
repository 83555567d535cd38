import type { CommandRecipe } from './CommandRecipe.ts';
import { claudeReply, codexReply, geminiReply } from './readReply.ts';

const codexArgv = (sandbox: string): readonly string[] => [
  'codex',
  'exec',
  '--json',
  '--skip-git-repo-check',
  '--sandbox',
  sandbox,
  '-',
];

/** In a folder that nobody has trusted it ends without a word of the model; every run has a new one. */
const geminiArgv = (mode: string): readonly string[] => [
  'gemini',
  '--output-format',
  'json',
  '--approval-mode',
  mode,
  '--skip-trust',
];

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
    argv: codexArgv('workspace-write'),
    // Its own sandbox cannot be set up within another: it would edit nothing and report success.
    argvInSandbox: codexArgv('danger-full-access'),
    // OPENAI_API_KEY is for providers of the user's config.toml that name it; without one only CODEX_API_KEY is read.
    env: ['CODEX_API_KEY', 'OPENAI_API_KEY'],
    home: ['.codex/auth.json', '.codex/config.toml'],
    read: codexReply,
  },
  gemini: {
    name: 'gemini',
    argv: geminiArgv('auto_edit'),
    // Its edit tools refuse build files (package.json, Makefile) in every mode; with this one it has a shell.
    argvInSandbox: geminiArgv('yolo'),
    env: [
      'GEMINI_API_KEY',
      'GOOGLE_API_KEY',
      'GOOGLE_GEMINI_BASE_URL',
      'GOOGLE_GENAI_USE_VERTEXAI',
      'GOOGLE_CLOUD_PROJECT',
      'GOOGLE_CLOUD_LOCATION',
    ],
    home: ['.gemini/oauth_creds.json', '.gemini/google_accounts.json', '.gemini/settings.json'],
    read: geminiReply,
  },
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
