import { createDatabase } from '@devs/core';
import { nameStateFile } from '@devs/core/internal';
import { KnownStateFiles } from '../config/KnownStateFiles.ts';
import { encryptionKeyOf, type Session } from './Session.ts';

/** Keeps that a state file is this user's. Where it cannot be kept, that is said, and the command goes on. */
export async function rememberStateFile(dbPath: string, session: Session): Promise<void> {
  const { io, out } = session;
  const db = createDatabase({ dbPath, ...encryptionKeyOf(session) });
  const id = nameStateFile(db);
  db.close();
  const known = KnownStateFiles.of(io.env);
  try {
    if (known !== null) return await known.add(id, dbPath);
    out.note(`not stored, HOME is not set: to resume these runs set DEVS_TRUST=${id}`);
  } catch (error) {
    out.note(`not stored: ${(error as Error).message}; to resume these runs set DEVS_TRUST=${id}`);
  }
}
