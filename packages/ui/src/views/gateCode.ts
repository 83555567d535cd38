import type { Gate } from '@devs/core';
import type { ShownGate } from '@devs/core/internal';

/**
 * Reads the code of a review; returns `null` for a gate without code.
 *
 * @param since - A commit of the same run: only newer changes.
 */
export type ReadGateCode = (gate: Gate, since?: string) => Promise<GateCode | null>;

/** Reads the changes of one commit of a run; returns `null` if its commits are not here. */
export type ReadCommit = (run: string, commit: string) => Promise<GateCode | null>;

/** The code of a review, or of a commit. */
export interface GateCode {
  /** Unified diff; for a gate, masked as gates are. */
  readonly diff: string;
  /** Places that the diff hides. @defaultValue those that the page hides */
  readonly hidden?: readonly ShownGate['hiddenPlaces'][number][];
  /** Files without a line in the diff, as text. */
  readonly unshown: readonly string[];
  /** Why it could not be read. */
  readonly problem?: string;
}

/** The newest commit that a review shows; `undefined` for a gate without code. */
export function newestCommit({ artifact }: Pick<Gate, 'artifact'>): string | undefined {
  const { range } = (artifact ?? {}) as { readonly range?: { readonly to?: unknown } };
  return typeof range?.to === 'string' ? range.to : undefined;
}

/** The paths that a review names; empty for a gate without code. */
export function changedPaths({ artifact }: Pick<Gate, 'artifact'>): readonly string[] {
  const { range } = (artifact ?? {}) as {
    readonly range?: { readonly files?: readonly { readonly path?: unknown }[] };
  };
  return (range?.files ?? []).flatMap(({ path }) => (typeof path === 'string' ? [path] : []));
}
