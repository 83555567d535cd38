import { execFileSync, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const scriptUrl = new URL('../../../../scripts/test.mjs', import.meta.url);
const layers = fileURLToPath(new URL('../../../../scripts/check-layers.mjs', import.meta.url));

interface Command {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** What the `test` script starts Vitest with. */
function vitestCommand(...args: readonly string[]): Command {
  const code = `import { vitestCommand } from ${JSON.stringify(scriptUrl.href)};
    console.log(JSON.stringify(await vitestCommand(JSON.parse(process.argv[1]))));`;
  const nodeArgs = ['--input-type=module', '-e', code, JSON.stringify(args)];
  return JSON.parse(execFileSync(process.execPath, nodeArgs, { encoding: 'utf8' })) as Command;
}

const covering = (...modules: readonly string[]): string[] => [
  '--coverage.reporter=text',
  ...modules.map((file) => `--coverage.include=packages/core/src/${file}`),
];

describe('the test script', () => {
  test('hands path patterns in both spellings to Vitest as filters', () => {
    const args = ['run', 'persistence'];
    expect(vitestCommand('--testPathPattern=persistence')).toEqual({ args, env: {} });
    expect(vitestCommand('--testPathPattern', 'persistence')).toEqual({ args, env: {} });
    expect(vitestCommand('persistence')).toEqual({ args, env: {} });
  });

  test('drops what only Jest knows and passes the rest on', () => {
    const rest = ['--reporter=json', '--testNamePattern=integration.*checkpoint'];
    expect(vitestCommand('--', '--ci', '--forceExit', ...rest).args).toEqual(['run', ...rest]);
  });

  test('narrows coverage to the module of the pattern, and holds it to the bounds of that', () => {
    expect(vitestCommand('--coverage', '--testPathPattern=DevsError')).toEqual({
      args: ['run', '--coverage', ...covering('errors/DevsError.ts'), 'DevsError'],
      env: { DEVS_COVERAGE_THRESHOLDS: 'modules' },
    });
  });

  test('takes a module from the path of its test, or those that the test imports from the folder around', () => {
    const named = 'src/orchestrator/__tests__/recursionGuard.test.ts';
    expect(vitestCommand(named, '--coverage').args).toEqual([
      'run',
      named,
      '--coverage',
      ...covering('engine/guards/recursionGuard.ts', 'orchestration/recursionGuard.ts'),
    ]);
    const about = 'src/state/__tests__/langgraph-checkpoints.test.ts';
    expect(vitestCommand('--coverage', `--testPathPattern=${about}`).args).toEqual([
      'run',
      '--coverage',
      ...covering('state/CheckpointPersister.ts', 'state/runs/RunRemover.ts', 'state/StateFile.ts'),
      about,
    ]);
  });

  test('chooses no module where the caller chose files or no path, and holds a part of the tests to no bound', () => {
    const chosen = ['--coverage', '--coverage.include=packages/core/src/errors/DevsError.ts', 'x'];
    expect(vitestCommand(...chosen)).toEqual({ args: ['run', ...chosen], env: {} });
    expect(vitestCommand('--coverage')).toEqual({ args: ['run', '--coverage'], env: {} });
    expect(vitestCommand('--coverage', '-t', 'one', 'DevsError')).toEqual({
      args: ['run', '--coverage', '-t', 'one', 'DevsError', ...covering('errors/DevsError.ts')],
      env: {},
    });
  });
});

describe('check-layers.mjs', () => {
  test('finds every violation that is planted in memory', () => {
    const { status, stderr } = spawnSync(process.execPath, [layers, '--self-test'], { encoding: 'utf8' });
    expect(stderr).toBe('');
    expect(status).toBe(0);
  });
});
