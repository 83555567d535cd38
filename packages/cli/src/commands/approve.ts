import type { Command } from 'commander';
import { decideGate } from '../drive/decideGate.ts';
import type { ExitCode } from '../exitCodes.ts';
import { readDecision } from '../files/readDecision.ts';
import { addDecideOptions, addYesOptions, type DecideFlags } from '../flags/decideFlags.ts';
import type { ChoiceName } from '../gates/gateLabels.ts';
import type { Decision } from '../gates/recordDecision.ts';
import { examples, type Session, type Start } from '../project/Session.ts';
import { usageError } from '../usageError.ts';

interface ApproveOptions extends DecideFlags {
  readonly from?: string;
}

export function addApprove(program: Command, start: Start): void {
  const verb = program
    .command('approve')
    .description('approve a gate; add --go to resume the run')
    .argument('[gate]', 'id of a gate, or of a run with one open gate')
    .option(
      '--from <file>',
      'read the decision (approval or rejection) from a JSON file; see devs show --md',
    );
  addDecideOptions(addYesOptions(verb))
    .addHelpText(
      'after',
      examples(
        'devs approve 3f2a91c0 --hash 9b74c9897bac',
        'devs approve csv-export --by ada',
        'devs approve csv-export --go',
        'devs approve --from decision.json',
      ),
    )
    .action((name: string | undefined, options: ApproveOptions, command: Command) =>
      start(command, (session) => approve(name, options, session)),
    );
}

async function approve(
  name: string | undefined,
  { from, ...options }: ApproveOptions,
  session: Session,
): Promise<ExitCode> {
  if (from !== undefined) return decideFrom(from, { name, ...options }, session);
  if (name === undefined)
    throw usageError('The gate is missing.', 'Name a gate, or a decision file with --from.');
  return decideGate(name, () => ({ choice: 'approve', answer: { approved: true } }), options, session);
}

async function decideFrom(
  file: string,
  { go, ...given }: DecideFlags & { readonly name: string | undefined },
  session: Session,
): Promise<ExitCode> {
  if (
    given.name !== undefined ||
    given.hash !== undefined ||
    given.by !== undefined ||
    given.withHidden !== undefined
  ) {
    throw usageError(
      '--from cannot be combined with a gate, --hash, --by or --with-hidden.',
      'Put the gate, the hash, your name and, if needed, "withHidden" into the file.',
    );
  }
  const { session: sessionId, hash, by, withHidden, ...answer } = await readDecision(file, session.io);
  const decision: Decision = { choice: choiceOf(answer), answer };
  return decideGate(
    sessionId,
    () => decision,
    {
      ...{ hash, via: 'file' },
      ...(by !== undefined && { by }),
      ...(go && { go }),
      ...(withHidden !== undefined && { withHidden }),
    },
    session,
  );
}

function choiceOf(answer: object): ChoiceName {
  if ('value' in answer) return 'value';
  return 'approved' in answer && answer.approved === true ? 'approve' : 'reject';
}
