import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { configPath } from '../../src/config/configFile.ts';
import type { ProjectConfigInput } from '../../src/config/ProjectConfig.ts';
import { sha256Of } from '../../src/config/readConfig.ts';

/** Writes the `.devs/config.json` of a project folder, as any other program does: nobody has accepted it. */
export function writeConfig(dir: string, config: ProjectConfigInput): void {
  mkdirSync(join(dir, '.devs'), { recursive: true });
  writeFileSync(configPath(dir), JSON.stringify(config));
}

/** What a command line says to accept the configuration that is there. */
export function trusting(dir: string): readonly string[] {
  return ['--trust', sha256Of(readFileSync(configPath(dir)))];
}
