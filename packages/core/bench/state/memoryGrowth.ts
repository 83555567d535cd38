import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { ContenderName } from './contenders.ts';
import { median } from './figures.ts';

const child = fileURLToPath(new URL('memory.child.ts', import.meta.url));

interface Growth {
  readonly external: number;
  readonly rss: number;
}

/** Bytes of external memory and resident set a contender gains after 100 steps; median of three processes. */
export function memoryGrowth(name: ContenderName, kind: 'changing' | 'appending', steps: number): number {
  const run = (): number => {
    const args = [
      '--conditions=@devs/source',
      '--expose-gc',
      '--import',
      'tsx',
      child,
      name,
      kind,
      String(steps),
    ];
    const growth = JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })) as Growth;
    return growth.external + growth.rss;
  };
  return median([run(), run(), run()]);
}
