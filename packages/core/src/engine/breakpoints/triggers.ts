/** LangGraph's channels that call a node: an edge or a branch, and an edge that waits for several nodes. */
export const TRIGGER = /^(?:branch:to:|join:(?<starts>.*):)(?<node>.+)$/s;

/** A channel that was consumed has no value; an edge that waits for several nodes holds the names of those that ran. */
export function callsItsNode(value: unknown, starts: string | undefined): boolean {
  if (starts === undefined) return value !== undefined;
  if (!Array.isArray(value)) return false;
  const [first] = value as readonly unknown[];
  const ran: readonly unknown[] = Array.isArray(first) ? first : value; // beside whether the graph has finished
  return ran.length === starts.split('+').length;
}
