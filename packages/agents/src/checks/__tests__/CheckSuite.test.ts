import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CheckSuite } from '../CheckSuite.ts';
import { CommandChecks } from '../CommandChecks.ts';

let dir: string;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'devs-suite-'));
  await mkdir(join(dir, 'a'));
});

afterEach(() => rm(dir, { recursive: true, force: true }));

const script = (source: string) => new CommandChecks({ argv: [process.execPath, '-e', source] });
const run = (suite: CheckSuite) => suite.run({ dir, signal: new AbortController().signal });
const where = "console.log(require('path').basename(process.cwd()))";

describe('CheckSuite', () => {
  it('runs each check in its folder and tells all of them', async () => {
    const suite = new CheckSuite([
      { name: 'one', dir: 'a', checks: script(where) },
      { name: 'two', dir: '.', checks: script(where) },
    ]);
    const result = await run(suite);
    expect(result).toMatchObject({ passed: true, exitCode: 0 });
    expect(result.output).toMatch(/\[one\][^\n]+\na\n+\[two\]/);
  });

  it('runs all of them, and says which part is red', async () => {
    const suite = new CheckSuite([
      { name: 'one', dir: '.', kind: 'lint', checks: script('process.exit(3)') },
      { name: 'two', dir: '.', checks: script("console.log('TAP version 13\\nok 1 - a\\n1..1')") },
    ]);
    expect(await run(suite)).toMatchObject({
      passed: false,
      exitCode: 3,
      parts: [
        { name: 'one', kind: 'lint', passed: false },
        { name: 'two', kind: 'test', passed: true },
      ],
      cases: [{ name: 'two: a', state: 'passed' }],
    });
  });

  it('refuses to judge with nothing', () => {
    expect(() => new CheckSuite([])).toThrow(TypeError);
  });
});
