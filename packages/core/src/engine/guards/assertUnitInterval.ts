/** @throws RangeError if a score or threshold is no number in [0, 1]; NaN is none. */
export function assertUnitInterval(name: string, value: unknown): void {
  if (typeof value === 'number' && value >= 0 && value <= 1) return;
  throw new RangeError(`Expected ${name} to be in [0, 1], got ${String(value)}.`);
}
