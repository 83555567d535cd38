import { execFileSync, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { callMain } from '../../../test/support/callMain.ts';
import { test } from '../../../test/support/fixtures.ts';
import { readDecision } from '../../commands/approve.ts';
import { readHanded } from '../readHanded.ts';

const DECISION = { session: 'a'.repeat(8), hash: 'b'.repeat(64), approved: true };

function pipeIn(dir: string): string {
  const pipe = join(dir, 'pipe');
  execFileSync('mkfifo', [pipe]);
  return pipe;
}

describe('a file that a person names', () => {
  test('may be a pipe: what is written to it late, in parts, is read whole', async ({ dir }) => {
    const pipe = pipeIn(dir);
    const text = JSON.stringify(DECISION);
    const parts = `sleep 0.1; { printf %s '${text.slice(0, 40)}'; sleep 0.1; printf %s '${text.slice(40)}'; } > '${pipe}'`;
    const writer = spawn('sh', ['-c', parts]);
    expect(await readDecision(pipe, { cwd: dir })).toEqual(DECISION);
    expect(writer.exitCode ?? 0).toBe(0);
  });

  test('is not waited for when it is a pipe that nobody writes to', async ({ dir }) => {
    await expect(readHanded(pipeIn(dir), 50)).rejects.toThrow('no data on this pipe');
  });

  test('is not read for ever when it does not end', async () => {
    await expect(readHanded('/dev/zero')).rejects.toThrow('it is longer than');
  });

  test('is read as it is when it is a file, and refused when it is a folder', async ({ dir }) => {
    writeFileSync(join(dir, 'decision.json'), '');
    expect(await readHanded(join(dir, 'decision.json'))).toHaveLength(0);
    expect(await callMain(dir, ['approve', '--from', '.'])).toMatchObject({ exitCode: 2 });
  });
});
