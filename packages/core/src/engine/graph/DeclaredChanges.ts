// Renamed and removed names of an earlier version of a graph, as an author or a human declares them.

import type { GraphShape } from './graphShape.ts';

/** Old names that a changed graph lacks. */
export interface DeclaredChanges {
  /** Old name → new name. */
  readonly renamed?: {
    readonly nodes?: Readonly<Record<string, string>>;
    readonly channels?: Readonly<Record<string, string>>;
  };
  /**
   * Removed for good; the values of removed channels are dropped. A list names nodes, channels and gates alike. To remove
   * a gate alone, list its name.
   */
  readonly removed?: readonly string[] | RemovedNames;
}

export interface RemovedNames {
  readonly nodes?: readonly string[];
  readonly channels?: readonly string[];
  /** As declared in `gates`: the node's name, or a path like `sub:publish`. */
  readonly gates?: readonly string[];
}

/**
 * Removed names by kind. In a list, a name is that of a node or channel that is gone, else of a gate.
 */
export function removedNames(
  removed: readonly string[] | RemovedNames,
  before: GraphShape,
  now: GraphShape,
): RemovedNames {
  if (!isNameList(removed)) return removed;
  const nodes = removed.filter((name) => before.nodes.includes(name) && !now.nodes.includes(name));
  const channels = removed.filter((name) => before.channels.includes(name) && !now.channels.includes(name));
  const gates = removed.filter((name) => !nodes.includes(name) && !channels.includes(name));
  return { nodes, channels, gates };
}

export const isNameList = (removed: readonly string[] | RemovedNames): removed is readonly string[] =>
  Array.isArray(removed);
