import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

let folder: string | null = null;

/** Where `devs` remembers what a user was shown, apart from whoever runs the tests. */
export function stateHome(): string {
  folder ??= mkdtempSync(join(tmpdir(), 'devs-home-'));
  return folder;
}

process.on('exit', () => {
  if (folder !== null) rmSync(folder, { recursive: true, force: true });
});
