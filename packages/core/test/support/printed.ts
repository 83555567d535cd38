import { format } from 'node:util';

/**
 * What this process printed and warned of by itself since it was last asked. Replaces the console, the streams and
 * the warnings of the process when it is loaded: once, however many test files the process runs.
 */
const lines: string[] = [];

for (const method of ['debug', 'error', 'info', 'log', 'trace', 'warn'] as const) {
  console[method] = (...args: readonly unknown[]) => {
    lines.push(`console.${method}: ${format(...args)}`);
  };
}

for (const name of ['stdout', 'stderr'] as const) {
  process[name].write = (text: string | Uint8Array, ...rest: readonly unknown[]) => {
    if (text.length > 0) lines.push(`${name}: ${Buffer.from(text).toString()}`);
    const done = rest.at(-1);
    if (typeof done === 'function') setImmediate(() => void done());
    return true;
  };
}

// Thrown outside of any test, so that Vitest fails the run however the test ends.
process.on('warning', (warning) => {
  throw warning;
});

export function takePrinted(): readonly string[] {
  return lines.splice(0);
}
