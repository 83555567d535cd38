import { MODEL_STAGES } from '@devs/agents/internal';
import type { Limits } from '@devs/core';
import { DEFAULT_LIMITS, MAX_LIMITS } from '@devs/core/internal';
import { z } from 'zod';

const argv = z.array(z.string().min(1)).min(1).describe('Program and arguments; no shell.');

/** What every machine reaches under the same name. */
export const REPOSITORY_URL = /^(?:https?|ssh|git|file):\/\/\S+$/;

const inside = z
  .string()
  .regex(/^(?!\/)(?!.*(?:^|\/)\.\.(?:\/|$)).+$/, 'Expected a relative path without ".."');

/** One command that judges the work. */
export const checkSchema = z.strictObject({
  name: z.string().min(1).describe('Shown when it fails.'),
  dir: inside.default('.').describe('Folder it runs in, relative to the top of the repository.'),
  argv,
  kind: z
    .enum(['test', 'types', 'lint'])
    .exactOptional()
    .describe('What it judges; else known by its program. A lint error is no red test.'),
  report: inside
    .exactOptional()
    .describe('File it writes its test cases to: JUnit XML, or JSON of Vitest or Jest.'),
  retries: z
    .int()
    .min(0)
    .max(2)
    .exactOptional()
    .describe('How often it runs again on the same tree where it fails; 2 when left out.'),
  timeoutMs: z.int().positive().default(120_000).describe('Milliseconds.'),
});

/** What prepares the clone of a run: a command, or one that reads more than manifests and lockfiles. */
export const setupSchema = z.union([
  argv,
  z.strictObject({
    argv,
    inputs: z
      .array(inside)
      .describe(
        'Patterns of git, from the top of the repository: setup runs again for a tree that changes one.',
      ),
  }),
]);

/** Where checks may keep things from one to the next. */
export const cachesSchema = z.array(inside);

/** How often a model may run the checks within one call. */
export const agentChecksSchema = z.int().min(0);

/** What is masked before it enters the state. */
export const secretsSchema = z.strictObject({
  mask: z
    .enum(['precise', 'broad'])
    .default('precise')
    .describe(
      '"broad": also what only a name gives away, such as password=…; it changes code and prose, too.',
    ),
});

/** What of the user's own configuration of git is started. */
export const gitSchema = z.strictObject({
  credentials: z
    .boolean()
    .default(false)
    .describe(
      'Whether your credential helpers, askpass and ssh command answer for you where "repository" is a URL.',
    ),
});

/** What confines the commands of a run. */
export const sandboxSchema = z.union([z.enum(['bwrap', 'none']), argv]).default('bwrap');

const whole = z.int().positive().exactOptional();
const budgetLimits = {
  usd: z.number().positive().exactOptional().describe('US dollars.'),
  tokens: whole.describe('In and out together.'),
  calls: whole.describe('Calls of agents.'),
  ms: whole.describe('Milliseconds of driving.'),
};

const upTo = (name: keyof Limits, what: string) =>
  z.int().positive().max(MAX_LIMITS[name]).exactOptional().describe(what);

/** How large may be what is recorded of a run. */
export const limitsSchema = z.strictObject({
  valueBytes: upTo('valueBytes', 'One write, such as a plan; as channelBytes when left out.'),
  channelBytes: upTo(
    'channelBytes',
    `All of one kind of state, such as the tasks; ${DEFAULT_LIMITS.channelBytes} when left out.`,
  ),
  checkpointBytes: upTo(
    'checkpointBytes',
    `All state together; ${DEFAULT_LIMITS.checkpointBytes} when left out.`,
  ),
  stepBytes: upTo(
    'stepBytes',
    `What one call of an agent returns; ${DEFAULT_LIMITS.stepBytes} when left out.`,
  ),
  answerBytes: upTo('answerBytes', `A text of an edit; ${DEFAULT_LIMITS.answerBytes} when left out.`),
  signalBytes: upTo('signalBytes', `The payload of a signal; ${DEFAULT_LIMITS.signalBytes} when left out.`),
  chunkBytes: upTo('chunkBytes', `A piece of a stream; ${DEFAULT_LIMITS.chunkBytes} when left out.`),
  depth: upTo('depth', `Levels of a value; ${DEFAULT_LIMITS.depth} when left out.`),
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
      'Who works: PROVIDER:MODEL, claude, codex, gemini, opencode, goose, copilot and aider (these three were never tried), acp:…, command:…, replay:FILE or none.',
    ),
  stages: z
    .partialRecord(z.enum(MODEL_STAGES), z.string())
    .exactOptional()
    .describe('Models and coding CLIs of single stages.'),
  repository: z
    .union([z.boolean(), z.string().regex(REPOSITORY_URL, 'Expected a URL such as https://… or ssh://…')])
    .default(true)
    .describe(
      'Whether a run begins at the checked-out commit of this repository; or the URL of one, that every worker of a cluster reaches.',
    ),
  git: gitSchema
    .exactOptional()
    .describe('What git starts of your own configuration; of a repository, nothing.'),
  research: z
    .boolean()
    .default(true)
    .describe('Whether reports are written before the design; without, it is made from the brief alone.'),
  setup: setupSchema.exactOptional().describe('Prepares the clone of a run before its first command.'),
  caches: cachesSchema
    .exactOptional()
    .describe('Paths from the top of the repository that are kept from one check to the next.'),
  checks: z.array(checkSchema).default([]).describe('What judges the work, in this order; all must pass.'),
  agentChecks: agentChecksSchema
    .exactOptional()
    .describe(
      'How often a model may run the checks on its edits within one call, 0: never; 3 when left out.',
    ),
  sandbox: sandboxSchema.describe(
    'What confines checks and coding CLIs: "bwrap", program and arguments of your own, or "none".',
  ),
  gates: z
    .strictObject({
      design: gate.default('human'),
      dag: gate.default('human'),
      review: gate.default('human'),
    })
    .default({ design: 'human', dag: 'human', review: 'human' })
    .describe('Who approves design, plan and reviewed code; "auto" is a policy and part of the record.'),
  review: z
    .enum(REVIEWS)
    .default('none')
    .describe('After what the committed code is shown to a human: every task, every epic, or never.'),
  documents: z
    .strictObject({
      inBranch: z
        .boolean()
        .default(false)
        .describe('Whether documents and plan of a run are files of its branch: docs/devs/RUN/.'),
    })
    .exactOptional()
    .describe('What becomes of the documents of a run.'),
  secrets: secretsSchema.exactOptional().describe('What is masked before it enters the state.'),
  budget: z
    .strictObject({ ...budgetLimits, perTask: z.strictObject(budgetLimits).exactOptional() })
    .exactOptional()
    .describe('What a run may use up before a human is asked.'),
  limits: limitsSchema.exactOptional().describe('How large may be what is recorded; bytes, but for "depth".'),
});

export type ProjectConfig = Readonly<z.infer<typeof projectConfigSchema>>;

/** What a person or `devs init` writes: defaults may be left out. */
export type ProjectConfigInput = Readonly<z.input<typeof projectConfigSchema>>;

/** JSON Schema of `.devs/config.json`, for editors; published with the package as `config.schema.json`. */
export function configSchemaText(): string {
  return `${JSON.stringify(z.toJSONSchema(projectConfigSchema, { io: 'input' }), null, 2)}\n`;
}
