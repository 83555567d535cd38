import path from 'node:path';
import type { Command } from 'commander';
import { z } from 'zod';
import { decideGate } from '../drive/decideGate.ts';
import type { ExitCode } from '../exitCodes.ts';
import { readHanded } from '../files/readHanded.ts';
import { addDecideOptions, addYesOptions, type DecideFlags } from '../flags/decideFlags.ts';
import type { ChoiceName } from '../gates/gateLabels.ts';
import type { Decision } from '../gates/recordDecision.ts';
import { examples, type Session, type Start } from '../project/Session.ts';
import type { Io } from '../terminal/Io.ts';
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

/** A decision that was made elsewhere, such as in a reviewed pull request; `devs show --md` prints one to fill in. */
const decisionAbout = {
  session: z.string().min(8),
  /** The whole hash: the file may have been lying around. */
  hash: z.string().regex(/^[0-9a-f]{64}$/i, 'Expected the 64 hex digits of a SHA-256'),
  by: z.string().min(1).exactOptional(),
  /** Hidden places that are said yes to unread. */
  withHidden: z.int().min(0).exactOptional(),
};
const approvalFileSchema = z.strictObject({
  ...decisionAbout,
  approved: z.boolean(),
  feedback: z.string().exactOptional(),
  /** Of a review: `T1`, `T2`, …, what is done again. */
  tasks: z.array(z.string()).exactOptional(),
  /** Of a no; each as the engine takes it. */
  comments: z.array(z.unknown()).exactOptional(),
});
const valueFileSchema = z.strictObject({ ...decisionAbout, value: z.unknown() });

export type DecisionFile = Readonly<z.infer<typeof approvalFileSchema> | z.infer<typeof valueFileSchema>>;

/** @throws DevsError `CONFIG_INVALID` naming each field that is wrong. */
export async function readDecision(name: string, { cwd }: Pick<Io, 'cwd'>): Promise<DecisionFile> {
  const file = path.resolve(cwd, name);
  const json = await readDecisionJson(file);
  const isValue = typeof json === 'object' && json !== null && Object.hasOwn(json, 'value');
  const parsed = (isValue ? valueFileSchema : approvalFileSchema).safeParse(json);
  if (parsed.success) return parsed.data;
  throw invalidDecision(file, z.prettifyError(parsed.error), parsed.error);
}

async function readDecisionJson(file: string): Promise<unknown> {
  try {
    return JSON.parse((await readHanded(file)).toString());
  } catch (error) {
    throw invalidDecision(file, (error as Error).message, error);
  }
}

function invalidDecision(file: string, why: string, cause: unknown) {
  return usageError(
    `${file} does not contain a decision: ${why}`,
    'Use { session, hash, approved, feedback?, comments?, tasks?, withHidden?, by? } or { session, hash, value, withHidden?, by? } as printed by devs show --md.',
    cause,
  );
}
