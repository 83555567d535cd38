import { spawnProgram } from '../support/spawnTs.ts';

/** A process that does the same thing until it is killed, and says a growing number after each time. */
export interface CountingProcess {
  /** The last number it has said. */
  count(): number;
  /** SIGKILL; resolves when the process is gone and all it said was heard. */
  kill(): Promise<void>;
}

/** @param program - Path of its TypeScript file, from the root of the repository. */
export function startCounting(program: string, args: readonly string[]): CountingProcess {
  const { child, finished } = spawnProgram(program, args);
  let heard = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    heard = (heard + chunk.toString()).slice(-100);
  });
  return {
    count: () => Number(heard.split('\n').at(-2) ?? 0),
    kill: async () => {
      child.kill('SIGKILL');
      const { signal, stderr } = await finished;
      if (signal !== 'SIGKILL') throw new Error(`The process ended by itself: ${stderr}`);
    },
  };
}
