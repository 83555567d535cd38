import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What one process took, from before it was made until it had ended. */
export interface ProcessCost {
  readonly wallMs: number;
  /** Of the process alone, without those it started. */
  readonly cpuMs: number;
}

/** Every process is told of, the bare one too; file descriptor 3 is nobody else's. */
const TELL = `process.on('exit', () => {
  const { user, system } = process.cpuUsage();
  require('node:fs').writeSync(3, String((user + system) / 1000));
});`;

/** Measures whole processes of this Node.js. */
export class Processes {
  readonly #dir = mkdtempSync(join(tmpdir(), 'devs-processes-'));
  readonly #tell = join(this.#dir, 'tell.cjs');

  constructor() {
    writeFileSync(this.#tell, TELL);
  }

  /** @throws Error with what it printed, if it ends with another exit code. */
  cost(argv: readonly string[], cwd: string, ends = 0): ProcessCost {
    const begun = performance.now();
    const { status, output } = spawnSync(process.execPath, ['--require', this.#tell, ...argv], {
      cwd,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
      env: { ...process.env, XDG_STATE_HOME: this.#dir },
    });
    const wallMs = performance.now() - begun;
    if (status !== ends) throw new Error(`${argv.join(' ')}: ${status}\n${output.join('\n')}`);
    return { wallMs, cpuMs: Number(output[3]) };
  }

  remove(): void {
    rmSync(this.#dir, { recursive: true });
  }
}
