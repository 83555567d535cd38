import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { DevsError } from '@devs/core';

/** Stages that a model answers; each has a prompt with this name. */
export const MODEL_STAGES = [
  'research',
  'design',
  'distill',
  'writeTest',
  'implement',
  'review',
  'document',
  'pivot',
] as const;
export type ModelStage = (typeof MODEL_STAGES)[number];

/** Prompt versions in this package, newest last. An old one stays, so that a waiting run can go on with it. */
export const PROMPT_VERSIONS = ['v1', 'v2', 'v3', 'v4'] as const;
export type PromptVersion = (typeof PROMPT_VERSIONS)[number];
export const NEWEST_PROMPTS: PromptVersion = 'v4';

/** Whether stages begin with the files of the project that their work is about. */
export const LOOKS_UP: Readonly<Record<PromptVersion, boolean>> = {
  v1: false,
  v2: false,
  v3: false,
  v4: true,
};

/** The system prompts of one version. */
export interface Prompts {
  readonly version: PromptVersion;
  /** Over all texts, hex. */
  readonly sha256: string;
  readonly of: Readonly<Record<ModelStage, string>>;
  /** Where the stages that edit are one conversation; `null` in a version in which each is one of its own. */
  readonly task: TaskPrompts | null;
}

/** Stages that write test, code and documentation of a task, in the order in which they are asked. */
export const TASK_STAGES = ['writeTest', 'implement', 'document'] as const;
export type TaskStage = (typeof TASK_STAGES)[number];

export interface TaskPrompts {
  /** Of the conversation. */
  readonly system: string;
  /** The request of each stage. */
  readonly of: Readonly<Record<TaskStage, string>>;
}

/** @throws DevsError `CONFIG_INVALID` for a version this package does not have. */
export function loadPrompts(version: string = NEWEST_PROMPTS): Prompts {
  const known = PROMPT_VERSIONS.find((candidate) => candidate === version);
  if (known === undefined) throw unknownVersion(version);
  const shared = readPrompt(known, 'shared');
  const texts = MODEL_STAGES.map((stage) => [stage, `${shared}\n${readPrompt(known, stage)}`] as const);
  const task = WITH_CONVERSATIONS[known] ? taskPrompts(known, shared) : null;
  const sha256 = createHash('sha256')
    .update(JSON.stringify(task === null ? texts : [...texts, ['task', task.system]]))
    .digest('hex');
  return { version: known, sha256, of: Object.fromEntries(texts) as Record<ModelStage, string>, task };
}

const WITH_CONVERSATIONS: Readonly<Record<PromptVersion, boolean>> = {
  v1: false,
  v2: false,
  v3: true,
  v4: true,
};

function taskPrompts(version: PromptVersion, shared: string): TaskPrompts {
  const texts = TASK_STAGES.map((stage) => [stage, readPrompt(version, stage).trim()] as const);
  const system = `${shared}\n${readPrompt(version, 'task')}`;
  return { system, of: Object.fromEntries(texts) as Record<TaskStage, string> };
}

/** Prompts are not compiled. They are as far from src/models as from dist/models; a bundle has them beside it. */
function promptsFolder(): URL {
  const beside = new URL('./prompts/', import.meta.url);
  return existsSync(beside) ? beside : new URL('../../prompts/', import.meta.url);
}

/** One text of a version. */
export function readPrompt(version: PromptVersion, name: string): string {
  return readFileSync(new URL(`${version}/${name}.md`, promptsFolder()), 'utf8');
}

function unknownVersion(version: string): DevsError {
  return new DevsError(`There are no prompts ${JSON.stringify(version)} in this version of @devs/agents.`, {
    code: 'CONFIG_INVALID',
    remedy: `Use one of ${PROMPT_VERSIONS.join(', ')}, or the release the run was started with.`,
  });
}
