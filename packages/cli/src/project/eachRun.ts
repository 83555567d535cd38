import { isDevsError, type Orchestrator, type Run } from '@devs/core';
import { type LabelFlags, labelFilterOf } from '../flags/labelFlags.ts';
import { usageError } from '../usageError.ts';
import { withRuns } from './openProject.ts';
import type { Session } from './Session.ts';

/** Flags of a command on one run, or on all that match. */
export interface EachFlags extends LabelFlags {
  readonly all?: true;
}

/** Ids of the changed runs, and refusals. */
export interface EachDone {
  readonly done: readonly string[];
  readonly refused: readonly { readonly id: string; readonly error: string }[];
}

type Status = NonNullable<NonNullable<Parameters<Orchestrator['list']>[0]>['status']>;

/** Runs of which everything is read at once. */
const PAGE = 50;

/** Whether all runs are meant, and not the one that is named. @throws DevsError `CONFIG_INVALID` where both are, or neither. */
export function meansAll(id: string | undefined, flags: EachFlags): boolean {
  const filter = labelFilterOf(flags);
  if (flags.all === true && id === undefined) return true;
  if (flags.all !== true && id !== undefined && filter === null) return false;
  throw usageError('The runs are ambiguous.', 'Name a run, or use --all with filters such as --tenant.');
}

/** Does `work` with every run that has one of these statuses and matches the flags. A run that refuses it stays as it is and is reported. */
export async function withEach(
  flags: EachFlags & { readonly status: Status },
  session: Session,
  work: (run: Run) => Promise<unknown>,
): Promise<EachDone> {
  return withRuns(session, async (devs) => {
    const ids = await idsOf(devs, { status: flags.status, ...labelFilterOf(flags) });
    const done: string[] = [];
    const refused: { readonly id: string; readonly error: string }[] = [];
    for (const id of ids) {
      try {
        await work(await devs.run(id));
        done.push(id);
      } catch (error) {
        if (!isDevsError(error)) throw error;
        refused.push({ id, error: `${error.code}: ${error.message}` });
      }
    }
    return { done, refused };
  });
}

/** Read before the first change, because a change takes runs out of the list. */
async function idsOf(
  devs: Orchestrator,
  filter: NonNullable<Parameters<Orchestrator['list']>[0]>,
): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let after: string | undefined; ; ) {
    const page = await devs.list({ ...filter, limit: PAGE, ...(after !== undefined && { after }) });
    ids.push(...page.map(({ id }) => id));
    if (page.length < PAGE) return ids;
    after = page.at(-1)?.id;
  }
}

/** @param result - Such as `will stop at its next safe point`. */
export const eachLines = ({ done, refused }: EachDone, result: string): readonly string[] => [
  ...done.map((id) => `${id} ${result}`),
  ...refused.map(({ id, error }) => `${id} is left as it is: ${error}`),
  ...(done.length + refused.length === 0 ? ['No run matches.'] : []),
];
