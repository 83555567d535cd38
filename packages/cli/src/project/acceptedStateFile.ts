import { statSync } from 'node:fs';
import path from 'node:path';
import { DevsError, openReadOnly } from '@devs/core';
import { readStateFileName, STATE_FILE, type StateFileName } from '@devs/core/internal';
import { KnownStateFiles } from '../config/KnownStateFiles.ts';
import { type AcceptOptions, askYes } from './acceptedConfig.ts';
import { refuseForeignState, rememberStateFile } from './openProject.ts';
import { encryptionKeyOf, isTerminal, type Session } from './Session.ts';

/** A state file that this user has neither made nor accepted. */
export interface UnknownStateFile extends StateFileName {
  readonly file: string;
}

/**
 * Sees that the runs of the project are this user's before one is driven: a recorded run says which commands go on with it. A
 * file is known once `devs` has made it for this user, or was told to take it; one without runs is taken as it is.
 *
 * @throws DevsError `STATE_NOT_TRUSTED` where it is not known and nobody says that it may be used; `CONFIG_INVALID` where it came
 *   with the repository.
 */
export async function acceptedStateFile(
  session: Session,
  { canAsk = true }: AcceptOptions = {},
): Promise<void> {
  const unknown = await unknownStateFile(session);
  if (unknown === null || session.trusted.includes(unknown.id)) return;
  if (unknown.isEmpty) return rememberStateFile(unknown.file, session);
  await refuseForeignState(unknown.file);
  if (!(await isYours(unknown, session, canAsk))) throw stateNotTrusted(unknown, session);
  await rememberStateFile(unknown.file, session);
}

/** The project's state file, where this user does not know it yet; `null` where there is none, or it is known. */
export async function unknownStateFile(session: Session): Promise<UnknownStateFile | null> {
  const { cluster, dir, io } = session;
  const file = path.join(dir, '.devs', STATE_FILE);
  if (cluster !== null || (statSync(file, { throwIfNoEntry: false })?.size ?? 0) === 0) return null;
  const db = openReadOnly({ dbPath: file, ...encryptionKeyOf(session) });
  try {
    const name = readStateFileName(db);
    return (await KnownStateFiles.of(io.env)?.has(name.id)) ? null : { ...name, file };
  } finally {
    db.close();
  }
}

/** Shows what there is, and asks where somebody can answer; else it is a no. */
export async function isYours(unknown: UnknownStateFile, session: Session, canAsk = true): Promise<boolean> {
  const words = [
    `${unknown.file} is not in the list of your state files:`,
    `  ${unknown.runs} runs, each with the commands that resume it; to list them: devs status`,
    `  id: ${unknown.id}`,
  ];
  if (canAsk && isTerminal(session)) {
    session.out.print(...words);
    return askYes('accept its runs (yes or no): ', session);
  }
  session.out.note(words.join('\n'));
  return false;
}

export function stateNotTrusted({ file, id }: UnknownStateFile, { devs }: Session): DevsError {
  return new DevsError(`${file} is not accepted as yours: its runs execute commands on this machine.`, {
    code: 'STATE_NOT_TRUSTED',
    remedy: `Look at its runs with ${devs('status')}, then accept it with ${devs('trust', id)}, or for one command with --trust ${id} or DEVS_TRUST=${id}.`,
    context: { file, id },
  });
}
