/** How often a test does what it does: few by default, more for `pnpm test:long` (scripts/test-long.mjs has the names). */
export function howMany(name: string, usual: number): number {
  const wanted = Number(process.env[name] ?? usual);
  if (Number.isSafeInteger(wanted) && wanted >= 1) return wanted;
  throw new RangeError(`${name}: expected a whole number of at least 1, got ${process.env[name]}`);
}
