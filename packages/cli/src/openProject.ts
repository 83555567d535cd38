import { existsSync } from 'node:fs';
import path from 'node:path';
import {
  DevsError,
  loadOrchestratorConfig,
  Orchestrator,
  type OrchestratorOptions,
  STATE_FILE,
} from '@devs/core';
import type { Session } from './Session.ts';

export const hasRuns = ({ dir }: Session): boolean => existsSync(path.join(dir, '.devs', STATE_FILE));

/** Opens the project, creating its state file when it is missing, and closes it when `work` is done. */
export async function withProject<Result>(
  session: Session,
  options: Omit<OrchestratorOptions, 'dir'>,
  work: (devs: Orchestrator) => Promise<Result>,
): Promise<Result> {
  const config = loadOrchestratorConfig(session.io.env, (text) => session.out.note(text));
  const dir = path.join(session.dir, '.devs');
  const prices = session.io.env['DEVS_PRICES']?.trim();
  const devs = await Orchestrator.open({ dir, config, ...(prices && { prices }), ...options });
  try {
    return await work(devs);
  } finally {
    devs.close();
  }
}

/**
 * Opens a project that has runs: reading must not create a state file.
 *
 * @throws DevsError `THREAD_NOT_FOUND` when nothing was ever run here.
 */
export async function withRuns<Result>(
  session: Session,
  work: (devs: Orchestrator) => Promise<Result>,
): Promise<Result> {
  if (hasRuns(session)) return withProject(session, {}, work);
  throw new DevsError(`There are no runs in ${session.dir}.`, {
    code: 'THREAD_NOT_FOUND',
    remedy: 'Name the project folder with --dir, or start a run with devs run.',
  });
}
