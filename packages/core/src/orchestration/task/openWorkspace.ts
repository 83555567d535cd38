// The folder of a run: its driver, its abilities, and the texts of its commits.

import type { EngineStore } from '../../engine/gates/EngineStore.ts';
import { activeNode } from '../../engine/node/nodeContext.ts';
import { DevsError } from '../../errors/DevsError.ts';
import type { FencedLease } from '../../state/commits/immediateTransaction.ts';
import { gitRecord } from '../../state/GitPackStore.ts';
import type { Driver, PipelinePorts, RunWorkspace } from '../ports.ts';
import type { GraphState } from '../types.ts';

/** The ports that open the folder of a run. */
export type WorkspacePorts = Pick<PipelinePorts, 'workspace' | 'travels'>;

/** Opens the folder of the run that this process executes. A stop also ends its setup, and listeners receive its activity. */
export function openWorkspace(
  { projectConfig }: GraphState,
  { workspace, travels = false }: WorkspacePorts,
): Promise<RunWorkspace> {
  const { store, visit, told } = activeNode('a task');
  const { threadId, epoch, signal } = visit;
  return workspace.open(projectConfig.projectId, {
    signal,
    onActivity: told.tell,
    ...(travels && store !== null && { record: gitRecord(threadId, store) }),
    ...(store !== null && epoch !== null && { driver: driverOf(store, { threadId, epoch }) }),
  });
}

/** The holder of a lease, as the folder of its run knows it. */
export function driverOf(
  { threads }: Pick<EngineStore, 'threads'>,
  { threadId, epoch }: FencedLease,
): Driver {
  return {
    epoch,
    holder: threads.holder,
    isCurrent: () => threads.get(threadId)?.leaseEpoch === epoch,
    isGone: (holder) => threads.isGone(holder),
  };
}

type Ability = 'adopt' | 'sync' | 'withdraw' | 'reinstate' | 'follow';

/**
 * Returns a method that not every workspace has.
 *
 * @throws DevsError `CONFIG_INVALID` when this one cannot.
 */
export function ability<Name extends Ability>(
  workspace: RunWorkspace,
  name: Name,
): NonNullable<RunWorkspace[Name]> {
  const method: RunWorkspace[Name] = workspace[name];
  if (method !== undefined) return method.bind(workspace) as NonNullable<RunWorkspace[Name]>;
  throw new DevsError(`The workspace of this run cannot ${name}.`, {
    code: 'CONFIG_INVALID',
    remedy: `Use a workspace with \`${name}\`, such as GitWorkspace of @devs/agents.`,
  });
}

/** What ends a line or cannot be seen: controls, line and paragraph separators, and every other kind of space. */
const SPACE = /[\p{Cc}\p{Z}]+/gu;

/** Marks that turn the direction of a text, and characters without width. Joiners, which scripts and emoji need, stay. */
const INVISIBLE =
  /[\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]/gu;

/**
 * A text of an agent as a part of one line: in a commit's message a line of its own would be a trailer, as
 * `Signed-off-by: …` or one of ours, that nobody signed.
 */
export function singleLine(text: string): string {
  return text.replaceAll(INVISIBLE, '').replaceAll(SPACE, ' ').trim();
}
