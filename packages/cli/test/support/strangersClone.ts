import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished } from 'vitest';
import { bundleAlone } from '../../../core/test/support/bundlePrograms.ts';

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));

/** A text that is written before another one, which its file has once. */
export interface Place {
  readonly file: string;
  readonly before: string;
  readonly text: string;
}

/** What other tests keep in the cache comes and goes. */
const isInstalled = (path: string): boolean => !path.includes(join('node_modules', '.cache'));

interface CloneOptions {
  /** Sources of the page that are compiled, too. @defaultValue none */
  readonly pages?: readonly string[];
  readonly isCompiledTwice: boolean;
}

/**
 * The sources of every package in a folder of their own, as a stranger's clone has them.
 */
export function cloneSources({ pages = [], isCompiledTwice }: CloneOptions): string {
  const dir = mkdtempSync(join(tmpdir(), 'devs-stranger-'));
  const parts = ['core', 'agents', 'postgres', 'server', 'ui', 'cli'].flatMap((name) =>
    ['src', 'package.json', 'node_modules'].map((part) => join('packages', name, part)),
  );
  for (const path of [...parts, ...pages]) {
    cpSync(join(ROOT, path), join(dir, path), {
      recursive: true,
      verbatimSymlinks: true,
      filter: isInstalled,
    });
  }
  cpSync(join(ROOT, 'tsconfig.base.json'), join(dir, 'tsconfig.base.json'));
  symlinkSync(join(ROOT, 'node_modules'), join(dir, 'node_modules'));
  const config = {
    extends: './tsconfig.base.json',
    // Incremental: the second time, what the edits in between have not touched is not looked at again.
    compilerOptions: {
      noEmit: true,
      composite: false,
      ...(isCompiledTwice && { incremental: true, tsBuildInfoFile: './known.tsbuildinfo' }),
      allowImportingTsExtensions: true,
    },
    include: ['packages/*/src', 'packages/cli/stranger.ts', ...pages],
    exclude: ['**/__tests__', '**/node_modules'],
  };
  writeFileSync(join(dir, 'tsconfig.json'), JSON.stringify(config));
  return dir;
}

export function edit(dir: string, { file, before, text }: Place): void {
  const path = join(dir, file);
  const source = readFileSync(path, 'utf8');
  expect(source.split(before), `${file} has the place once`).toHaveLength(2);
  writeFileSync(path, source.replace(before, `${text}${before}`));
}

/** The files the compiler complains about. */
export function complaints(dir: string): readonly string[] {
  const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
  // Several checkers at a time do much of the work each for itself, and the collector is for what lives longer.
  const args = [tsc, '-p', dir, '--pretty', 'false', '--checkers', '1'];
  const env = { ...process.env, GOGC: '200' };
  const { stdout } = spawnSync(process.execPath, args, { encoding: 'utf8', env });
  const files = [...stdout.matchAll(/^(?:.*\/)?(packages\/\S+\.tsx?)\(\d+,\d+\): error/gm)].map(
    ([, file]) => file as string,
  );
  return [...new Set(files)].sort();
}

/** A program of the stranger, which stands beside the sources of the command line. */
export function writeProgram(dir: string, program: string): void {
  writeFileSync(join(dir, 'packages/cli/stranger.ts'), program);
}

/** What that program prints, as JSON; it is given a path for its state file. */
export function runProgram(dir: string): Readonly<Record<string, unknown>> {
  const state = mkdtempSync(join(tmpdir(), 'devs-'));
  onTestFinished(() => rmSync(state, { recursive: true }));
  const program = join(dir, 'packages/cli/stranger.ts');
  const file = join(dirname(program), 'stranger.mjs');
  bundleAlone(program, file);
  const args = [file, join(state, 'letters.sqlite')];
  const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: dir, encoding: 'utf8' });
  return { stderr, ...JSON.parse(stdout || '{}') };
}
