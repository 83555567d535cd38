import { hashOf } from '../../state/canonicalJson.ts';

export interface GraphShape {
  readonly nodes: readonly string[];
  readonly channels: readonly string[];
  /** Nodes with a declared gate. */
  readonly gates: readonly string[];
  /** The author's own word for "compatible". */
  readonly version: string;
}

/**
 * What a waiting run depends on: node names, channels, gates and the author's version. Not edges and not code:
 * those may change under a run that waits.
 */
export function graphFingerprint({ nodes, channels, gates, version }: GraphShape): string {
  return hashOf({ nodes: sorted(nodes), channels: sorted(channels), gates: sorted(gates), version });
}

const sorted = (names: readonly string[]): readonly string[] => [...names].sort();
