import type { Command } from 'commander';
import { toCount } from './optionValues.ts';

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
      'fail if the content of the gate no longer has this hash (at least 8 hex digits)',
    )
    .option('--by <name>', `name of the person who ${verb} (default: your user name)`);
}

export function addDecideOptions(command: Command, verb = 'decides'): Command {
  return addSignedOptions(command, verb).option('--go', 'then resume the run, like devs resume');
}

/** Of the verbs that say yes. */
export const addYesOptions = (command: Command): Command =>
  command.option(
    '--with-hidden <number>',
    'approve this many hidden places unread; see devs show --reveal',
    toCount,
  );
