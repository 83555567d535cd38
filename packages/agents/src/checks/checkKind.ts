import { basename } from 'node:path';
import type { CheckPart } from '@devs/core';

const LINT = new Set([
  'xo',
  'eslint',
  'biome',
  'oxlint',
  'prettier',
  'standard',
  'ts-standard',
  'semistandard',
  'stylelint',
  'ruff',
  'flake8',
  'pylint',
  'black',
  'rubocop',
  'golangci-lint',
  'gofmt',
  'shellcheck',
  'markdownlint',
  'clippy',
  'dprint',
  'knip',
  'lint',
]);
const TYPES = new Set([
  'tsc',
  'tsd',
  'attw',
  'vue-tsc',
  'tsgo',
  'mypy',
  'pyright',
  'typecheck',
  'type-check',
  'types',
]);
const RUNS = new Set([
  'npm',
  'pnpm',
  'yarn',
  'bun',
  'npx',
  'bunx',
  'corepack',
  'exec',
  'run',
  'run-script',
  'dlx',
  'x',
  'node',
  'cargo',
  'go',
  'uv',
  'poetry',
  'python',
  'python3',
  '-m',
]);

/** Returns the kind of a check from its program; `test` if unknown. */
export function checkKind(argv: readonly string[]): CheckPart['kind'] {
  const program = argv.find((word) => !RUNS.has(word) && (!word.startsWith('-') || RUNS.has(word))) ?? '';
  const name = basename(program)
    .replace(/\.[cm]?js$/, '')
    .replace(/:.*$/, '');
  if (LINT.has(name)) return 'lint';
  return TYPES.has(name) ? 'types' : 'test';
}
