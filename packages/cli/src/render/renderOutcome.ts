import { type Gate, type PipelineResult, type PipelineRunInfo, shownGate } from '@devs/core';
import type { WorkspacePort } from '@devs/core/internal';
import { EXIT, type ExitCode } from '../exitCodes.ts';
import { choiceCommands, GATE_LABELS } from '../gates/gateLabels.ts';
import type { Session } from '../project/Session.ts';
import type { Line } from '../terminal/Line.ts';
import { oneLine } from '../terminal/visible.ts';
import { lookCommand } from './nextCommands.ts';
import { shortHash, shortId } from './renderGate.ts';
import { formatCost } from './renderStatus.ts';

const EXIT_CODES: Readonly<Record<PipelineResult['status'], ExitCode>> = {
  completed: EXIT.ok,
  waiting: EXIT.resumable,
  paused: EXIT.resumable,
  created: EXIT.resumable,
  running: EXIT.resumable,
  failed: EXIT.runFailed,
  cancelled: EXIT.runFailed,
  dead_letter: EXIT.runFailed,
};

export const exitCodeOf = ({ status }: PipelineResult): ExitCode => EXIT_CODES[status];

/** Words for a status that scripts read in `status` of `--json`, from before results had the statuses of `devs status`. */
const SCRIPT_STATUS: Readonly<Record<PipelineResult['status'], string>> = {
  completed: 'completed',
  waiting: 'suspended',
  paused: 'drained',
  created: 'drained',
  running: 'drained',
  failed: 'failed',
  cancelled: 'cancelled',
  dead_letter: 'dead_letter',
};

/** The document of `--json`. */
interface OutcomeDocument
  extends Pick<PipelineRunInfo, 'id' | 'workspace'>,
    Pick<PipelineResult, 'reason' | 'commits' | 'delivery' | 'cost'> {
  readonly status: string;
  /** The status that `devs status` shows. */
  readonly runStatus: PipelineResult['status'];
  readonly gates: readonly object[];
}

export function outcomeDocument(
  { id, workspace }: Pick<PipelineRunInfo, 'id' | 'workspace'>,
  { status, reason, gates, commits, delivery, cost }: PipelineResult,
): OutcomeDocument {
  return {
    ...{ id, workspace, status: SCRIPT_STATUS[status], runStatus: status, reason },
    gates: gates.map(shownGate),
    ...{ commits, delivery, cost },
  };
}

/** How a drive ended and what to do next, with commands to copy. */
export function renderOutcome(
  { id, workspace }: Pick<PipelineRunInfo, 'id' | 'workspace'>,
  result: PipelineResult,
  devs: Session['devs'],
): readonly Line[] {
  switch (result.status) {
    case 'completed':
      return [
        '',
        { style: 'good', text: formatCompleted(id, result) },
        ...workLines(result, workspace),
        // With a branch to merge there is more to do than to look.
        ...(workspace === null || result.delivery !== null ? [] : [`look:    ${lookCommand(workspace)}`]),
      ];
    case 'waiting':
      return [
        '',
        ...result.gates.flatMap((gate) => gateLines(gate, devs)),
        ...(result.until === undefined ? [] : [`waiting until ${new Date(result.until).toISOString()}`]),
        `then:    ${devs('resume', id)}`,
      ];
    case 'failed':
    case 'cancelled':
    case 'dead_letter':
      return ['', ...badEndLines({ id, workspace }, result, devs)];
    case 'paused':
    case 'created':
    case 'running':
      return ['', `${formatStopped(result)}; to resume: ${devs('resume', id)}`];
  }
}

function badEndLines(
  { id, workspace }: Pick<PipelineRunInfo, 'id' | 'workspace'>,
  result: PipelineResult,
  devs: Session['devs'],
): readonly Line[] {
  return [
    { style: 'bad', text: `${result.status}: ${result.reason ?? 'no reason recorded'}` },
    ...workLines(result, workspace),
    `log: ${devs('log', id)}`,
    ...(result.status === 'dead_letter' ? [`after you fixed the cause: ${devs('admin', 'revive', id)}`] : []),
  ];
}

const formatCompleted = (id: string, { reason }: PipelineResult): string =>
  `completed: ${id}${reason === null ? '' : `, ${reason}`}`;

/** Requests are not worth a word; a goal is. */
const formatStopped = ({ reason }: PipelineResult): string =>
  reason === null || REQUESTS.has(reason) ? 'stopped' : `stopped: ${reason}`;

const REQUESTS: ReadonlySet<string> = new Set(['asked to stop', 'aborted', 'pause', 'a request came in']);

function gateLines(gate: Gate, devs: Session['devs']): readonly Line[] {
  const id = shortId(gate);
  return [
    { style: 'due', text: `waiting for a person: ${GATE_LABELS[gate.kind].name}` },
    { style: 'markdown', text: gate.message },
    `read:    ${devs('show', id)}`,
    ...choiceCommands(gate, [id, '--hash', shortHash(gate)], devs).map(
      ({ choice, command }) => `${`${choice.name}:`.padEnd(8)} ${command}`,
    ),
  ];
}

function workLines({ commits, delivery, cost }: PipelineResult, workspace: string | null): readonly Line[] {
  return [
    ...commits.map(({ sha, subject }) => oneLine(`  ${sha.slice(0, 7)} ${subject}`)),
    ...(workspace === null
      ? []
      : [`  ${commits.length === 1 ? '1 commit' : `${commits.length} commits`} in ${workspace}`]),
    ...(delivery === null ? [] : [`  ${formatEndDelivery(delivery)}`]),
    `  cost: ${formatCost(cost)}`,
  ];
}

function formatEndDelivery({ branch, held }: WorkspacePort.Delivery): string {
  switch (held) {
    case null:
      return `branch ${branch} is in your repository: git merge ${branch}`;
    case 'checked_out':
      return `branch ${branch} was not updated, because it is checked out in your repository: switch to another branch and resume`;
    case 'changed':
      return `branch ${branch} was not updated, because it has your own commits: rename it and resume`;
  }
}

/** What became of the run's branch in the user's repository. */
export function formatDelivery({ branch, held }: WorkspacePort.Delivery): string {
  if (held === null) return `branch ${branch} in your repository is up to date`;
  const why = held === 'checked_out' ? 'you have it checked out' : 'it has your own commits';
  return `branch ${branch} in your repository was not updated: ${why}`;
}
