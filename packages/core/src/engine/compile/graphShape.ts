import type { HitlSessionKind } from '../../state/gates/hitlSession.ts';
import { hashOf } from '../../values/canonicalJson.ts';

/**
 * What a waiting run depends on: names, questions and the author's version. Not edges and not code: those may change
 * under a run that waits. Kept with the run, so that a changed graph can be told from it name by name.
 */
export interface GraphShape {
  /** Sorted. */
  readonly nodes: readonly string[];
  /** Sorted. The author's channels and the guards' own; not LangGraph's triggers. */
  readonly channels: readonly string[];
  /** Nodes that ask a human by declaration, with the kind of their question. */
  readonly gates: Readonly<Record<string, HitlSessionKind>>;
  /** The author's own word for "compatible". */
  readonly version: string;
}

/** A shape with its names in order: the order in which a program declares them means nothing. */
export function graphShape({ nodes, channels, gates, version }: GraphShape): GraphShape {
  return { nodes: [...nodes].sort(), channels: [...channels].sort(), gates, version };
}

/** SHA-256 (hex); equal for the same shape in every process. */
export function graphFingerprint(shape: GraphShape): string {
  return hashOf(shape);
}

/** What runs of a graph are called among those of others. @throws TypeError */
export function graphName(name: string | undefined): string {
  if (name !== undefined && /^[\w-]{1,40}$/.test(name)) return name;
  throw new TypeError(`\`graph\` must be a name of 1 to 40 characters A-Z a-z 0-9 _ -, got ${String(name)}.`);
}
