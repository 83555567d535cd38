/** One thing that was tried with a CLI. */
export interface Trial {
  readonly what: string;
  readonly passed: boolean;
  readonly found: string;
  readonly seconds: number;
}

/** Tries it; what it throws is what was found. */
export async function trial(what: string, tried: () => Promise<string>): Promise<Trial> {
  const started = performance.now();
  const seconds = (): number => (performance.now() - started) / 1_000;
  try {
    const found = await tried();
    return { what, passed: true, found, seconds: seconds() };
  } catch (error) {
    return { what, passed: false, found: (error as Error).message, seconds: seconds() };
  }
}

export function expectEqual(what: string, found: unknown, expected: unknown): void {
  if (found !== expected)
    throw new Error(`${what}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(found)}`);
}
