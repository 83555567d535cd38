import { execFileSync, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const scriptUrl = new URL('../../../../scripts/test.mjs', import.meta.url);
const layers = fileURLToPath(new URL('../../../../scripts/check-layers.mjs', import.meta.url));

/** What the `test` script hands to Vitest. */
function vitestArguments(...args: readonly string[]): unknown {
  const code = `import { vitestArguments } from ${JSON.stringify(scriptUrl.href)};
    console.log(JSON.stringify(vitestArguments(JSON.parse(process.argv[1]))));`;
  const nodeArgs = ['--input-type=module', '-e', code, JSON.stringify(args)];
  return JSON.parse(execFileSync(process.execPath, nodeArgs, { encoding: 'utf8' }));
}

describe('the test script', () => {
  test('hands path patterns in both spellings to Vitest as filters', () => {
    expect(vitestArguments('--testPathPattern=persistence')).toEqual(['run', 'persistence']);
    expect(vitestArguments('--testPathPattern', 'persistence')).toEqual(['run', 'persistence']);
    expect(vitestArguments('persistence')).toEqual(['run', 'persistence']);
  });

  test('drops what only Jest knows and passes the rest on', () => {
    const args = [
      '--',
      '--ci',
      '--forceExit',
      '--reporter=json',
      '--testNamePattern=integration.*checkpoint',
    ];
    expect(vitestArguments(...args)).toEqual([
      'run',
      '--reporter=json',
      '--testNamePattern=integration.*checkpoint',
    ]);
  });

  test('narrows coverage to the module of the pattern, unless the caller chose files', () => {
    const file = 'packages/core/src/errors/DevsError.ts';
    expect(vitestArguments('--coverage', '--testPathPattern=DevsError')).toEqual([
      'run',
      '--coverage',
      '--coverage.reporter=text',
      `--coverage.include=${file}`,
      'DevsError',
    ]);
    const chosen = ['--coverage', `--coverage.include=${file}`];
    expect(vitestArguments(...chosen, 'x')).toEqual(['run', ...chosen, 'x']);
    expect(vitestArguments('--coverage')).toEqual(['run', '--coverage']);
  });
});

describe('check-layers.mjs', () => {
  test('finds every violation that is planted in memory', () => {
    const { status, stderr } = spawnSync(process.execPath, [layers, '--self-test'], { encoding: 'utf8' });
    expect(stderr).toBe('');
    expect(status).toBe(0);
  });
});
