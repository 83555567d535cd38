import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test as base, describe, expect } from 'vitest';

const script = fileURLToPath(new URL('../../../../scripts/verify_test_results.js', import.meta.url));

interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[];
  }[];
}

const reportOf = (...statuses: readonly string[]): Report => ({
  testResults: [
    {
      name: 'a.test.ts',
      status: statuses.includes('failed') ? 'failed' : 'passed',
      assertionResults: statuses.map((status, i) => ({ fullName: `test ${i}`, status })),
    },
  ],
});

const test = base.extend<{ judge: (content?: string) => { status: number | null; stderr: string } }>({
  judge: async ({}, use) => {
    const dir = mkdtempSync(join(tmpdir(), 'devs-report-'));
    await use((content) => {
      const file = join(dir, 'report.json');
      if (content !== undefined) writeFileSync(file, content);
      return spawnSync(process.execPath, [script, file], { encoding: 'utf8' });
    });
    rmSync(dir, { recursive: true });
  },
});

describe('verify_test_results.js', () => {
  test('accepts a report in which every test passed', ({ judge }) => {
    expect(judge(JSON.stringify(reportOf('passed', 'passed')))).toMatchObject({ status: 0, stderr: '' });
  });

  test('refuses a failed test and names it', ({ judge }) => {
    const { status, stderr } = judge(JSON.stringify(reportOf('passed', 'failed')));
    expect(status).toBe(1);
    expect(stderr).toBe('failed: test 1\n');
  });

  test.for(['skipped', 'pending', 'todo', 'disabled'])('refuses a %s test', (status, { judge }) => {
    const verdict = judge(JSON.stringify(reportOf('passed', status)));
    expect(verdict).toMatchObject({ status: 1, stderr: `${status}: test 1\n` });
  });

  test('refuses a report in which nothing ran', ({ judge }) => {
    expect(judge(JSON.stringify({ testResults: [] }))).toMatchObject({ status: 1, stderr: 'no test ran\n' });
    expect(judge(JSON.stringify(reportOf()))).toMatchObject({ status: 1, stderr: 'no test ran\n' });
  });

  test('refuses a test file that failed before its tests began', ({ judge }) => {
    const broken = { name: 'b.test.ts', status: 'failed', assertionResults: [] };
    const { testResults } = reportOf('passed');
    const { status, stderr } = judge(JSON.stringify({ testResults: [...testResults, broken] }));
    expect(status).toBe(1);
    expect(stderr).toContain('b.test.ts (did not run)');
  });

  test('refuses a missing file', ({ judge }) => {
    const { status, stderr } = judge();
    expect(status).toBe(1);
    expect(stderr).toContain('ENOENT');
  });

  test.for(['{"testResults": [', 'null', '{}', '[]'])(
    'refuses %j, which is no report',
    (content, { judge }) => {
      expect(judge(content).status).toBe(1);
    },
  );

  test('refuses to run without a file name', () => {
    const { status, stderr } = spawnSync(process.execPath, [script], { encoding: 'utf8' });
    expect(status).toBe(1);
    expect(stderr).toContain('usage');
  });
});
