import { expect, test } from 'vitest';
import { textOfAll } from '../../terminal/Line.ts';
import { missingNamed } from '../missingNamed.ts';
import { artifactLines } from '../renderArtifact.ts';

test.each([
  ['Error: Environment variable not found: DATABASE_URL.', ['DATABASE_URL'], []],
  ["KeyError: 'STRIPE_API_KEY'", ['STRIPE_API_KEY'], []],
  ['Error: process.env.PORT is undefined', ['PORT'], []],
  ['missing required env var REDIS_URL or REDIS_HOST', ['REDIS_URL', 'REDIS_HOST'], []],
  ["Error: ENOENT: no such file or directory, open '/w/.env.test'", [], ['/w/.env.test']],
  ['sh: config/local.json: No such file or directory: config/local.json', [], ['config/local.json']],
  ["FileNotFoundError: [Errno 2] No such file or directory: 'data/x.csv'", [], ['data/x.csv']],
  ["code: 'ERR_MODULE_NOT_FOUND'", [], []],
  ['AssertionError: MAX_VALUE should be 3', [], []],
  ['Missing script: "test"', [], []],
  ['✔ rejects when API_KEY is fine', [], []],
  ['', [], []],
] as const)('of %j', (output, variables, files) => {
  expect(missingNamed(output)).toEqual({ variables, files });
});

test('a red baseline that mentions one names the setting', () => {
  const baseline = { command: 'npm test', failing: ['npm test'], flaky: [], cases: null };
  const shown = (output: string): string => textOfAll(artifactLines({ ...baseline, output }));
  const told = shown('DATABASE_URL is not set\n');
  expect(told).toContain(
    'The output names DATABASE_URL: checks get no variables of yours unless they are named.',
  );
  expect(told).toContain('"passEnv": ["DATABASE_URL"]');
  expect(shown("ENOENT: no such file or directory, open '.env'")).toContain('"envFile": ".env"');
  expect(shown("ENOENT: no such file or directory, open 'dist/a.js'")).toContain('made by a setup command');
  expect(shown('1 failed')).not.toContain('The output names');
});
