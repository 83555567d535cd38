import { execFileSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Orchestrator } from '../../src/surface/Orchestrator.ts';
import { median, round } from '../state/figures.ts';

const built = (path: string): string => fileURLToPath(new URL(`../../../${path}`, import.meta.url));
const importOf = (path: string): readonly string[] => [
  ...['--input-type=module', '-e'],
  `await import(${JSON.stringify(pathToFileURL(built(path)).href)})`,
];

/** Milliseconds from start to exit of a process, in turn: Node alone, an import, a command. Needs a build. */
export async function startUpTimes(
  folder: string,
  rounds: number,
): Promise<readonly { readonly what: string; readonly ms: number }[]> {
  const dir = await projectWithRun(folder);
  const processes: readonly (readonly [string, readonly string[]])[] = [
    ['node, nothing imported', ['--input-type=module', '-e', '']],
    ['import @devs/core/state', importOf('core/dist/state.js')],
    ['import @devs/core', importOf('core/dist/index.js')],
    ['devs status, one run', [built('cli/dist/bin.js'), 'status', '--dir', dir]],
  ];
  const times = processes.map((): number[] => []);
  for (let pass = 0; pass < rounds; pass += 1) {
    for (const [at, [, args]] of processes.entries()) times[at]?.push(timeOf(args));
  }
  return processes.map(([what], at) => ({ what, ms: round(median(times[at] ?? []), 0) }));
}

function timeOf(args: readonly string[]): number {
  const begin = performance.now();
  execFileSync(process.execPath, args, { stdio: 'ignore' });
  return performance.now() - begin;
}

async function projectWithRun(folder: string): Promise<string> {
  const dir = mkdtempSync(join(folder, 'project-'));
  const devs = await Orchestrator.open({ dir: join(dir, '.devs') });
  const run = await devs.start({ brief: '# Shop\n\nSell things.', gates: { design: 'auto', dag: 'auto' } });
  await run.resume();
  devs.close();
  return dir;
}
