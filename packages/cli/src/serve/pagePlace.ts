import { createHash } from 'node:crypto';
import path from 'node:path';
import type { Gate } from '@devs/core';
import type { UiOptions } from '@devs/ui';
import { clusterKey } from '../cluster/ClusterAt.ts';
import { clusterRuns } from '../project/openCluster.ts';
import { codeInGit, limitsIn } from '../project/openProject.ts';
import { encryptionKeyOf, type Session } from '../project/Session.ts';
import { readCommitDiff, readShownDiff, type ShownRange } from '../render/reviewDiff.ts';
import { usageError } from '../usageError.ts';

/** The code of a review, as the page shows it. */
type ReviewCode = NonNullable<Awaited<ReturnType<NonNullable<UiOptions['readCode']>>>>;

/** The runs of a page, with its options for them. */
export type PagePlace = Pick<
  UiOptions,
  | 'dir'
  | 'file'
  | 'encryptionKey'
  | 'runs'
  | 'limits'
  | 'readCode'
  | 'readCommit'
  | 'readBranch'
  | 'code'
  | 'drafts'
  | 'rewinding'
>;

/** @param name - Of the folder: those of another place are not among them, and would go with the gates that are not open here. */
const draftsIn = (dir: string, name = 'drafts'): string => path.join(dir, '.devs', 'ui', name);

/** The code of a review is where the runs of the project have it. */
export async function openPagePlace(file: string | undefined, session: Session): Promise<PagePlace> {
  const { cluster } = session;
  if (file === undefined) {
    const at =
      cluster === null
        ? {
            ...encryptionKeyOf(session),
            dir: path.join(session.dir, '.devs'),
            drafts: draftsIn(session.dir),
          }
        : {
            runs: await clusterRuns(cluster, session),
            drafts: draftsIn(
              session.dir,
              `drafts-${createHash('sha256').update(clusterKey(cluster)).digest('hex').slice(0, 16)}`,
            ),
          };
    const limits = await limitsIn(session.dir);
    return {
      ...at,
      ...(limits && { limits }),
      readCode: (gate, since) => gateCodeOf(gate, since, session),
      readCommit: async (run, commit) => toGateCode(await readCommitDiff(run, commit, session)),
      ...(cluster === null && { readBranch: lateBranchReader(session) }),
      code: codeInGit(session),
      rewinding: async (id, work) =>
        (await import('../project/withAgentsOf.ts')).withAgentsOf(id, session, work),
    };
  }
  if (cluster !== null)
    throw usageError('--file is only for local runs.', 'Remove --file to see the runs of the cluster.');
  const whole = path.resolve(session.io.cwd, file);
  const dir = path.dirname(whole);
  return { ...encryptionKeyOf(session), dir, file: path.basename(whole), drafts: draftsIn(dir) };
}

/** Loaded for the first run: with it come schemas, and a command that reads makes none. */
function lateBranchReader(session: Session): NonNullable<PagePlace['readBranch']> {
  let loaded: Promise<NonNullable<PagePlace['readBranch']>> | undefined;
  return async (run) => {
    loaded ??= import('./branchReader.ts').then(({ branchReader }) => branchReader(session));
    return (await loaded)(run);
  };
}

async function gateCodeOf(
  gate: Gate,
  since: string | undefined,
  session: Session,
): Promise<ReviewCode | null> {
  const diff = await readShownDiff(gate, since, session);
  if (diff === null || typeof diff === 'string') return diff === null ? null : toGateCode(diff);
  return { ...toGateCode(diff), hidden: diff.hidden };
}

function toGateCode(diff: ShownRange | string): ReviewCode {
  if (typeof diff === 'string') return { diff: '', unshown: [], problem: diff };
  return { diff: diff.text, unshown: diff.unshown.map((each) => each.path) };
}
