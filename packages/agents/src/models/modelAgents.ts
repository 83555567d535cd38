import {
  type AgentCall,
  classifyError,
  type DocumentsResult,
  isDevsError,
  type StageAgents,
  type TaskRequest,
  type WorkResult,
} from '@devs/core';
import { assertPositiveInteger } from '../assertPositiveInteger.ts';
import { Patience } from '../patience/Patience.ts';
import { Conversation, type ConversationLimits } from './Conversation.ts';
import { FileDesk } from './FileDesk.ts';
import { docsOfWork, filesOfTask, type ShownFiles } from './foundFiles.ts';
import { History } from './History.ts';
import { liveAgents, type StageQuestion, type StageWorker } from './liveAgents.ts';
import { loadChatModel, type ModelSettings, type ModelSource, type NamedModel } from './loadChatModel.ts';
import {
  LOOKS_UP,
  loadPrompts,
  MODEL_STAGES,
  type ModelStage,
  type Prompts,
  type TaskStage,
} from './loadPrompts.ts';
import type { ModelTool } from './modelTool.ts';
import { checkTools, editingTools, readingTools } from './modelTools.ts';
import { renderHandOver, renderOpening, renderRequest } from './renderRequest.ts';
import {
  type AnswerTool,
  finishWith,
  submitDesign,
  withCommitStyle,
  withKnownFiles,
} from './stageAnswers.ts';
import { TaskTalks } from './TaskTalks.ts';

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
  /** Longest wait at a rate limit or quota, in milliseconds. @defaultValue 1 800 000 */
  readonly maxWaitMs?: number;
  /** Whether answers are streamed; some servers cannot stream tool calls. @defaultValue true */
  readonly streaming?: boolean;
}

/**
 * Creates agents that call a chat model through LangChain. The model reads and edits the project with tools and answers
 * by calling one; an answer of the wrong shape is returned once. It reports progress (`call.onActivity`). Test, code and
 * documentation of a task are one conversation, as long as this process lives.
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
  const workers = [...models.values()].map(({ name }) => ({
    name,
    reports: { tokens: true, cost: { model: name } },
  }));
  const agents = liveAgents(worker, { workers, prompts });
  const answer = submitDesign(prompts.version);
  return {
    ...agents,
    design: (request, call) => worker.design({ stage: 'design', request, answer }, call),
  };
}

function conversationLimits(options: ModelAgentsOptions): ConversationLimits {
  const {
    timeoutMs = DEFAULT_TIMEOUT_MS,
    maxRounds = DEFAULT_MAX_ROUNDS,
    streaming = true,
    maxWaitMs,
  } = options;
  assertPositiveInteger('timeoutMs', timeoutMs);
  assertPositiveInteger('maxRounds', maxRounds);
  const patience = new Patience(maxWaitMs === undefined ? {} : { maxWaitMs });
  return { timeoutMs, maxRounds, streaming, patience };
}

class ModelWorker implements StageWorker {
  readonly #models: ReadonlyMap<ModelStage, NamedModel>;
  readonly #prompts: Prompts;
  readonly #limits: ConversationLimits;
  /** By idempotency key: conversations that a transient failure or a budget interrupted, for the retry of the same step. */
  readonly #interrupted = new Map<string, Conversation<unknown>>();
  readonly #talks = new TaskTalks();

  constructor(models: ReadonlyMap<ModelStage, NamedModel>, prompts: Prompts, limits: ConversationLimits) {
    this.#models = models;
    this.#prompts = prompts;
    this.#limits = limits;
  }

  edit(stage: TaskStage, request: TaskRequest, call: AgentCall): Promise<WorkResult> {
    return this.#converse(call, async () => {
      const desk = new FileDesk(request.workspace);
      const tools = [...readingTools(desk), ...editingTools(desk), ...checkTools(desk, call)];
      const finish = finishWith(desk, stage);
      const { commit } = request;
      const answer = commit === undefined ? finish : withCommitStyle(finish, commit);
      const shown = LOOKS_UP[this.#prompts.version] ? await shownTo(stage, request, desk) : NOTHING;
      return this.#begin(stage, this.#said({ stage, request, shown }, call), { tools, answer });
    });
  }

  answer<Answer>(question: StageQuestion<Answer>, call: AgentCall): Promise<Answer> {
    const { stage, request, answer } = question;
    return this.#converse(call, async () => {
      const { workspace } = request;
      const desk = workspace === undefined ? null : new FileDesk(workspace);
      const tools = desk === null ? [] : [...readingTools(desk), ...checkTools(desk, call)];
      return this.#begin(stage, this.#alone(question), { tools, answer });
    });
  }

  design(question: StageQuestion<DocumentsResult>, call: AgentCall): Promise<DocumentsResult> {
    const { stage, request, answer } = question;
    return this.#converse(call, async () => {
      const { workspace } = request;
      const said = this.#alone(question);
      if (workspace === undefined) return this.#begin(stage, said, { tools: [], answer });
      const tools = readingTools(new FileDesk(workspace));
      return this.#begin(stage, said, { tools, answer: withKnownFiles(answer, await workspace.list()) });
    });
  }

  /** The engine retries a step under its key: the conversation then goes on where the failure interrupted it. */
  async #converse<Answer>(call: AgentCall, begin: () => Promise<Conversation<Answer>>): Promise<Answer> {
    const { idempotencyKey } = call;
    const begun = this.#interrupted.get(idempotencyKey) as Conversation<Answer> | undefined;
    this.#interrupted.delete(idempotencyKey);
    const conversation = begun ?? (await begin());
    try {
      return await conversation.run(call);
    } catch (error) {
      if (classifyError(error) === 'transient' || isDevsError(error, 'BUDGET_SPENT'))
        this.#interrupted.set(idempotencyKey, conversation);
      throw error;
    }
  }

  #begin<Answer>(stage: ModelStage, said: StageSaid, toolbox: Toolbox<Answer>): Conversation<Answer> {
    return new Conversation({ ...this.#limits, ...toolbox, ...said, stage, model: this.#modelOf(stage) });
  }

  /** A stage that is a conversation of its own. */
  #alone({ stage, request, system = this.#prompts.of[stage] }: AskedStage): StageSaid {
    const content = renderRequest(request, this.#prompts.version);
    return opened(system, content);
  }

  /** A stage of a task: continues the conversation of the stage before, if this model had it. */
  #said({ stage, request, shown }: TaskWork, { conversation }: AgentCall): StageSaid {
    const { task, version } = this.#prompts;
    if (task === null) return this.#alone({ stage, request });
    const asked = (isContinued: boolean, files: ShownFiles): string =>
      [renderHandOver(request, isContinued, files), task.of[stage]]
        .filter((part) => part !== '')
        .join('\n\n');
    const first = opened(task.system, `${renderOpening(request, version)}\n\n${asked(false, shown)}`);
    if (conversation === undefined) return first;
    const open = (): History => first.history;
    const { history, isContinued } = this.#talks.stage(conversation, stage, {
      model: this.#modelOf(stage).name,
      open,
    });
    if (!isContinued) return first;
    const passages = shown.passages.filter(({ content }) => !history.has(content));
    const sent = asked(true, { ...shown, passages });
    history.add({ role: 'user', content: sent });
    return { history, sent };
  }

  #modelOf(stage: ModelStage): NamedModel {
    return this.#models.get(stage) as NamedModel;
  }
}

const NOTHING: ShownFiles = { passages: [], headings: [] };

/** The first stage of a task gets sources and tests, the last one documentation. */
async function shownTo(stage: TaskStage, request: TaskRequest, desk: FileDesk): Promise<ShownFiles> {
  const isFirst = stage === 'writeTest' || (request.test === undefined && request.excerpts === undefined);
  const shown =
    stage === 'document'
      ? await docsOfWork(desk, request)
      : isFirst
        ? await filesOfTask(desk, request)
        : NOTHING;
  for (const { path, fromLine, content } of shown.passages)
    desk.show({ path, fromLine, lines: content.split('\n').length });
  return shown;
}

/** A stage of a task, with its files. */
interface TaskWork {
  readonly stage: TaskStage;
  readonly request: TaskRequest;
  readonly shown: ShownFiles;
}

type AskedStage = Pick<StageQuestion<unknown>, 'stage' | 'request' | 'system'>;

/** The conversation of a stage, and its new part. */
interface StageSaid {
  readonly history: History;
  readonly sent: string;
}

function opened(system: string, content: string): StageSaid {
  const history = new History([
    { role: 'system', content: system },
    { role: 'user', content },
  ]);
  return { history, sent: `${system}\n\n${content}` };
}

/** What a stage works with, and how it ends. */
interface Toolbox<Answer> {
  readonly tools: readonly ModelTool[];
  readonly answer: AnswerTool<Answer>;
}
