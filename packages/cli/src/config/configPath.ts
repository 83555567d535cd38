import path from 'node:path';

/** Beside the state file, out of the agents' workspace: nothing a run writes configures the next one. */
export const configPath = (dir: string): string => path.join(dir, '.devs', 'config.json');
