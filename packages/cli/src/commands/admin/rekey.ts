import { readFileSync } from 'node:fs';
import path from 'node:path';
import { rekey as changeKey } from '@devs/core';
import { STATE_FILE } from '@devs/core/internal';
import type { Command, CommandOptions } from 'commander';
import { EXIT, type ExitCode } from '../../exitCodes.ts';
import { refuseForeignState } from '../../project/openProject.ts';
import { encryptionKeyOf, examples, type Session, type Start } from '../../project/Session.ts';
import { usageError } from '../../usageError.ts';

interface RekeyFlags {
  readonly file?: string;
  readonly newKeyFile?: string;
  readonly decrypt?: boolean;
}

const NEW_KEY = 'DEVS_NEW_ENCRYPTION_KEY';

export function addRekey(program: Command, start: Start, options?: CommandOptions): void {
  program
    .command('rekey', options)
    .description('encrypt the state file, change its key, or decrypt it; no other process may have it open')
    .option('--file <file>', "state file of your own graph (default: the project's)")
    .option('--new-key-file <file>', `a file with the new key, such as /dev/fd/3 (default: ${NEW_KEY})`)
    .option('--decrypt', 'remove the key; anyone with read access can then read the file')
    .addHelpText(
      'after',
      `\nThe current key is read from DEVS_ENCRYPTION_KEY. Keys are not accepted on the command line, where others can see them.\n${examples(
        'DEVS_NEW_ENCRYPTION_KEY="$(pass devs/key)" devs admin rekey',
        'devs admin rekey --new-key-file /run/secrets/devs-key',
      )}`,
    )
    .action((flags: RekeyFlags, command: Command) => start(command, (session) => rekey(flags, session)));
}

async function rekey(flags: RekeyFlags, session: Session): Promise<ExitCode> {
  const { dir, io, out } = session;
  const { file } = flags;
  const dbPath = file === undefined ? path.join(dir, '.devs', STATE_FILE) : path.resolve(io.cwd, file);
  const newEncryptionKey = newKey(flags, session);
  if (file === undefined) await refuseForeignState(dbPath);
  const made = changeKey({ dbPath, ...encryptionKeyOf(session), newEncryptionKey });
  out.result(made, [
    made.encrypted
      ? `${made.path} is encrypted with the new key; set DEVS_ENCRYPTION_KEY to open it`
      : `${made.path} is no longer encrypted`,
    made.encrypted
      ? 'Keep the key safe: without it the file cannot be read. Older backups keep the key they were made with, or stay unencrypted.'
      : 'Anyone with read access can read the whole file.',
  ]);
  return EXIT.ok;
}

/** `null` to decrypt. */
function newKey({ newKeyFile, decrypt = false }: RekeyFlags, { io }: Session): string | null {
  const given = io.env[NEW_KEY];
  const named = [newKeyFile, given].filter((each) => each !== undefined).length;
  if (named + (decrypt ? 1 : 0) !== 1)
    throw usageError(
      `Use exactly one of ${NEW_KEY}, --new-key-file and --decrypt.`,
      `Set ${NEW_KEY}, or name a file that contains the key with --new-key-file.`,
    );
  if (decrypt) return null;
  return newKeyFile === undefined ? (given ?? '') : keyIn(path.resolve(io.cwd, newKeyFile));
}

/** Without the end of its line. */
function keyIn(file: string): string {
  try {
    return readFileSync(file, 'utf8').replace(/\r?\n$/, '');
  } catch (error) {
    throw usageError(
      `The new key cannot be read: ${(error as Error).message}`,
      'Name a file that you can read with --new-key-file.',
      error,
    );
  }
}
