import { readdirSync, readFileSync } from 'node:fs';

/** Command lines of the processes that were started with a path below `base` in their environment. Linux only. */
export function processesOf(base: string): readonly string[] {
  return readdirSync('/proc')
    .filter(
      (name) => /^\d+$/.test(name) && Number(name) !== process.pid && textOf(name, 'environ').includes(base),
    )
    .map((name) => textOf(name, 'cmdline').replaceAll('\0', ' ').trim().slice(0, 120));
}

/** Empty for one that is gone, or somebody else's. */
function textOf(pid: string, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'latin1');
  } catch {
    return '';
  }
}
