import { BinaryOperatorAggregate } from '@langchain/langgraph';

type Values = Readonly<Record<string, unknown>>;

/** The state as one node's update leaves it: through the channels' reducers, as LangGraph will merge it. */
export function foldUpdate<State extends object>(channels: Values, state: State, update: Values): State {
  const folded = Object.entries(update).map(([name, value]) => [
    name,
    reduced(channels[name], (state as Values)[name], value),
  ]);
  return { ...state, ...Object.fromEntries(folded) };
}

function reduced(channel: unknown, current: unknown, value: unknown): unknown {
  if (!(channel instanceof BinaryOperatorAggregate)) return value;
  const scratch = channel.fromCheckpoint(ownCopy(current));
  scratch.update([value]);
  return scratch.get();
}

/** A reducer may change what it is given, and the channel still holds it. */
function ownCopy(value: unknown): unknown {
  if (Array.isArray(value)) return [...value];
  if (value instanceof Map) return new Map(value);
  if (value instanceof Set) return new Set(value);
  const isPlain =
    typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
  return isPlain ? { ...value } : value;
}
