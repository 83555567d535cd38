import { MODEL_STAGES } from '@devs/agents/internal';
import type { Limits } from '@devs/core';
import { DEFAULT_LIMITS, eachMeasure, MAX_LIMITS } from '@devs/core/internal';
import { z } from 'zod';
import { environmentSchema, environmentSettings } from './environmentSettings.ts';
import { insideProject } from './insideProject.ts';

const argv = z.array(z.string().min(1)).min(1).describe('Program and arguments; no shell.');

/** What every machine reaches under the same name. */
export const REPOSITORY_URL = /^(?:https?|ssh|git|file):\/\/\S+$/;

const check = {
  name: z.string().min(1).describe('Name in messages when it fails.'),
  dir: insideProject.default('.').describe('Working folder, relative to the top of the repository.'),
  argv,
  kind: z
    .enum(['test', 'types', 'lint'])
    .exactOptional()
    .describe(
      'Kind of check; default: derived from its program. A lint error does not count as a failing test.',
    ),
  report: insideProject
    .exactOptional()
    .describe('File it writes its test cases to: JUnit XML, or JSON of Vitest or Jest.'),
  retries: z
    .int()
    .min(0)
    .max(2)
    .exactOptional()
    .describe('How many times to repeat a failing check on the same tree; default 2.'),
  parallel: z
    .boolean()
    .exactOptional()
    .describe(
      'Run it beside the other checks; it must only read. Default: true for linters and for types with --noEmit.',
    ),
  timeoutMs: z.int().positive().default(120_000).describe('Milliseconds.'),
  network: z
    .boolean()
    .exactOptional()
    .describe('Let it use the network, with your proxy, certificate and registry settings; default false.'),
};

/** One command that judges the work. */
export const checkSchema = z.strictObject({ ...check, ...environmentSettings });

/** The same in the record of a run, without an environment. */
export const recordedCheckSchema = z.strictObject(check);

/** What prepares the clone of a run: a command, or one that reads more than manifests and lockfiles. */
export const setupSchema = z.union([
  argv,
  z.strictObject({
    argv,
    inputs: z
      .array(insideProject)
      .exactOptional()
      .describe(
        'Git patterns, from the top of the repository: setup runs again when a matching file changes.',
      ),
    network: z
      .boolean()
      .exactOptional()
      .describe('Let it use the network, with your proxy, certificate and registry settings; default true.'),
    ...environmentSettings,
  }),
]);

/** Where checks may keep things from one to the next. */
export const cachesSchema = z.array(insideProject);

/** How often a model may run the checks within one call. */
export const agentChecksSchema = z.int().min(0);

/** What is masked before it enters the state. */
export const secretsSchema = z.strictObject({
  mask: z
    .enum(['precise', 'broad'])
    .default('precise')
    .describe('"broad" also masks values by their name, such as password=…; this can change code and prose.'),
});

/** What of the user's own configuration of git is started. */
export const gitSchema = z.strictObject({
  credentials: z
    .boolean()
    .default(false)
    .describe('Use your credential helpers, askpass and ssh command when "repository" is a URL.'),
  sign: z
    .boolean()
    .default(false)
    .describe('Sign the commits of tasks with the program and the key of your own git configuration.'),
  hooks: z
    .boolean()
    .default(false)
    .describe('Run pre-commit and commit-msg of the repository, in the sandbox of the checks.'),
});

/** What confines the commands of a run. */
export const sandboxSchema = z.union([z.enum(['bwrap', 'none']), argv]).default('bwrap');

const budgetLimits = eachMeasure(({ kind, member }) =>
  (kind === 'money' ? z.number() : z.int()).positive().exactOptional().describe(member),
);

const limitedNumber = (name: keyof Limits, what: string) =>
  z.int().positive().max(MAX_LIMITS[name]).exactOptional().describe(what);

/** How large may be what is recorded of a run. */
export const limitsSchema = z.strictObject({
  valueBytes: limitedNumber('valueBytes', 'Largest single write, such as a plan; default: channelBytes.'),
  channelBytes: limitedNumber(
    'channelBytes',
    `Largest channel of the state, such as the tasks; default ${DEFAULT_LIMITS.channelBytes}.`,
  ),
  checkpointBytes: limitedNumber(
    'checkpointBytes',
    `Largest total state; default ${DEFAULT_LIMITS.checkpointBytes}.`,
  ),
  stepBytes: limitedNumber(
    'stepBytes',
    `Largest result of one agent call; default ${DEFAULT_LIMITS.stepBytes}.`,
  ),
  answerBytes: limitedNumber('answerBytes', `Largest edited text; default ${DEFAULT_LIMITS.answerBytes}.`),
  signalBytes: limitedNumber('signalBytes', `Largest signal payload; default ${DEFAULT_LIMITS.signalBytes}.`),
  chunkBytes: limitedNumber('chunkBytes', `Largest stream chunk; default ${DEFAULT_LIMITS.chunkBytes}.`),
  depth: limitedNumber('depth', `Deepest nesting of a value; default ${DEFAULT_LIMITS.depth}.`),
});

/** After what the committed code is shown to a human. */
export const REVIEWS = ['none', 'epic', 'task'] as const;

const gate = z.enum(['human', 'auto']);

/** `.devs/config.json`: how runs of this project are done. Flags of a command win over it. */
export const projectConfigSchema = z.strictObject({
  $schema: z.string().exactOptional(),
  agents: z
    .string()
    .min(1)
    .exactOptional()
    .describe(
      'Agents: PROVIDER:MODEL, claude, codex, gemini, opencode, goose, copilot and aider (the last three are untested), acp:…, command:…, replay:FILE or none.',
    ),
  stages: z
    .partialRecord(z.enum(MODEL_STAGES), z.string())
    .exactOptional()
    .describe('Models and coding CLIs for single stages.'),
  agentEnv: z
    .record(z.string().min(1), environmentSchema)
    .exactOptional()
    .describe('Variables for coding CLIs, by their name as in "agents" or "stages".'),
  agentReports: z
    .record(z.string().min(1), z.array(z.enum(['tokens', 'cost'])))
    .exactOptional()
    .describe(
      'Figures that coding CLIs report, by their name as in "agents" or "stages": only then a budget of these is accepted. For acp:…, goose and copilot.',
    ),
  repository: z
    .union([z.boolean(), z.string().regex(REPOSITORY_URL, 'Expected a URL such as https://… or ssh://…')])
    .default(true)
    .describe(
      'true: start runs from the checked-out commit of this repository. A URL: start from that repository, which every worker of a cluster must reach.',
    ),
  git: gitSchema
    .exactOptional()
    .describe(
      'Programs of your own git configuration that may run. Programs configured by a repository never run.',
    ),
  research: z
    .boolean()
    .default(true)
    .describe('Write research reports before the design; false: design from the brief alone.'),
  setup: setupSchema.exactOptional().describe('Prepares the clone of a run before the first command.'),
  caches: cachesSchema
    .exactOptional()
    .describe('Paths, from the top of the repository, to keep between checks.'),
  checks: z
    .array(checkSchema)
    .default([])
    .describe('Commands that check the work, in this order; all must pass.'),
  agentChecks: agentChecksSchema
    .exactOptional()
    .describe(
      'How many times a model may run the checks on its edits within one call; default 3, 0 for never.',
    ),
  sandbox: sandboxSchema.describe(
    'Sandbox for checks and coding CLIs: "bwrap", your own program with arguments, or "none".',
  ),
  gates: z
    .strictObject({
      design: gate.default('human'),
      dag: gate.default('human'),
      review: gate.default('human'),
    })
    .default({ design: 'human', dag: 'human', review: 'human' })
    .describe('Approval of design, plan and reviewed code; "auto" approves by policy, which is recorded.'),
  review: z
    .enum(REVIEWS)
    .default('none')
    .describe('When to ask for a code review: after every task, after every epic, or never.'),
  documents: z
    .strictObject({
      inBranch: z
        .boolean()
        .default(false)
        .describe('Commit the documents and the plan of a run to its branch, in docs/devs/RUN/.'),
    })
    .exactOptional()
    .describe('Storage of the documents of a run.'),
  secrets: secretsSchema.exactOptional().describe('Masking of secrets before they enter the state.'),
  budget: z
    .strictObject({ ...budgetLimits, perTask: z.strictObject(budgetLimits).exactOptional() })
    .exactOptional()
    .describe('Limits after which a run asks a person.'),
  limits: limitsSchema.exactOptional().describe('Size limits of recorded values, in bytes except "depth".'),
});

export type ProjectConfig = Readonly<z.infer<typeof projectConfigSchema>>;

/** What a person or `devs init` writes: defaults may be left out. */
export type ProjectConfigInput = Readonly<z.input<typeof projectConfigSchema>>;

/** JSON Schema of `.devs/config.json`, for editors; published with the package as `config.schema.json`. */
export function configSchemaText(): string {
  return `${JSON.stringify(z.toJSONSchema(projectConfigSchema, { io: 'input' }), null, 2)}\n`;
}
