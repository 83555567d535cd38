import { maskPreciseDeep } from '../../masking/maskPrecise.ts';
import type { NodeOutput, Write } from './nodeOutput.ts';

/** What a human's answer writes, on its way into the state with what the node writes. */
export interface DecidedWrites {
  /** Before the node's writes, each for itself. Masked. */
  readonly beside: readonly Write[];
  /** In the node's own update, in which the node has the last word. */
  readonly within: Readonly<Record<string, unknown>>;
}

/** @param reduces - Whether a channel takes several writes of one task: there both are written. */
export function decidedWrites(
  decided: readonly Write[],
  output: NodeOutput,
  reduces: (channel: string) => boolean,
): DecidedWrites {
  const isApart = ([name]: Write): boolean => reduces(name) && Object.hasOwn(output.update, name);
  return {
    beside: maskPreciseDeep(decided.filter(isApart)).value,
    within: Object.fromEntries(decided.filter((write) => !isApart(write))),
  };
}
