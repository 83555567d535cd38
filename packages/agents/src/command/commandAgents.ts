import {
  type AgentCall,
  DevsError,
  maskSensitiveData,
  type StageAgents,
  type TaskRequest,
  type WorkResult,
} from '@devs/core';
import { assertPositiveInteger } from '../assertPositiveInteger.ts';
import { liveAgents, type StageQuestion, type StageWorker } from '../models/liveAgents.ts';
import { MODEL_STAGES, type ModelStage } from '../models/loadPrompts.ts';
import { renderRequest } from '../models/renderRequest.ts';
import { TRUNCATED_MARK } from '../process/MaskedTail.ts';
import type { Sandbox } from '../sandbox/Sandbox.ts';
import { type CommandLimits, CommandLine, type CommandPrompt } from './CommandLine.ts';
import type { CommandRecipe, CommandReply } from './CommandRecipe.ts';
import { type CommandPrompts, commandPrompts } from './commandPrompts.ts';
import { jsonAnswer } from './jsonAnswer.ts';
import { RECIPES, type RecipeName } from './recipes.ts';
import { wrongTestIn } from './wrongTestIn.ts';

const DEFAULT_TIMEOUT_MS = 30 * 60_000;
const DEFAULT_MAX_OUTPUT_BYTES = 4 * 1024 * 1024;

/** Characters of what a tool says about its edits that are kept, from the end: the summary stands there. */
const MAX_SUMMARY = 2_000;

/** A coding CLI known by name, or one of your own. */
export type CommandSource = RecipeName | CommandRecipe;

export interface CommandAgentsOptions {
  /** Of every stage that `perStage` does not name. */
  readonly command: CommandSource;
  readonly perStage?: Readonly<Partial<Record<ModelStage, CommandSource>>>;
  /** What confines it, from `findSandbox`; `null` lets it do what you can, on purpose. */
  readonly sandbox: Sandbox | null;
  /** Version of the prompts. @defaultValue the newest */
  readonly prompts?: string;
  /** Time limit of one call, ms. @defaultValue 1 800 000 */
  readonly timeoutMs?: number;
  /** Bytes of output read, from its end. @defaultValue 4 MiB */
  readonly maxOutputBytes?: number;
}

/**
 * Agents that call an installed coding CLI that speaks no protocol (those that do are for `acpAgents`). It edits the workspace in place, and the engine takes the difference; where a
 * stage is about documents, a plan or a verdict it answers with JSON, and an answer of the wrong shape is sent back once.
 *
 * It is given a network unless its recipe needs none, the variables and files its recipe names, and nothing else of this
 * process's environment. What it prints is told as it comes (`call.onActivity`).
 *
 * @throws DevsError `CONFIG_INVALID` when a program is not installed.
 *
 * @example
 * ```ts
 * const sandbox = await findSandbox('bwrap', { project: process.cwd() });
 * const agents = await commandAgents({ command: 'aider', sandbox });
 * ```
 */
export async function commandAgents(options: CommandAgentsOptions): Promise<StageAgents> {
  const { command, perStage = {} } = options;
  const limits = limitsOf(options);
  const found = new Map<CommandSource, CommandLine>();
  for (const source of new Set([command, ...Object.values(perStage)])) {
    const recipe = typeof source === 'string' ? RECIPES[source] : source;
    found.set(source, await CommandLine.find(recipe, limits));
  }
  const commands = new Map(
    MODEL_STAGES.map((stage) => [stage, found.get(perStage[stage] ?? command) as CommandLine]),
  );
  const prompts = commandPrompts(options.prompts);
  const worker = new CommandWorker(commands, prompts);
  return liveAgents(worker, { workers: commands.values(), prompts });
}

function limitsOf({ sandbox, ...options }: CommandAgentsOptions): CommandLimits {
  const { timeoutMs = DEFAULT_TIMEOUT_MS, maxOutputBytes = DEFAULT_MAX_OUTPUT_BYTES } = options;
  assertPositiveInteger('timeoutMs', timeoutMs);
  assertPositiveInteger('maxOutputBytes', maxOutputBytes);
  return { sandbox, timeoutMs, maxOutputBytes };
}

class CommandWorker implements StageWorker {
  readonly #commands: ReadonlyMap<ModelStage, CommandLine>;
  readonly #prompts: CommandPrompts;

  constructor(commands: ReadonlyMap<ModelStage, CommandLine>, prompts: CommandPrompts) {
    this.#commands = commands;
    this.#prompts = prompts;
  }

  async edit(stage: ModelStage, request: TaskRequest, call: AgentCall): Promise<WorkResult> {
    const prompt = this.#prompts.forEdit(stage, renderRequest(request));
    const { text } = await this.#call({ stage, prompt, dir: request.workspace.dir }, call);
    // No files: the engine takes what lies in the folder.
    return { summary: summaryOf(text.trim()), files: [], ...(stage === 'implement' && wrongTestIn(text)) };
  }

  /** A review sees the folder itself; the engine puts back what it changes there. */
  async answer<Answer>(question: StageQuestion<Answer>, call: AgentCall): Promise<Answer> {
    const { stage, request, answer, system } = question;
    const dir = dirOf(request);
    const prompt = this.#prompts.forAnswer(stage, renderRequest(request), answer.schema, system);
    const first = await this.#call({ stage, prompt, dir }, call);
    const read = jsonAnswer(first.text, answer.schema);
    if ('value' in read) return read.value;
    const again = `${prompt}\n\n${repairWords(first.text, read.problem)}`;
    const second = await this.#call({ stage, prompt: again, dir }, call);
    const repaired = jsonAnswer(second.text, answer.schema);
    if ('value' in repaired) return repaired.value;
    throw this.#invalid(stage, repaired.problem);
  }

  #call({ stage, ...prompt }: Prompt, call: AgentCall): Promise<CommandReply> {
    return (this.#commands.get(stage) as CommandLine).call(prompt, call);
  }

  #invalid(stage: ModelStage, problem: string): DevsError {
    const { name = '' } = this.#commands.get(stage) ?? {};
    return new DevsError(
      `${name} gave no valid answer for the stage ${stage}: ${maskSensitiveData(problem)}`,
      {
        code: 'AGENT_INVALID_OUTPUT',
        remedy: 'Resume the run to ask again, or give this stage to a more capable agent.',
        context: { stage, command: name, requests: 2 },
      },
    );
  }
}

/** A question of a person's gets no folder: nobody would put back what a tool changes there between two drives. */
function dirOf(request: StageQuestion<unknown>['request']): string | null {
  return 'question' in request || !('workspace' in request) ? null : (request.workspace?.dir ?? null);
}

interface Prompt extends CommandPrompt {
  readonly stage: ModelStage;
}

const summaryOf = (text: string): string =>
  text.length <= MAX_SUMMARY ? text : `${TRUNCATED_MARK}\n${text.slice(-MAX_SUMMARY)}`;

const repairWords = (text: string, problem: string): string =>
  `<your_last_answer>\n${text.trim()}\n</your_last_answer>\n\nIt could not be used: ${problem}\nAnswer again, whole.`;
