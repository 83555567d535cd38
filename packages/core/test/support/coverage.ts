import v8 from '@vitest/coverage-v8';

// Every process of the tests loads this file, so what only the last step needs is loaded by that alone.

/** Vitest's own coverage of V8, summed up by {@link SummedCoverage}. */
export default {
  ...v8,
  getProvider: async () => new (await import('./SummedCoverage.ts')).SummedCoverage(),
};
