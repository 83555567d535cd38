import { join } from 'node:path';
import { createDatabase } from '@devs/core';
import { nameStateFile } from '../../../core/test/support/insides.ts';
import { KnownStateFiles } from '../../src/config/KnownStateFiles.ts';
import { stateHome } from './stateHome.ts';

/** As if `devs` had made the state file of a project, for whoever these tests are and for who has one of these homes. */
export async function takeAsOurs(dir: string, ...homes: readonly string[]): Promise<void> {
  const dbPath = join(dir, '.devs', 'state.sqlite');
  const db = createDatabase({ dbPath });
  const id = nameStateFile(db);
  db.close();
  const users = [process.env, ...[stateHome(), ...homes].map((home) => ({ XDG_STATE_HOME: home }))];
  for (const env of users) await KnownStateFiles.of(env)?.add(id, dbPath);
}
