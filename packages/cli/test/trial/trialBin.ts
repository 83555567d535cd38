import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundledBin } from '../support/bundledBin.ts';

const AGENTS = fileURLToPath(new URL('../../../agents/', import.meta.url));

/** The command as one file, below a folder from which it finds LangChain and its prompts. */
export interface TrialBin {
  readonly bin: string;
  readonly remove: () => void;
}

export async function trialBin(): Promise<TrialBin> {
  const cache = join(AGENTS, 'node_modules', '.cache');
  mkdirSync(cache, { recursive: true });
  const dir = mkdtempSync(join(cache, 'trial-'));
  cpSync(join(AGENTS, 'prompts'), join(dir, 'prompts'), { recursive: true });
  const bin = await bundledBin(join(dir, 'package'));
  return { bin, remove: () => rmSync(dir, { recursive: true, force: true }) };
}
