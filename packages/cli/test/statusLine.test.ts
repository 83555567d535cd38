import { describe, expect } from 'vitest';
import { callMain } from './support/callMain.ts';
import { RUN_SUM, test } from './support/fixtures.ts';

const ERASE_LINE = '\r\u001b[2K';

describe('the line below the story', () => {
  test('tells on a terminal what runs, and leaves only the story behind', async ({ dir }) => {
    const { stdout } = await callMain(dir, [...RUN_SUM, '--no-color'], { isTTY: true });
    expect(stdout).toMatch(/(?:research|design) {2}(?:\d:\d\d {2})?total 0:\d\d/);
    const left = stdout
      .split('\n')
      .map((line) => line.split(ERASE_LINE).at(-1))
      .join('\n');
    expect(left).not.toContain('total');
    expect(left).toContain('design written');
  });

  test('is not drawn into a pipe or a document', async ({ dir }) => {
    expect((await callMain(dir, RUN_SUM)).stdout).not.toContain('\u001b');
    const { stdout } = await callMain(dir, [...RUN_SUM, '--json'], { isTTY: true });
    expect(() => JSON.parse(stdout)).not.toThrow();
  });
});
