import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { describe, expect } from 'vitest';
import { RUN_EMPTY, test } from './support/fixtures.ts';
import { sharedBin } from './support/sharedBin.ts';
import { stateHome } from './support/stateHome.ts';

const BIN = await sharedBin();

/** Runs the command on a pseudo-terminal and types each line when the text before it was printed. */
function onTerminal(
  cwd: string,
  argv: readonly string[],
  types: readonly (readonly [after: string, keys: string])[],
) {
  const words = [process.execPath, BIN, ...argv].map((word) => `'${word.replaceAll("'", `'\\''`)}'`);
  // In the place of the shell: a Ctrl-C is for both, and some shells then end in their own way.
  const command = ['exec', ...words].join(' ');
  const env = {
    ...process.env,
    XDG_STATE_HOME: stateHome(),
    CI: '',
    NO_COLOR: '1',
    PAGER: 'cat',
    TERM: 'xterm',
    EDITOR: 'true',
    VISUAL: '',
  };
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    cwd,
    env,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let [text, from] = ['', 0];
  const left = [...types];
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
    const [next] = left;
    const at = next === undefined ? -1 : text.indexOf(next[0], from);
    if (next === undefined || at === -1) return;
    left.shift();
    from = at + next[0].length;
    child.stdin.write(next[1]);
  });
  return new Promise<{ readonly exitCode: number | null; readonly text: string }>((resolve) => {
    child.on('close', (exitCode) => resolve({ exitCode, text }));
  });
}

const SCRIPT = existsSync('/usr/bin/script');

describe.runIf(SCRIPT)('on a pseudo-terminal', () => {
  test('gates are decided with keys, an editor has the terminal meanwhile, and Ctrl-C or Ctrl-D leaves the run waiting', async ({
    dir,
  }) => {
    const first = await onTerminal(dir, RUN_EMPTY, [
      ['decide: ', 'r\n'],
      ['in your editor): ', '\n'],
      ['decide: ', 'a\n'],
      ['decide: ', '\u0003'],
    ]);
    expect(first.text).toContain('Nothing was decided; the gate stays open.');
    expect(first.text).toContain('waiting for a human: plan');
    expect(first.exitCode).toBe(75);
    const second = await onTerminal(dir, ['resume', 'sum'], [['decide: ', '\u0004']]);
    expect(second.text).toContain('waiting for a human: plan');
    expect(second.exitCode).toBe(75);
  });
});
