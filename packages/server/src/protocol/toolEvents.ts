import { plain } from '../http/serialize.ts';
import type { UnplacedEvent } from './ProtocolEvent.ts';

interface MessageJson {
  readonly type?: string;
  readonly tool_calls?: readonly { readonly id?: string; readonly name?: string; readonly args?: unknown }[];
  readonly tool_call_id?: string;
  readonly content?: unknown;
  readonly status?: string;
}

/** The tool calls in the messages that a node has written: those that begin, and those that have ended. */
export function toolEvents(values: unknown, namespace: readonly string[]): readonly UnplacedEvent[] {
  if (typeof values !== 'object' || values === null || !('messages' in values)) return [];
  const { messages } = plain(values) as { readonly messages: unknown };
  const all = (Array.isArray(messages) ? messages : [messages]) as readonly (MessageJson | null)[];
  return all
    .flatMap((message) => dataOf(message ?? {}))
    .map((data) => ({ method: 'tools', namespace, data }));
}

function dataOf({ type, tool_calls: calls = [], ...message }: MessageJson): readonly object[] {
  if (type === 'ai') {
    return calls.map(({ id: tool_call_id, name: tool_name, args: input }) => ({
      ...{ event: 'tool-started', tool_call_id, tool_name, input },
    }));
  }
  if (type !== 'tool') return [];
  const { tool_call_id, content, status } = message;
  if (status === 'error') return [{ event: 'tool-error', tool_call_id, message: textOf(content) }];
  return [{ event: 'tool-finished', tool_call_id, output: { ...message, type } }];
}

const textOf = (content: unknown): string =>
  typeof content === 'string' ? content : JSON.stringify(content);
