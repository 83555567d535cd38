import { repeatableStep } from '../node/repeatableStep.ts';
import type { StepOptions } from '../node/step.ts';

interface NamedTool {
  readonly name: string;
  invoke(input: unknown, config?: unknown): Promise<unknown>;
}

/** A tool costs tokens only through a model, so its call reserves zero. */
const TOOL_CALL: StepOptions = { reserve: { usd: 0, tokens: 0 } };

/** Records a call of a tool, under its name and the id that the model gave it. */
export function recordedToolCall<T>(
  { name, id }: { readonly name: string; readonly id?: string | undefined },
  call: () => Promise<T> | T,
): Promise<T> {
  return repeatableStep(id === undefined ? name : `${name} ${id}`, call, TOOL_CALL);
}

/**
 * The same tools with calls that are recorded as steps. When a node runs again, a recorded result returns and the tool is
 * not called. For `ToolNode` and `createReactAgent`; `createAgent` has `recordCalls()`.
 *
 * A call that throws is not recorded. The model receives the error, and a crash before that is written makes the call again.
 * The id of the call, `runtime.toolCallId`, is the same then: pass it on as an idempotency key.
 *
 * @param tools - Those of `ToolNode`. A provider's own tool, which has only a definition, stays as it is.
 *
 * @example
 * ```ts
 * builder.addNode('tools', new ToolNode(recordedTools([search, mail])));
 * ```
 */
export function recordedTools<Tool>(tools: readonly Tool[]): Tool[] {
  return tools.map((tool) => (isTool(tool) ? (recordedTool(tool) as Tool) : tool));
}

function isTool(tool: unknown): tool is NamedTool & object {
  const { name, invoke } = Object(tool) as Partial<NamedTool>;
  return typeof name === 'string' && typeof invoke === 'function';
}

function recordedTool<Tool extends NamedTool & object>(tool: Tool): Tool {
  const invoke = (input: unknown, ...besides: readonly unknown[]): Promise<unknown> => {
    const { id } = Object(input) as { readonly id?: string };
    return recordedToolCall(
      { name: tool.name, id },
      () => Reflect.apply(tool.invoke, tool, [input, ...besides]) as Promise<unknown>,
    );
  };
  return new Proxy(tool, {
    get(target, name) {
      if (name === 'invoke') return invoke;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' && name !== 'constructor' ? value.bind(target) : value;
    },
  });
}
