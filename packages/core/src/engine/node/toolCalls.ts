import {
  CallbackManager,
  type CallbackManagerForChainRun,
  type CallbackManagerForToolRun,
  type Callbacks,
} from '@langchain/core/callbacks/manager';
import type { RunnableConfig } from '@langchain/core/runnables';
import type { LangGraphRunnableConfig } from '@langchain/langgraph';
import { ambientConfig } from '../execution/ambientConfig.ts';

type Handlers = Pick<CallbackManager, 'handlers' | 'inheritableHandlers' | 'tags' | 'inheritableTags'> &
  Pick<CallbackManager, 'metadata' | 'inheritableMetadata'>;

/** A tool call, as code inside it finds it. */
interface ToolCall {
  /** `null` outside every tool. */
  readonly id: string | null;
  /** From 1: LangGraph's retries of the innermost task around the tool, whose config does not say so inside. */
  readonly attempt: number;
}

/** Receives the calls of models and tools as they begin. */
interface BegunCalls {
  callsModel(name: string): void;
  callsTool(id: string, name: string): void;
}

const NO_TOOL_CALL: ToolCall = { id: null, attempt: 1 };

/**
 * Carries the tool call to what is run inside: a tool is told its call as an argument, and what it calls in turn finds
 * the callbacks of the run around it.
 *
 * It is no handler: with one, LangChain takes a slower way through every runnable, also through those in which no tool
 * is called. Where nobody listens it starts no run of a chain, as if there were no callbacks, and LangChain hands it on as
 * it is.
 */
class ToolCallCarrier extends CallbackManager {
  readonly toolCall: ToolCall;
  /** The calls that began in this execution. */
  readonly #begun: BegunCalls;

  constructor(toolCall: ToolCall, begun: BegunCalls, { parentRunId, listeners }: CallAround = {}) {
    super(parentRunId, listeners);
    this.toolCall = toolCall;
    this.#begun = begun;
  }

  override copy(...additional: Parameters<CallbackManager['copy']>): CallbackManager {
    const [handlers = []] = additional;
    if (this.#isHeard || handlers.length > 0) return this.#around(super.copy(...additional), this.toolCall);
    return new ToolCallCarrier(this.toolCall, this.#begun, { parentRunId: this.getParentRunId() });
  }

  /** LangChain adds tags and metadata after the handlers that read them. */
  override addTags(...tags: Parameters<CallbackManager['addTags']>): void {
    if (this.#isHeard) super.addTags(...tags);
  }

  override addMetadata(...metadata: Parameters<CallbackManager['addMetadata']>): void {
    if (this.#isHeard) super.addMetadata(...metadata);
  }

  get #isHeard(): boolean {
    return this.handlers.length > 0;
  }

  override async handleChainStart(
    ...start: Parameters<CallbackManager['handleChainStart']>
  ): Promise<CallbackManagerForChainRun> {
    // LangChain asks every run with `?.`: there is none without callbacks.
    if (!this.#isHeard) return undefined as unknown as CallbackManagerForChainRun;
    return this.#inside(await super.handleChainStart(...start), this.toolCall);
  }

  override async handleChatModelStart(
    ...start: Parameters<CallbackManager['handleChatModelStart']>
  ): ReturnType<CallbackManager['handleChatModelStart']> {
    this.#begun.callsModel(modelOf(start));
    return super.handleChatModelStart(...start);
  }

  override async handleToolStart(
    ...start: Parameters<CallbackManager['handleToolStart']>
  ): Promise<CallbackManagerForToolRun> {
    const id = start[7] ?? this.toolCall.id;
    const attempt = attemptOf(ambientConfig()) ?? this.toolCall.attempt;
    if (id !== null) this.#begun.callsTool(id, start[6] ?? '');
    return this.#inside(await super.handleToolStart(...start), { id, attempt });
  }

  /** Runs inside a run find the tool call there. */
  #inside<Run extends { getChild(tag?: string): CallbackManager }>(run: Run, toolCall: ToolCall): Run {
    const getChild = run.getChild.bind(run);
    run.getChild = (tag) => this.#around(getChild(tag), toolCall);
    return run;
  }

  #around(manager: CallbackManager, toolCall: ToolCall): ToolCallCarrier {
    return new ToolCallCarrier(toolCall, this.#begun, callAround(manager));
  }
}

/** The name that a call of a model gives its provider; else that of its class. */
function modelOf([{ id }, , , , about]: Parameters<CallbackManager['handleChatModelStart']>): string {
  const { model } = (about?.['invocation_params'] ?? {}) as { readonly model?: unknown };
  return typeof model === 'string' ? model : (id?.at(-1) ?? 'unknown');
}

interface CallAround {
  readonly parentRunId?: string | undefined;
  readonly listeners?: Handlers;
}

const callAround = (manager: CallbackManager): CallAround => ({
  parentRunId: manager.getParentRunId(),
  listeners: manager,
});

/** The config of a node, and the one that LangChain finds where none is passed on, with the tool calls inside. */
export function withToolCalls<Config extends RunnableConfig>(config: Config, begun: BegunCalls): Config {
  const ambient = ambientConfig();
  if (ambient !== undefined) ambient.callbacks = carrier(ambient.callbacks, begun);
  return { ...config, callbacks: carrier(config.callbacks, begun) };
}

/** The call of the tool that this code runs in. */
export function currentToolCall(): ToolCall {
  const callbacks = ambientConfig()?.callbacks;
  return callbacks instanceof ToolCallCarrier ? callbacks.toolCall : NO_TOOL_CALL;
}

/** From 1: LangGraph's retries of the task whose config this is; `undefined` inside a runnable, which is not told. */
export function attemptOf(config: LangGraphRunnableConfig | undefined): number | undefined {
  return config?.executionInfo?.nodeAttempt;
}

function carrier(callbacks: Callbacks | undefined, begun: BegunCalls): CallbackManager {
  const manager = Array.isArray(callbacks) ? CallbackManager.configure(callbacks) : callbacks?.copy();
  return new ToolCallCarrier(NO_TOOL_CALL, begun, manager === undefined ? {} : callAround(manager));
}
