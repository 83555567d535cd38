import path from 'node:path';
import type { AcpAgentsOptions, CommandAgentsOptions } from '@devs/agents';
import {
  isAcpName,
  isModelName,
  isRecipeName,
  MODEL_STAGES,
  type ModelStage,
  NEWEST_PROMPTS,
} from '@devs/agents/internal';
import { usageError } from '../usageError.ts';
import { splitCommand } from './commandWords.ts';

/** Who works on a run, by name. */
export interface AgentNames {
  /** `none`, `replay:` and an absolute path, `provider:model`, or a coding CLI. */
  readonly agents: string;
  /** Models and coding CLIs of single stages. */
  readonly perStage?: Readonly<Partial<Record<ModelStage, string>>>;
  /** What a model is asked with; a run keeps the version it was started with. */
  readonly prompts?: string;
}

export const REPLAY = 'replay:';

/** For the help of the option. */
export const AGENTS_HELP =
  'PROVIDER:MODEL, claude, codex, gemini, opencode (untested: goose, copilot, aider), replay:FILE or none; repeat as STAGE=… for a single stage';

export const AGENT_CHOICES =
  'Choose --agents PROVIDER:MODEL (such as openai:gpt-5), --agents claude, codex, gemini or opencode (coding CLIs; ' +
  "goose, copilot and aider are untested), --agents 'acp:PROGRAM ARGUMENTS' (any program with the Agent Client Protocol), " +
  "--agents 'command:PROGRAM ARGUMENTS' (your own program), --agents replay:FILE (a recording) " +
  'or --agents none (goes through the stages without writing anything).';

/**
 * Reads the values of `--agents`: one for all stages, and `STAGE=…` for single ones.
 *
 * @throws DevsError `CONFIG_INVALID` naming the choices.
 */
export function agentNames(values: readonly string[], cwd: string): AgentNames {
  const [agents, ...more] = values.filter((value) => !isForStage(value));
  if (agents === undefined) throw usageError('The agents are missing.', AGENT_CHOICES);
  if (more.length > 0)
    throw usageError(`${agents} and ${more[0]} are both set for all stages.`, AGENT_CHOICES);
  const stages = values.filter(isForStage);
  if (isWorker(agents)) return workerNames(agents, stages);
  if (stages.length > 0)
    throw usageError(
      `${stages[0]} sets one stage; the other stages need a model or a coding CLI.`,
      AGENT_CHOICES,
    );
  return { agents: withoutModel(agents, cwd) };
}

const isForStage = (value: string): boolean => /^\w+=/.test(value);

/** A model or a coding CLI: they can share the stages. */
const isWorker = (name: string): boolean =>
  toolKind(name) !== null || (isModelName(name) && !isBarePrefix(name));

/** A prefix that names nothing. */
const isBarePrefix = (name: string): boolean =>
  ['acp:', 'command:'].includes(name) || name.startsWith(REPLAY);

function workerNames(agents: string, stages: readonly string[]): AgentNames {
  const perStage = Object.fromEntries(stages.map(stageWorker));
  return { agents, prompts: NEWEST_PROMPTS, ...(stages.length > 0 && { perStage }) };
}

function stageWorker(value: string): readonly [stage: ModelStage, model: string] {
  const at = value.indexOf('=');
  const name = value.slice(0, at);
  const stage = MODEL_STAGES.find((candidate) => candidate === name);
  if (stage !== undefined && isWorker(value.slice(at + 1))) return [stage, value.slice(at + 1)];
  throw usageError(
    `${JSON.stringify(value)} does not set an agent for a stage.`,
    `Use STAGE=PROVIDER:MODEL or STAGE=claude. The stages are ${MODEL_STAGES.join(', ')}.`,
  );
}

function withoutModel(agents: string, cwd: string): string {
  if (agents === 'none') return agents;
  if (agents.startsWith(REPLAY) && agents.length > REPLAY.length) {
    return `${REPLAY}${path.resolve(cwd, agents.slice(REPLAY.length))}`;
  }
  throw usageError(`Unknown agents ${JSON.stringify(agents)}.`, AGENT_CHOICES);
}

const ACP = 'acp:';
const COMMAND = 'command:';

/** How a coding CLI is driven: through the Agent Client Protocol, or called with a prompt on its input. */
export type ToolKind = 'acp' | 'command';

/**
 * How the coding CLI of this name is driven: one that is known, or `acp:` or `command:` with program and arguments.
 *
 * @returns `null` for any other name.
 */
export function toolKind(text: string): ToolKind | null {
  if (isAcpName(text) || isWithProgram(text, ACP)) return 'acp';
  return isRecipeName(text) || isWithProgram(text, COMMAND) ? 'command' : null;
}

/** Whether a stage has a model, which LangChain calls. */
export const areModels = ({ agents, perStage = {} }: AgentNames): boolean =>
  [agents, ...Object.values(perStage)].some(
    (name) => name !== 'none' && !name.startsWith(REPLAY) && toolKind(name) === null,
  );

/** @throws DevsError `CONFIG_INVALID` for a command with an open quote. */
export function acpSource(name: string): AcpAgentsOptions['agent'] {
  return isAcpName(name) ? name : programOf(name.slice(ACP.length));
}

/** @throws DevsError `CONFIG_INVALID` for a command with an open quote. */
export function commandSource(name: string): CommandAgentsOptions['command'] {
  return isRecipeName(name) ? name : programOf(name.slice(COMMAND.length));
}

const isWithProgram = (text: string, prefix: string): boolean =>
  text.startsWith(prefix) && text.length > prefix.length;

function programOf(text: string): { readonly name: string; readonly argv: readonly string[] } {
  const argv = splitCommand(text);
  return { name: path.basename(argv[0] ?? text), argv };
}
