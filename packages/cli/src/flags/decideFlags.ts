import type { Command } from 'commander';
import { toCount } from './amounts.ts';

/** Who speaks at a gate, and about which version of it. */
export interface SignedFlags {
  readonly by?: string;
  /** Beginning of the hash that was read; when left out, the version this user was shown last. */
  readonly hash?: string;
}

/** How a decision is recorded. */
export interface DecideFlags extends SignedFlags {
  /** Go on with the run, as `devs resume` would. */
  readonly go?: true;
  /** Hidden places that are said yes to unread. */
  readonly withHidden?: number;
}

/** @param verb - Completes "who …". */
export function addSignedOptions(command: Command, verb: string): Command {
  return command
    .option(
      '--hash <prefix>',
      'refuse unless the gate still shows what has this hash (at least 8 hex digits)',
    )
    .option('--by <name>', `who ${verb} (default: your user name)`);
}

export function addDecideOptions(command: Command, verb = 'decides'): Command {
  return addSignedOptions(command, verb).option('--go', 'then go on with the run, as devs resume does');
}

/** Of the verbs that say yes. */
export const addYesOptions = (command: Command): Command =>
  command.option(
    '--with-hidden <number>',
    'say yes to so many hidden places without having read them; see devs show --reveal',
    toCount,
  );
