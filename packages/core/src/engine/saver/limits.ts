/** How large stored values may be; larger ones are refused with `VALUE_TOO_LARGE` before anything is written. */
export interface SaverLimits {
  /** Bytes of one channel value or pending write. @defaultValue 1,048,576 */
  readonly valueBytes: number;
  /** Bytes of all channel values of a checkpoint together. @defaultValue 16,777,216 */
  readonly checkpointBytes: number;
  /** Levels of arrays and objects in a value; only the default serde counts them. @defaultValue 200 */
  readonly depth: number;
}

export const DEFAULT_LIMITS: SaverLimits = {
  valueBytes: 1024 * 1024,
  checkpointBytes: 16 * 1024 * 1024,
  depth: 200,
};

/** @throws RangeError naming the limit that is not a whole number of at least 1. */
export function validLimits(given: Partial<SaverLimits> = {}): SaverLimits {
  const limits = { ...DEFAULT_LIMITS, ...given };
  for (const [name, value] of Object.entries(limits)) {
    if (!Number.isSafeInteger(value) || value < 1) throw new RangeError(`limits.${name}: ${String(value)}`);
  }
  return limits;
}
