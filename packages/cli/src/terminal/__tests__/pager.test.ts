import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Output } from '../Output.ts';
import { isLong, pagerFor } from '../pager.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'devs-pager-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const LINES = Array.from({ length: 30 }, (_, number) => `line ${number}`);

/** A terminal of 24 lines and what is written on it. */
function terminal(pager: string | undefined, { isTTY = true, rows = 24 } = {}) {
  const stdout = { isTTY, rows, columns: 80, text: '', write: (text: string) => (stdout.text += text) };
  const env = { PATH: process.env['PATH'], ...(pager !== undefined && { PAGER: pager }) };
  const sinks = { stdout, stderr: stdout, color: false };
  return {
    stdout,
    outputWith: (json: boolean) => new Output({ ...sinks, json, pager: pagerFor({ stdout, env }) }),
  };
}

/** A pager that keeps what it is given and the options of `less`. */
function keepingPager(): string {
  const file = join(dir, 'pager.mjs');
  writeFileSync(
    file,
    `import { readFileSync, writeFileSync } from 'node:fs';
     writeFileSync('${dir}/paged', process.env.LESS + '\\n' + readFileSync(0, 'utf8'));`,
  );
  return `'${execPath}' '${file}'`;
}

describe('a text on a terminal', () => {
  it('opens in the pager when it is longer than the screen', async () => {
    const { stdout, outputWith } = terminal(keepingPager());
    await outputWith(false).pages({}, LINES);
    expect(stdout.text).toBe('');
    expect(readFileSync(join(dir, 'paged'), 'utf8')).toBe(`FRX\n${LINES.join('\n')}\n`);
  });

  it.each([
    ['fits', 40, true, false],
    ['goes into a pipe', 24, false, false],
    ['is JSON', 24, true, true],
  ])('is printed when it %s', async (_when, rows, isTTY, json) => {
    const { stdout, outputWith } = terminal(keepingPager(), { rows, isTTY });
    await outputWith(json).pages(LINES, LINES);
    expect(stdout.text).toContain('line 29');
    expect(existsSync(join(dir, 'paged'))).toBe(false);
  });

  it.each(['cat', '', 'no-such-pager'])('is printed when the pager is %j', async (pager) => {
    const { stdout, outputWith } = terminal(pager);
    await outputWith(false).pages({}, LINES);
    expect(stdout.text).toContain('line 29\n');
  });

  it('may be left before its end', async () => {
    const { stdout, outputWith } = terminal(`'${execPath}' -e 0`);
    const long = Array.from({ length: 20_000 }, () => 'a line that does not fit into the pipe');
    await outputWith(false).pages({}, long);
    expect(stdout.text).toBe('');
  });
});

it('counts lines as the terminal wraps them', () => {
  expect(isLong(`${'a'.repeat(161)}\n`, { rows: 4, columns: 80 })).toBe(false);
  expect(isLong(`${'a'.repeat(241)}\n`, { rows: 4, columns: 80 })).toBe(true);
  expect(isLong('a\n'.repeat(99), {})).toBe(false);
});
