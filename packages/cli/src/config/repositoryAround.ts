import { existsSync } from 'node:fs';
import path from 'node:path';

/** The top folder of the git repository that a folder lies in, or is; `null` where there is none. */
export function repositoryAround(folder: string): string | null {
  if (existsSync(path.join(folder, '.git'))) return folder;
  const above = path.dirname(folder);
  return above === folder ? null : repositoryAround(above);
}
