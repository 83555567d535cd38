/** @throws RangeError naming the argument and its value. */
export function assertPositiveInteger(name: string, value: number): void {
  if (Number.isSafeInteger(value) && value > 0) return;
  throw new RangeError(`Expected ${name} to be a positive integer, got ${value}.`);
}
