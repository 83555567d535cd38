import { appendFileSync, mkdirSync, rmSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { howMany } from '../../../core/test/support/howMany.ts';
import { longer } from '../../../core/test/support/longer.ts';
import { type PostgresServer, startPostgres } from '../support/startPostgres.ts';
import { type SoakSample, soak } from './soak.ts';

const SECONDS = howMany('DEVS_SOAK_SECONDS', 4);
const IS_LONG = SECONDS > 60;
/** A line for each sample of the long form. */
const SAMPLES = 'test-results/soak.json';

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

/** The most of a part of the samples, in tenths of their time. */
const mostOf = (
  samples: readonly SoakSample[],
  [from, to]: readonly [number, number],
  of: keyof SoakSample,
): number =>
  Math.max(
    ...samples
      .slice(Math.floor((samples.length * from) / 10), Math.ceil((samples.length * to) / 10))
      .map((each) => each[of]),
  );

test(
  'a cluster that begins runs all the time keeps those of its retention, and nothing grows',
  async () => {
    mkdirSync('test-results', { recursive: true });
    rmSync(SAMPLES, { force: true });
    const samples = await soak({
      url: server.url,
      minutes: SECONDS / 60,
      rate: IS_LONG ? 2 : 5,
      ended: IS_LONG ? '1m' : '1s',
      everySeconds: IS_LONG ? 30 : 1,
      tell: (sample) => {
        if (IS_LONG) appendFileSync(SAMPLES, `${JSON.stringify(sample)}\n`);
      },
    });
    const last = samples.at(-1);
    expect(last?.completed).toBeGreaterThan(0);
    if (!IS_LONG) return;
    expect(last?.completed).toBeGreaterThan((last?.started ?? 0) - 20);
    for (const of of ['kept', 'memoryMb', 'tablesMb', 'deadRows'] as const)
      expect(mostOf(samples, [7, 10], of), of).toBeLessThanOrEqual(1.2 * mostOf(samples, [3, 6], of));
  },
  longer(60_000, SECONDS / 30),
);
