import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ProjectConfigInput } from '../../src/config/ProjectConfig.ts';

/** Writes the `.devs/config.json` of a project folder. */
export function writeConfig(dir: string, config: ProjectConfigInput): void {
  mkdirSync(join(dir, '.devs'), { recursive: true });
  writeFileSync(join(dir, '.devs', 'config.json'), JSON.stringify(config));
}
