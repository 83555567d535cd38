import { existsSync, readFileSync } from 'node:fs';

/** What steps did outside, sorted, once for each key. @param path - Of a file with a `name key` in each line. */
export function effectsOnce(path: string): readonly string[] {
  const lines = existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : [];
  return [...new Set(lines)].map((line) => line.split(' ')[0] ?? '').sort();
}
