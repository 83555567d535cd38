import { MAX_RECURSION_DEPTH, RECURSION_WARNING_RATIO } from '../../config/defaults.ts';
import { type EventSink, orchestratorEvents } from '../../events/events.ts';

/** Context of one invocation. The depth is stored here and not in a module variable, so that runs stay separate. */
export interface LangGraphContext {
  readonly metadata: { readonly recursionDepth: number };
}

export type RecursionCheckResult =
  | { readonly allowed: true }
  | { readonly allowed: false; readonly reason: 'MAX_RECURSION_DEPTH_EXCEEDED' };

export interface RecursionGuardOptions {
  /** @defaultValue {@link orchestratorEvents} */
  readonly events?: EventSink;
  /** @defaultValue {@link MAX_RECURSION_DEPTH} */
  readonly limit?: number;
}

/**
 * Returns whether a run can make one more node transition [9_ROADMAP-RISK-401].
 *
 * Emits `RECURSION_DEPTH_WARNING` from 80 % of the limit, rounded up, also at the limit and above.
 *
 * @param ctx - The depth: ancestor frames plus node transitions since the last progress.
 * @returns `allowed: false` at or above the limit. The caller suspends the run.
 * @throws RangeError if the depth is not a non-negative integer, or the limit not a positive one.
 * @see docs/architecture/langgraph-execution.md#recursion-depth
 *
 * @example
 * ```ts
 * checkRecursionDepth({ metadata: { recursionDepth: 25 } });
 * // → { allowed: false, reason: 'MAX_RECURSION_DEPTH_EXCEEDED' }
 * ```
 */
export function checkRecursionDepth(
  ctx: LangGraphContext,
  { events = orchestratorEvents, limit = MAX_RECURSION_DEPTH }: RecursionGuardOptions = {},
): RecursionCheckResult {
  const depth = ctx.metadata.recursionDepth;
  assertInteger('recursionDepth', depth, 0);
  assertInteger('limit', limit, 1);
  if (depth >= Math.ceil(limit * RECURSION_WARNING_RATIO)) {
    events.emit('RECURSION_DEPTH_WARNING', { depth, limit });
  }
  return depth < limit ? { allowed: true } : { allowed: false, reason: 'MAX_RECURSION_DEPTH_EXCEEDED' };
}

function assertInteger(name: string, value: number, min: number): void {
  if (Number.isInteger(value) && value >= min) return;
  throw new RangeError(`Expected ${name} to be an integer of at least ${min}, got ${value}.`);
}
