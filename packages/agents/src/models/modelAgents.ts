import {
  type AgentCall,
  classifyError,
  type DocumentsResult,
  type StageAgents,
  type TaskRequest,
  type WorkResult,
} from '@devs/core';
import { assertPositiveInteger } from '../assertPositiveInteger.ts';
import { Conversation, type ConversationLimits } from './Conversation.ts';
import { FileDesk } from './FileDesk.ts';
import { liveAgents, type StageQuestion, type StageWorker } from './liveAgents.ts';
import { loadChatModel, type ModelSettings, type ModelSource, type NamedModel } from './loadChatModel.ts';
import { loadPrompts, MODEL_STAGES, type ModelStage, type Prompts } from './loadPrompts.ts';
import type { ModelTool } from './modelTool.ts';
import { checkTools, editingTools, readingTools } from './modelTools.ts';
import { renderRequest } from './renderRequest.ts';
import { type AnswerTool, finishWith, submitDesign, withKnownFiles } from './stageAnswers.ts';

const DEFAULT_TIMEOUT_MS = 600_000;
const DEFAULT_MAX_ROUNDS = 50;

export interface ModelAgentsOptions {
  /** The model of every stage not in `perStage`. */
  readonly model: ModelSource;
  readonly perStage?: Readonly<Partial<Record<ModelStage, ModelSource>>>;
  /** Constructor options of every model given by name: `temperature`, `baseUrl`, … */
  readonly settings?: ModelSettings;
  /** Version of the prompts. @defaultValue the newest */
  readonly prompts?: string;
  /** Longest request to a model, in milliseconds. @defaultValue 600 000 */
  readonly timeoutMs?: number;
  /** Requests to a model in one stage. @defaultValue 50 */
  readonly maxRounds?: number;
  /** Whether answers are streamed; some servers cannot stream tool calls. @defaultValue true */
  readonly streaming?: boolean;
}

/**
 * Creates agents that call a chat model through LangChain. The model reads and edits the project with tools and answers
 * by calling one; an answer of the wrong shape is returned once. It reports progress (`call.onActivity`).
 *
 * Packages and keys are checked first, so a run does not start with an unusable model. The engine retries transient
 * failures: set `maxRetries: 0` on your own model.
 *
 * @throws DevsError `CONFIG_INVALID` for a missing package or key, or a name that is not `provider:model`.
 *
 * @example
 * ```ts
 * const agents = await modelAgents({ model: 'openai:gpt-5', perStage: { review: 'anthropic:claude-opus-4-5' } });
 * const devs = await Orchestrator.open({ dir: '.devs', agents, workspace, checks });
 * ```
 */
export async function modelAgents(options: ModelAgentsOptions): Promise<StageAgents> {
  const { model, perStage = {}, settings } = options;
  const prompts = loadPrompts(options.prompts);
  const sources = new Map(MODEL_STAGES.map((stage) => [stage, perStage[stage] ?? model]));
  const loaded = new Map<ModelSource, NamedModel>();
  for (const source of new Set(sources.values())) loaded.set(source, await loadChatModel(source, settings));
  const models = new Map([...sources].map(([stage, source]) => [stage, loaded.get(source) as NamedModel]));
  const worker = new ModelWorker(models, prompts, conversationLimits(options));
  const agents = liveAgents(worker, { workers: models.values(), prompts });
  const answer = submitDesign(prompts.version);
  return {
    ...agents,
    design: (request, call) => worker.design({ stage: 'design', request, answer }, call),
  };
}

function conversationLimits(options: ModelAgentsOptions): ConversationLimits {
  const { timeoutMs = DEFAULT_TIMEOUT_MS, maxRounds = DEFAULT_MAX_ROUNDS, streaming = true } = options;
  assertPositiveInteger('timeoutMs', timeoutMs);
  assertPositiveInteger('maxRounds', maxRounds);
  return { timeoutMs, maxRounds, streaming };
}

class ModelWorker implements StageWorker {
  readonly #models: ReadonlyMap<ModelStage, NamedModel>;
  readonly #prompts: Prompts;
  readonly #limits: ConversationLimits;
  /** By idempotency key: what a transient failure interrupted, for the retry of the same step. */
  readonly #interrupted = new Map<string, Conversation<unknown>>();

  constructor(models: ReadonlyMap<ModelStage, NamedModel>, prompts: Prompts, limits: ConversationLimits) {
    this.#models = models;
    this.#prompts = prompts;
    this.#limits = limits;
  }

  edit(stage: ModelStage, request: TaskRequest, call: AgentCall): Promise<WorkResult> {
    return this.#converse({ stage, request }, call, async () => editing(stage, request, call));
  }

  answer<Answer>(question: StageQuestion<Answer>, call: AgentCall): Promise<Answer> {
    const { request, answer } = question;
    return this.#converse(question, call, async () => {
      const { workspace } = request;
      if (workspace === undefined) return { tools: [], answer };
      const desk = new FileDesk(workspace);
      return { tools: [...readingTools(desk), ...checkTools(desk, call)], answer };
    });
  }

  design(question: StageQuestion<DocumentsResult>, call: AgentCall): Promise<DocumentsResult> {
    const { request, answer } = question;
    return this.#converse(question, call, async () => {
      const { workspace } = request;
      if (workspace === undefined) return { tools: [], answer };
      const tools = readingTools(new FileDesk(workspace));
      return { tools, answer: withKnownFiles(answer, await workspace.list()) };
    });
  }

  /** The engine retries a step under its key: the conversation then goes on where the failure interrupted it. */
  async #converse<Answer>(
    asked: AskedStage,
    call: AgentCall,
    toolsOf: () => Promise<Toolbox<Answer>>,
  ): Promise<Answer> {
    const { idempotencyKey } = call;
    const begun = this.#interrupted.get(idempotencyKey) as Conversation<Answer> | undefined;
    this.#interrupted.delete(idempotencyKey);
    const conversation = begun ?? this.#begin(asked, await toolsOf());
    try {
      return await conversation.run(call);
    } catch (error) {
      if (classifyError(error) === 'transient') this.#interrupted.set(idempotencyKey, conversation);
      throw error;
    }
  }

  #begin<Answer>({ stage, request, system }: AskedStage, toolbox: Toolbox<Answer>): Conversation<Answer> {
    return new Conversation({
      ...this.#limits,
      ...toolbox,
      stage,
      model: this.#models.get(stage) as NamedModel,
      system: system ?? this.#prompts.of[stage],
      request: renderRequest(request),
    });
  }
}

type AskedStage = Pick<StageQuestion<unknown>, 'stage' | 'request' | 'system'>;

/** What a stage works with, and how it ends. */
interface Toolbox<Answer> {
  readonly tools: readonly ModelTool[];
  readonly answer: AnswerTool<Answer>;
}

function editing(stage: ModelStage, { workspace }: TaskRequest, call: AgentCall): Toolbox<WorkResult> {
  const desk = new FileDesk(workspace);
  const tools = [...readingTools(desk), ...editingTools(desk), ...checkTools(desk, call)];
  return { tools, answer: finishWith(desk, stage) };
}
