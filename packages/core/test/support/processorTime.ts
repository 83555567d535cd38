import { readFileSync } from 'node:fs';
import { afterEach } from 'vitest';

declare module 'vitest' {
  interface TaskMeta {
    /** Processor time since the test before it in this process, with the processes it waited for, ms. */
    processorMs?: number;
  }
}

/** Linux counts in hundredths of a second. */
const TICK_MS = 10;

/** Own and that of ended children, ms; elsewhere than on Linux the own alone. */
function spentMs(): number {
  if (process.platform !== 'linux') {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  }
  const stat = readFileSync('/proc/self/stat', 'utf8');
  // The name of the program, in brackets, may hold blanks; utime, stime, cutime, cstime are the 14th to 17th field.
  const times = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 15);
  return times.reduce((sum, ticks) => sum + Number(ticks), 0) * TICK_MS;
}

/** Outlives the file, as its process may. */
const counted = globalThis as { devsProcessorMs?: number };

afterEach(({ task }) => {
  const spent = spentMs();
  task.meta.processorMs = spent - (counted.devsProcessorMs ?? 0);
  counted.devsProcessorMs = spent;
});
