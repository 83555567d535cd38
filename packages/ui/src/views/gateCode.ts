import type { Gate } from '@devs/core';
import type { ShownGate } from '@devs/core/internal';

/**
 * Reads the code that a review is about, from where its commits are; `null` for a gate without code.
 *
 * @param since - A commit of the same run: only what is new since then.
 */
export type ReadCode = (gate: Gate, since?: string) => Promise<GateCode | null>;

/** Reads what one commit of a run has changed; `null` where it is not known where its commits are. */
export type ReadCommit = (run: string, commit: string) => Promise<GateCode | null>;

/** The code of a review, or of a commit. */
export interface GateCode {
  /** Unified; of a gate masked as gates mask. */
  readonly diff: string;
  /** Where the diff hides something. @defaultValue where the page does */
  readonly hidden?: readonly ShownGate['hiddenPlaces'][number][];
  /** Files of which the diff has no line, in words. */
  readonly unshown: readonly string[];
  /** Why it could not be read. */
  readonly problem?: string;
}

/** The newest commit that a review shows; `undefined` for a gate without code. */
export function newestCommit({ artifact }: Pick<Gate, 'artifact'>): string | undefined {
  const { range } = (artifact ?? {}) as { readonly range?: { readonly to?: unknown } };
  return typeof range?.to === 'string' ? range.to : undefined;
}
