import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('../programs/reference.ts', import.meta.url));
const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));

/** A server that clients are given, and what its graphs have called. */
export interface Stand {
  readonly url: string;
  readonly pid: number;
  calls(): readonly string[];
  stop(signal?: NodeJS.Signals): Promise<void>;
}

export interface ReferenceOptions {
  /** A run waits until one of them looks, each about twice a second. @defaultValue 10, as `langgraphjs dev` */
  readonly workers?: number;
}

/** LangGraph's development server, as a process with its state in the folder. */
export async function startReference(dir: string, { workers = 10 }: ReferenceOptions = {}): Promise<Stand> {
  const world = join(dir, 'reference-calls.txt');
  const args = ['--conditions=@devs/source', '--import', 'tsx', PROGRAM, dir, String(workers)];
  const child = spawn(process.execPath, args, {
    cwd: ROOT,
    env: { ...process.env, DEVS_TEST_WORLD: world, LOG_LEVEL: 'error' },
    // It ends with whoever has started it.
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const ended = once(child, 'exit');
  const url = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (line.startsWith('READY ')) resolve(line.slice('READY '.length));
    });
    void ended.then(() => reject(new Error('The reference server ended before it was ready.')));
  });
  return {
    url,
    pid: child.pid ?? 0,
    calls: () => linesOf(world),
    stop: async (signal = 'SIGKILL') => {
      child.kill(signal);
      await ended;
    },
  };
}

export function linesOf(file: string): readonly string[] {
  try {
    return readFileSync(file, 'utf8').split('\n').slice(0, -1);
  } catch {
    return [];
  }
}
