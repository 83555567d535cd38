import type { AcpName } from '../../src/acp/AcpProgram.ts';
import type { RecipeName } from '../../src/command/CommandRecipe.ts';
import { anthropicProtocol } from './anthropicProtocol.ts';
import { chatProtocol } from './chatProtocol.ts';
import { geminiProtocol } from './geminiProtocol.ts';
import { responsesProtocol } from './responsesProtocol.ts';
import { AFTER, BEFORE, type Editor, FILE } from './sumTask.ts';
import type { Protocol, Say } from './Turn.ts';

/** A coding CLI as its registry has it, and what a user would set up to have it talk to another server. */
export interface CodingCli {
  /** Driven through the protocol where it speaks it, otherwise called by its recipe. */
  readonly name: AcpName | RecipeName;
  readonly source: { readonly registry: 'npm' | 'pip'; readonly package: string; readonly version: string };
  readonly protocol: Protocol;
  /** Variable that holds the key. */
  readonly key: string;
  readonly env: (url: string) => Readonly<Record<string, string>>;
  /** Files of its user's home, by path. */
  readonly home: (url: string) => Readonly<Record<string, string>>;
  readonly editor: Editor;
  /** What it says about its cost; `words`: nothing, but its last words can be told from what it prints. */
  readonly reports: 'dollars and tokens' | 'tokens' | 'words' | 'nothing';
  /** Requests that it leaves out of that at most: a title, also of the session before, the choice of its model. @defaultValue 0 */
  readonly uncounted?: number;
}

const call = (name: string, input: unknown): Say => ({ kind: 'call', name, input });
const REPLACED = { old_string: BEFORE.trim(), new_string: AFTER.trim() };
const NOTHING = (): Readonly<Record<string, string>> => ({});

export const claude: CodingCli = {
  name: 'claude',
  source: { registry: 'npm', package: '@agentclientprotocol/claude-agent-acp', version: '0.101.0' },
  protocol: anthropicProtocol,
  key: 'ANTHROPIC_API_KEY',
  env: (url) => ({ ANTHROPIC_BASE_URL: url }),
  home: NOTHING,
  editor: {
    create: (files) =>
      Object.entries(files).map(([path, content]) => call('Write', { file_path: path, content })),
    edit: [
      call('Read', { file_path: FILE }),
      call('Edit', { file_path: FILE, ...REPLACED, replace_all: false }),
    ],
  },
  reports: 'dollars and tokens',
  uncounted: 2,
};

const patch = (header: string, hunk: string): Say =>
  call('exec_command', {
    cmd: `apply_patch <<'PATCH'
*** Begin Patch
*** ${header}
${hunk}
*** End Patch
PATCH`,
  });

const linesOf = (sign: string, content: string): string => content.trimEnd().replace(/^/gm, sign);

const codex: CodingCli = {
  name: 'codex',
  source: { registry: 'npm', package: '@agentclientprotocol/codex-acp', version: '2.6.0' },
  protocol: responsesProtocol,
  key: 'CODEX_API_KEY',
  env: NOTHING,
  home: (url) => ({
    '.codex/config.toml': `model = "local"
model_provider = "local"

[model_providers.local]
name = "local"
base_url = "${url}/v1"
wire_api = "responses"
env_key = "CODEX_API_KEY"
`,
  }),
  editor: {
    create: (files) =>
      Object.entries(files).map(([path, content]) => patch(`Add File: ${path}`, linesOf('+', content))),
    edit: [
      patch(
        `Update File: ${FILE}`,
        `@@
${linesOf('-', BEFORE)}
${linesOf('+', AFTER)}`,
      ),
    ],
  },
  reports: 'tokens',
  uncounted: 2,
};

const gemini: CodingCli = {
  name: 'gemini',
  source: { registry: 'npm', package: '@google/gemini-cli', version: '0.61.0' },
  protocol: geminiProtocol,
  key: 'GEMINI_API_KEY',
  env: (url) => ({ GOOGLE_GEMINI_BASE_URL: url }),
  // With another address it takes the key for none, unless it is told that there is one.
  home: () => ({ '.gemini/settings.json': '{"security":{"auth":{"selectedType":"gemini-api-key"}}}\n' }),
  editor: {
    create: (files) =>
      Object.entries(files).map(([path, content]) => call('write_file', { file_path: path, content })),
    edit: [
      call('read_file', { file_path: FILE }),
      call('replace', { file_path: FILE, instruction: 'Add.', ...REPLACED }),
    ],
  },
  reports: 'tokens',
  uncounted: 1,
};

const opencode: CodingCli = {
  name: 'opencode',
  source: { registry: 'npm', package: 'opencode-ai', version: '1.18.33' },
  protocol: anthropicProtocol,
  key: 'ANTHROPIC_API_KEY',
  env: NOTHING,
  home: (url) => ({
    '.config/opencode/opencode.json': JSON.stringify({
      model: 'local/claude-sonnet-4-5',
      small_model: 'local/claude-sonnet-4-5',
      provider: {
        local: {
          npm: '@ai-sdk/anthropic',
          name: 'Local',
          options: { baseURL: `${url}/v1`, apiKey: '{env:ANTHROPIC_API_KEY}' },
          models: { 'claude-sonnet-4-5': { name: 'Local', limit: { context: 200_000, output: 32_000 } } },
        },
      },
    }),
  }),
  editor: {
    create: (files) =>
      Object.entries(files).map(([path, content]) => call('write', { filePath: path, content })),
    edit: [
      call('read', { filePath: FILE }),
      call('edit', { filePath: FILE, oldString: BEFORE.trim(), newString: AFTER.trim() }),
    ],
  },
  reports: 'words',
};

const FENCE = '```';

const wholes = (files: Readonly<Record<string, string>>): Say => ({
  kind: 'text',
  text: Object.entries(files)
    .map(([path, content]) => `${path}\n${FENCE}\n${content}${FENCE}\n`)
    .join('\n'),
});

const aider: CodingCli = {
  name: 'aider',
  source: { registry: 'pip', package: 'aider-chat', version: '0.86.2' },
  protocol: chatProtocol,
  key: 'OPENAI_API_KEY',
  env: (url) => ({ OPENAI_API_BASE: `${url}/v1`, AIDER_MODEL: 'openai/local' }),
  home: NOTHING,
  editor: { create: (files) => [wholes(files)], edit: [wholes({ [FILE]: AFTER })] },
  reports: 'nothing',
};

export const CODING_CLIS: readonly CodingCli[] = [claude, codex, gemini, opencode, aider];
