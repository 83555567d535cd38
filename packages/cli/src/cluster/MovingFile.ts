import { existsSync, mkdirSync, rmdirSync, rmSync } from 'node:fs';
import path from 'node:path';

/**
 * The file of a run that is on its way between a state file and a cluster, beside the state file. It counts only where the run is
 * in neither: whoever was killed on the way goes on from it.
 */
export class MovingFile {
  readonly path: string;

  constructor(stateFile: string, id: string) {
    this.path = path.join(`${stateFile}.moving`, encodeURIComponent(id));
  }

  get exists(): boolean {
    return existsSync(this.path);
  }

  /** Makes room for a newer one. */
  clear(): void {
    mkdirSync(path.dirname(this.path), { recursive: true, mode: 0o700 });
    this.#removeFiles();
  }

  remove(): void {
    this.#removeFiles();
    try {
      rmdirSync(path.dirname(this.path));
    } catch {
      // Others are on their way.
    }
  }

  #removeFiles(): void {
    for (const end of ['', '-wal', '-shm']) rmSync(`${this.path}${end}`, { force: true });
  }
}
