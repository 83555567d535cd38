import { BaseCallbackHandler, type CallbackHandlerMethods } from '@langchain/core/callbacks/base';
import type { CallbackManager, Callbacks } from '@langchain/core/callbacks/manager';
import type { RunnableConfig } from '@langchain/core/runnables';
import { AsyncLocalStorageProviderSingleton } from '@langchain/core/singletons';

/** The tool call that a run of LangChain belongs to, by the run's id. */
type ToolCalls = Map<string, string>;

/**
 * Notes which tool call each run inside a node belongs to. A tool is told its call as an argument; what it calls in turn
 * can only find the id of the run around it.
 */
class ToolCallNotes extends BaseCallbackHandler {
  readonly name = 'devs_tool_calls';
  override ignoreLLM = true;
  override ignoreRetriever = true;
  override ignoreCustomEvent = true;
  /** Noted before the run begins. */
  override awaitHandlers = true;
  readonly #toolCalls: ToolCalls;

  constructor(toolCalls: ToolCalls) {
    super();
    this.#toolCalls = toolCalls;
  }

  override copy(): this {
    return this;
  }

  override handleChainStart: NonNullable<CallbackHandlerMethods['handleChainStart']> = (
    ...[, , runId, parentRunId]
  ) => this.#note(runId, undefined, parentRunId);

  override handleToolStart: NonNullable<CallbackHandlerMethods['handleToolStart']> = (
    ...[, , runId, parentRunId, , , , toolCallId]
  ) => this.#note(runId, toolCallId, parentRunId);

  #note(runId: string, toolCallId: string | undefined, parentRunId: string | undefined): void {
    const id = toolCallId ?? (parentRunId === undefined ? undefined : this.#toolCalls.get(parentRunId));
    if (id !== undefined) this.#toolCalls.set(runId, id);
  }
}

/** The config of a node, and the one that LangChain finds where none is passed on, with notes of the tool calls inside. */
export function withToolCalls<Config extends RunnableConfig>(config: Config, toolCalls: ToolCalls): Config {
  const notes = new ToolCallNotes(toolCalls);
  const ambient = ambientConfig();
  if (ambient !== undefined) ambient.callbacks = joined(ambient.callbacks, notes);
  return { ...config, callbacks: joined(config.callbacks, notes) };
}

/** The call of the tool that this code runs in; `null` outside one. */
export function currentToolCall(toolCalls: ReadonlyMap<string, string>): string | null {
  const callbacks = ambientConfig()?.callbacks;
  const runId = isManager(callbacks) ? callbacks.getParentRunId() : undefined;
  return (runId === undefined ? undefined : toolCalls.get(runId)) ?? null;
}

/** The config of the innermost LangChain run around this code. */
export function ambientConfig(): RunnableConfig | undefined {
  return AsyncLocalStorageProviderSingleton.getRunnableConfig() as RunnableConfig | undefined;
}

function joined(callbacks: Callbacks | undefined, notes: BaseCallbackHandler): Callbacks {
  return isManager(callbacks) ? callbacks.copy([notes]) : [...(callbacks ?? []), notes];
}

function isManager(callbacks: Callbacks | undefined): callbacks is CallbackManager {
  return callbacks !== undefined && !Array.isArray(callbacks);
}
