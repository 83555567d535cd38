import type { Command } from 'commander';
import { type ReadConfig, readConfig } from '../config/readConfig.ts';
import { TrustStore } from '../config/TrustStore.ts';
import { EXIT, type ExitCode } from '../exitCodes.ts';
import { confirm, formatAcceptedConfig, notTrusted } from '../project/acceptedConfig.ts';
import {
  isYours,
  stateNotTrusted,
  type UnknownStateFile,
  unknownStateFile,
} from '../project/acceptedStateFile.ts';
import { refuseForeignState, rememberStateFile } from '../project/openProject.ts';
import { examples, isTerminal, type Session, type Start } from '../project/Session.ts';
import { usageError } from '../usageError.ts';

export function addTrust(program: Command, start: Start): void {
  program
    .command('trust')
    .description('show the commands that .devs/config.json runs on this machine, and accept them')
    .argument('[sha256]', 'hash of the configuration, or id of the state file, to accept without being asked')
    .option('--revoke', 'revoke everything that was accepted for this project')
    .addHelpText('after', examples('devs trust', 'devs trust --revoke'))
    .action(
      (sha256: string | undefined, { revoke = false }: { readonly revoke?: boolean }, command: Command) =>
        start(command, (session) => (revoke ? takeBack(session) : trust(sha256, session))),
    );
}

async function trust(given: string | undefined, session: Session): Promise<ExitCode> {
  const { dir, out } = session;
  const store = trustStore(session);
  const unknown = await unknownStateFile(session);
  if (unknown !== null && given?.toLowerCase() === unknown.id) return trustStateFile(unknown, session);
  const read = await readConfig(dir);
  const { file, sha256 } = read;
  if (sha256 !== null && !(await store.acceptedIn(dir)).includes(sha256)) {
    if (!(await isTrustWanted(given, read, session))) throw notTrusted(read, session);
    await store.accept(dir, sha256);
  }
  if (unknown !== null && !unknown.isEmpty && given === undefined) {
    if (!(await isYours(unknown, session))) throw stateNotTrusted(unknown, session);
    await rememberStateFile(unknown.file, session);
  }
  const words =
    sha256 === null ? `nothing to accept: ${file} does not exist` : `accepted until it changes: ${file}`;
  out.result({ file, sha256, accepted: sha256 !== null }, [words]);
  return EXIT.ok;
}

async function trustStateFile({ file, id }: UnknownStateFile, session: Session): Promise<ExitCode> {
  await refuseForeignState(file);
  await rememberStateFile(file, session);
  session.out.result({ file, id, accepted: true }, [`accepted as yours: ${file}`]);
  return EXIT.ok;
}

async function isTrustWanted(
  given: string | undefined,
  read: ReadConfig,
  session: Session,
): Promise<boolean> {
  if (given !== undefined) return given.toLowerCase() === read.sha256;
  if (isTerminal(session)) return confirm(read, session);
  session.out.note(formatAcceptedConfig(read).join('\n'));
  return false;
}

async function takeBack(session: Session): Promise<ExitCode> {
  const revoked = await trustStore(session).revoke(session.dir);
  session.out.result({ revoked }, [revoked === 0 ? 'nothing to revoke' : 'revoked']);
  return EXIT.ok;
}

function trustStore({ io }: Session): TrustStore {
  const store = TrustStore.of(io.env);
  if (store !== null) return store;
  throw usageError(
    'Your acceptance cannot be stored: neither XDG_STATE_HOME nor HOME is set.',
    'Set one of them, or add --trust SHA256 to each command.',
  );
}
