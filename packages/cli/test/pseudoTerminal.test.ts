import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect } from 'vitest';
import { callMain } from './support/callMain.ts';
import { RUN_EMPTY, test } from './support/fixtures.ts';
import { sharedBin } from './support/sharedBin.ts';
import { stateHome } from './support/stateHome.ts';

const BIN = await sharedBin();

/** Runs the command on a pseudo-terminal and types each line when the text before it was printed. */
function onTerminal(
  cwd: string,
  argv: readonly string[],
  types: readonly (readonly [after: string, keys: string])[],
  { columns = 80, ...more }: { readonly columns?: number; readonly NO_COLOR?: string } = {},
) {
  const words = [process.execPath, BIN, ...argv].map((word) => `'${word.replaceAll("'", `'\\''`)}'`);
  // In the place of the shell: a Ctrl-C is for both, and some shells then end in their own way.
  const command = `stty cols ${columns}; exec ${words.join(' ')}`;
  const env = {
    ...process.env,
    XDG_STATE_HOME: stateHome(),
    CI: '',
    NO_COLOR: '1',
    PAGER: 'cat',
    TERM: 'xterm',
    EDITOR: 'true',
    VISUAL: '',
    ...more,
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
      ['your editor): ', '\n'],
      ['decide: ', 'a\n'],
      ['decide: ', '\u0003'],
    ]);
    expect(first.text).toContain('No decision was recorded; the gate stays open.');
    expect(first.text).toContain('waiting for a person: plan');
    expect(first.exitCode).toBe(75);
    const second = await onTerminal(dir, ['resume', 'sum'], [['decide: ', '\u0004']]);
    expect(second.text).toContain('waiting for a person: plan');
    expect(second.exitCode).toBe(75);
  });

  test('a document is read in colours, to the width of the terminal, and brings no code of its own', async ({
    dir,
  }) => {
    const content = [
      '# Export',
      '- [ ] a row of `table` is a line of the file, whatever is in it',
      '| 名前 | meaning |',
      '|---|---|',
      '| 寸法 | what it measures, in centimetres and never in anything else |',
      '\u001b]8;;https://evil.example\u0007click\u001b]8;;\u0007 \u001b[1A\u202eover',
      '',
    ].join('\n');
    const file = join(dir, 'PRD.md');
    writeFileSync(file, content);
    await callMain(dir, [...RUN_EMPTY, '--documents', file]);
    const show = (columns: number, NO_COLOR = '') =>
      onTerminal(dir, ['show', 'sum', '--full'], [], { columns, NO_COLOR });

    const [narrow, wide, plain] = await Promise.all([show(40), show(200), show(80, '1')]);
    const between = ({ text }: { readonly text: string }): readonly string[] => {
      const lines = stripVTControlCharacters(text).split('\r\n');
      return lines.slice(lines.indexOf('# Export'), lines.findLastIndex((line) => line.includes('over')) + 1);
    };
    const SPELLED = [
      '⟨U+001B⟩]8;;https://evil.example⟨U+0007⟩click⟨U+001B⟩]8;;⟨U+0007⟩',
      '⟨U+001B⟩[1A⟨U+202E⟩over',
    ];
    expect(between(narrow)).toEqual([
      '# Export',
      '- [ ] a row of `table` is a line of the',
      '      file, whatever is in it',
      '名前 │ meaning',
      '─────┼──────────────────────────────────',
      '寸法 │ what it measures, in centimetres',
      '     │ and never in anything else',
      ...SPELLED,
    ]);
    expect(between(wide)).toEqual([
      '# Export',
      '- [ ] a row of `table` is a line of the file, whatever is in it',
      '名前 │ meaning',
      '─────┼────────────────────────────────────────────────────────────',
      '寸法 │ what it measures, in centimetres and never in anything else',
      SPELLED.join(' '),
    ]);
    expect(narrow.text).toContain('\u001b[1m# Export\u001b[22m\r\n- \u001b[33m[ ]\u001b[39m a row');
    expect(plain.text).not.toContain('\u001b');
    expect(plain.text).toContain('| 寸法 | what it measures');

    const forced = { env: { FORCE_COLOR: '1' } };
    const md = await callMain(dir, ['show', 'sum', '--md'], forced);
    const json = await callMain(dir, ['show', 'sum', '--json'], forced);
    await callMain(dir, ['docs', 'sum', '--out', 'out'], forced);
    expect(md.stdout + json.stdout).not.toContain('\u001b');
    expect(readFileSync(join(dir, 'out', 'PRD.md'), 'utf8')).toBe(content);
  });
});
