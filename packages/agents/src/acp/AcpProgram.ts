import type { CodingProgram } from '../coding/CodingTool.ts';

/** Purpose of an agent's process. */
export interface AcpMode {
  /** Whether it runs in a sandbox. */
  readonly confined: boolean;
  /** Whether its stage only reads. */
  readonly readOnly: boolean;
}

/** A program that speaks the Agent Client Protocol on its standard input and output. */
export interface AcpProgram extends CodingProgram {
  /** More environment variables, by purpose. @defaultValue none */
  readonly settings?: (mode: AcpMode) => Readonly<Record<string, string>>;
  /**
   * Whether it reports the tokens of every turn; only then a budget in tokens is accepted. Set to false if they are not
   * those of the whole turn; they are then ignored. @defaultValue not known
   */
  readonly countsTokens?: boolean;
  /** Whether it reports its cost; only then a budget in dollars is accepted. @defaultValue not known */
  readonly countsCost?: boolean;
  /** The authentication method to choose, with the variable that it needs. */
  readonly auth?: { readonly method: string; readonly variable: string };
  /** The command for a login. */
  readonly login?: string;
}

/** Its own sandbox cannot be set up within another: there it would edit nothing and report success. */
function codexMode({ confined, readOnly }: AcpMode): string {
  if (confined) return 'agent-full-access';
  return readOnly ? 'read-only' : 'agent';
}

/** It asks for nothing by itself; what it is told to ask for, the policy answers. */
const OPENCODE_ASKS = JSON.stringify({
  autoupdate: false,
  share: 'disabled',
  permission: { edit: 'ask', bash: 'ask', webfetch: 'ask', websearch: 'ask', external_directory: 'ask' },
});

/** Coding CLIs that speak the protocol, directly or through their adapter. `goose` and `copilot` were never tried. */
export const ACP_PROGRAMS = {
  claude: {
    name: 'claude',
    argv: ['claude-agent-acp'],
    env: ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'ANTHROPIC_BASE_URL', 'CLAUDE_CODE_OAUTH_TOKEN'],
    // After each turn it would ask its model for what its user may type next, with the whole conversation. What it writes
    // into its memory is lost with its home, and every request describes that memory.
    settings: () => ({ CLAUDE_CODE_ENABLE_PROMPT_SUGGESTION: 'false', CLAUDE_CODE_DISABLE_AUTO_MEMORY: '1' }),
    home: ['.claude/.credentials.json', '.claude.json'],
    install: 'npm install -g @agentclientprotocol/claude-agent-acp',
    login: 'claude auth login',
    countsTokens: true,
    countsCost: true,
  },
  codex: {
    name: 'codex',
    argv: ['codex-acp'],
    env: ['CODEX_API_KEY', 'OPENAI_API_KEY'],
    settings: (mode) => ({ INITIAL_AGENT_MODE: codexMode(mode), NO_BROWSER: '1' }),
    home: ['.codex/auth.json', '.codex/config.toml'],
    auth: { method: 'api-key', variable: 'CODEX_API_KEY' },
    install: 'npm install -g @agentclientprotocol/codex-acp',
    login: 'codex login',
    countsTokens: true,
    countsCost: false,
  },
  gemini: {
    name: 'gemini',
    // In a folder that nobody has trusted it does nothing; every run has a new one.
    argv: ['gemini', '--acp', '--skip-trust'],
    env: [
      'GEMINI_API_KEY',
      'GOOGLE_API_KEY',
      'GOOGLE_GEMINI_BASE_URL',
      'GOOGLE_GENAI_USE_VERTEXAI',
      'GOOGLE_CLOUD_PROJECT',
      'GOOGLE_CLOUD_LOCATION',
    ],
    home: ['.gemini/oauth_creds.json', '.gemini/google_accounts.json', '.gemini/settings.json'],
    auth: { method: 'gemini-api-key', variable: 'GEMINI_API_KEY' },
    install: 'npm install -g @google/gemini-cli',
    login: 'gemini',
    countsTokens: true,
    countsCost: false,
  },
  opencode: {
    name: 'opencode',
    argv: ['opencode', 'acp'],
    env: ['ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'GEMINI_API_KEY', 'OPENROUTER_API_KEY', 'OPENCODE_API_KEY'],
    settings: () => ({ OPENCODE_CONFIG_CONTENT: OPENCODE_ASKS }),
    home: ['.local/share/opencode/auth.json', '.config/opencode/opencode.json'],
    install: 'npm install -g opencode-ai',
    login: 'opencode auth login',
    // It tells the tokens of the last request of a turn.
    countsTokens: false,
    countsCost: true,
  },
  // Never run: its arguments follow its documentation.
  goose: {
    name: 'goose',
    argv: ['goose', 'acp'],
    env: ['ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'GOOGLE_API_KEY', 'GOOSE_PROVIDER', 'GOOSE_MODEL'],
    settings: () => ({ GOOSE_MODE: 'approve', GOOSE_DISABLE_KEYRING: '1' }),
    home: ['.config/goose'],
    install: 'brew install block-goose-cli',
    login: 'goose configure',
  },
  // Never run: its arguments follow its documentation.
  copilot: {
    name: 'copilot',
    argv: ['copilot', '--acp'],
    env: [
      'COPILOT_GITHUB_TOKEN',
      'GH_TOKEN',
      'GITHUB_TOKEN',
      'COPILOT_MODEL',
      'COPILOT_OFFLINE',
      'COPILOT_PROVIDER_BASE_URL',
      'COPILOT_PROVIDER_TYPE',
      'COPILOT_PROVIDER_API_KEY',
    ],
    home: ['.copilot/config.json'],
    install: 'npm install -g @github/copilot',
    login: 'copilot login',
  },
} as const satisfies Readonly<Record<string, AcpProgram>>;

export type AcpName = keyof typeof ACP_PROGRAMS;

export const isAcpName = (text: string): text is AcpName => Object.hasOwn(ACP_PROGRAMS, text);
