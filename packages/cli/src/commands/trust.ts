import type { Command } from 'commander';
import { type ReadConfig, readConfig } from '../config/readConfig.ts';
import { TrustStore } from '../config/TrustStore.ts';
import { EXIT, type ExitCode } from '../exitCodes.ts';
import { confirm, contentWords, notTrusted } from '../project/acceptedConfig.ts';
import type { Session } from '../project/Session.ts';
import { examples, type Start } from '../project/Start.ts';
import { isTerminal } from '../project/terminal.ts';
import { usageError } from '../usageError.ts';

export function addTrust(program: Command, start: Start): void {
  program
    .command('trust')
    .description('show what .devs/config.json makes devs do here, and accept exactly that')
    .argument('[sha256]', 'of the content, instead of being asked')
    .option('--revoke', 'take back what was accepted of this project')
    .addHelpText('after', examples('devs trust', 'devs trust --revoke'))
    .action(
      (sha256: string | undefined, { revoke = false }: { readonly revoke?: boolean }, command: Command) =>
        start(command, (session) => (revoke ? takeBack(session) : trust(sha256, session))),
    );
}

async function trust(given: string | undefined, session: Session): Promise<ExitCode> {
  const { dir, out } = session;
  const store = storeOf(session);
  const read = await readConfig(dir);
  const { file, sha256 } = read;
  if (sha256 === null) {
    out.result({ file, sha256, accepted: false }, [`there is no ${file}: nothing to accept`]);
    return EXIT.ok;
  }
  if (!(await store.acceptedIn(dir)).includes(sha256)) {
    if (!(await isWanted(given, read, session))) throw notTrusted(read, session);
    await store.accept(dir, sha256);
  }
  out.result({ file, sha256, accepted: true }, [`accepted, until it changes: ${file}`]);
  return EXIT.ok;
}

async function isWanted(given: string | undefined, read: ReadConfig, session: Session): Promise<boolean> {
  if (given !== undefined) return given.toLowerCase() === read.sha256;
  if (isTerminal(session)) return confirm(read, session);
  session.out.note(contentWords(read).join('\n'));
  return false;
}

async function takeBack(session: Session): Promise<ExitCode> {
  const revoked = await storeOf(session).revoke(session.dir);
  session.out.result({ revoked }, [revoked === 0 ? 'nothing was accepted here' : 'taken back']);
  return EXIT.ok;
}

function storeOf({ io }: Session): TrustStore {
  const store = TrustStore.of(io.env);
  if (store !== null) return store;
  throw usageError(
    'There is no place to keep what you accept: neither XDG_STATE_HOME nor HOME is set.',
    'Set one of them, or give --trust SHA256 with each command.',
  );
}
