import { readFileSync } from 'node:fs';
import path from 'node:path';
import { rekey as changeKey } from '@devs/core';
import { STATE_FILE } from '@devs/core/internal';
import type { Command, CommandOptions } from 'commander';
import { EXIT, type ExitCode } from '../../exitCodes.ts';
import { refuseForeignState } from '../../project/openProject.ts';
import { encryptionKeyOf, type Session } from '../../project/Session.ts';
import { examples, type Start } from '../../project/Start.ts';
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
    .description('encrypt the state file, change its key, or decrypt it; nobody may have it open')
    .option('--file <file>', 'state file of a graph of your own (default: that of the project)')
    .option('--new-key-file <file>', `a file with the new key, such as /dev/fd/3 (default: ${NEW_KEY})`)
    .option('--decrypt', 'leave it without a key: everything in it can be read then')
    .addHelpText(
      'after',
      `\nThe key it has is in DEVS_ENCRYPTION_KEY. No key is taken from the command line, which others can see.\n${examples(
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
      ? `${made.path} is encrypted with the new key; whoever opens it needs DEVS_ENCRYPTION_KEY`
      : `${made.path} is not encrypted any more`,
    made.encrypted
      ? 'Keep the key: without it nobody reads the file. Backups have the key they were made with, or none.'
      : 'Everything in it can be read by whoever may read the file.',
  ]);
  return EXIT.ok;
}

/** `null` to decrypt. */
function newKey({ newKeyFile, decrypt = false }: RekeyFlags, { io }: Session): string | null {
  const given = io.env[NEW_KEY];
  const named = [newKeyFile, given].filter((each) => each !== undefined).length;
  if (named + (decrypt ? 1 : 0) !== 1)
    throw usageError(
      `Expected a new key, or --decrypt: one of ${NEW_KEY}, --new-key-file and --decrypt.`,
      `Set ${NEW_KEY}, or name a file that has the key with --new-key-file.`,
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
