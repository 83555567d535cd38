import { BinaryOperatorAggregate } from '@langchain/langgraph';
import type { ChannelWrite } from '../node/nodeOutput.ts';

type ChannelValues = Readonly<Record<string, unknown>>;

/** The state as one node's writes leave it: through the channels' reducers, as LangGraph will merge them. */
export function foldUpdate<State extends object>(
  channels: ChannelValues,
  state: State,
  writes: readonly ChannelWrite[],
): State {
  const folded = { ...state } as Record<string, unknown>;
  for (const [name, value] of writes) {
    if (Object.hasOwn(channels, name)) folded[name] = reduced(channels[name], folded[name], value);
  }
  return folded as State;
}

/** Whether a channel merges what is written to it, instead of holding the last. */
export const isReduced = (channel: unknown): boolean => channel instanceof BinaryOperatorAggregate;

function reduced(channel: unknown, current: unknown, value: unknown): unknown {
  if (!(channel instanceof BinaryOperatorAggregate)) return value;
  const scratch = channel.fromCheckpoint(copyValue(current));
  scratch.update([value]);
  return scratch.get();
}

/** A reducer may change what it is given, and the channel still holds it. */
function copyValue(value: unknown): unknown {
  if (Array.isArray(value)) return [...value];
  if (value instanceof Map) return new Map(value);
  if (value instanceof Set) return new Set(value);
  const isPlain =
    typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
  return isPlain ? { ...value } : value;
}
