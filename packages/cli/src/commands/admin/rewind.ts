import type { PipelineRunInfo, Run } from '@devs/core';
import type { Command, CommandOptions } from 'commander';
import { EXIT, type ExitCode } from '../../exitCodes.ts';
import { humanFrom } from '../../flags/humanFrom.ts';
import { examples, type Session, type Start } from '../../project/Session.ts';
import { withAgentsOf } from '../../project/withAgentsOf.ts';
import { formatDelivery } from '../../render/renderOutcome.ts';
import { columns, type Line } from '../../terminal/Line.ts';
import { usageError } from '../../usageError.ts';

interface RewindFlags {
  readonly undo?: true;
  readonly dryRun?: true;
  readonly reason?: string;
  readonly by?: string;
}

export function addRewind(program: Command, start: Start, options?: CommandOptions): void {
  program
    .command('rewind', options)
    .description(
      'rewind a run to the end of a task, to redo the tasks that depend on it; does not resume the run',
    )
    .argument('<id>', 'run')
    .argument('[task]', 'such as T2: a finished task to rewind to, or a started task to start again')
    .option('--dry-run', 'print the tasks that would be undone; changes nothing')
    .option('--undo', 'undo the last rewind, if there are no commits since')
    .option('--reason <text>', 'reason for the record')
    .option('--by <name>', 'your name for the record (default: your user name)')
    .addHelpText(
      'after',
      examples(
        'devs admin rewind csv-export T2 --dry-run',
        "devs admin rewind csv-export T2 --reason 'T3 solves the wrong problem' && devs resume csv-export",
        'devs admin rewind csv-export --undo',
      ),
    )
    .action((id: string, task: string | undefined, flags: RewindFlags, command: Command) =>
      start(command, (session) => rewind(id, wayOf(task, flags), session)),
    );
}

type RewindWay =
  | { readonly kind: 'back' | 'preview'; readonly task: string; readonly flags: RewindFlags }
  | { readonly kind: 'undo'; readonly flags: RewindFlags };

function wayOf(task: string | undefined, flags: RewindFlags): RewindWay {
  if (flags.undo && (task !== undefined || flags.dryRun)) {
    throw usageError('--undo undoes the last rewind and takes no task.', 'Use --undo alone.');
  }
  if (flags.undo) return { kind: 'undo', flags };
  if (task !== undefined) return { kind: flags.dryRun ? 'preview' : 'back', task, flags };
  throw usageError(
    'The task to rewind to is missing.',
    'Name a task, such as T2. List the tasks with devs status.',
  );
}

async function rewind(id: string, way: RewindWay, session: Session): Promise<ExitCode> {
  const { by, reason } = way.flags;
  const request = { by: humanFrom(by), ...(reason !== undefined && { reason }) };
  const within = <T>(work: (run: Run) => Promise<T>): Promise<T> => withAgentsOf(id, session, work);
  switch (way.kind) {
    case 'preview': {
      const plan = await within((run) => run.previewRewind(way.task));
      session.out.result({ id, run: id, plan }, renderPlan(plan, way.task));
      return EXIT.ok;
    }
    case 'back': {
      const rewound = await within((run) => run.rewind(way.task, request));
      session.out.result({ id, run: id, rewound }, renderRewound(rewound, { ...way, id }, session));
      return EXIT.ok;
    }
    case 'undo': {
      const undone = await within((run) => run.undoRewind(request));
      session.out.result({ id, run: id, undone }, renderUndone(undone, session.devs('resume', id)));
      return EXIT.ok;
    }
  }
}

const nothingBegun = (task: string): readonly Line[] => [`no task was started after ${task}`];

function renderPlan(plan: Awaited<ReturnType<Run['previewRewind']>>, task: string): readonly Line[] {
  if (plan === null) return nothingBegun(task);
  return [`would rewind the run ${formatTarget(plan.target)} and undo`, ...rewindTaskLines(plan.undone)];
}

function renderRewound(
  rewound: Awaited<ReturnType<Run['rewind']>>,
  { task, id }: { readonly task: string; readonly id: string },
  { devs }: Session,
): readonly Line[] {
  if (rewound === null) return nothingBegun(task);
  return [
    `rewound ${formatTarget(rewound.target)}, undone:`,
    ...rewindTaskLines(rewound.undone),
    ...formatRewoundFiles(rewound),
    `to redo them: ${devs('resume', id)}; to undo the rewind: ${devs('admin', 'rewind', id, '--undo')}`,
  ];
}

function renderUndone(undone: Awaited<ReturnType<Run['undoRewind']>>, resume: string): readonly Line[] {
  return [`rewind to ${undone.target} undone`, ...formatRewoundFiles(undone), `to resume: ${resume}`];
}

function formatRewoundFiles({
  commit,
  kept,
  delivery,
}: Pick<NonNullable<Awaited<ReturnType<Run['rewind']>>>, 'commit' | 'kept' | 'delivery'>): readonly Line[] {
  return [
    ...(commit === null
      ? []
      : [`the branch of the run is at ${commit.slice(0, 7)}; its history is complete`]),
    ...(kept === null
      ? []
      : [`uncommitted changes were saved; to see them in the run's folder: git show ${kept.ref}`]),
    ...(delivery === null ? [] : [formatDelivery(delivery)]),
  ];
}

const formatTarget = ({ label, status }: PipelineRunInfo['tasks'][number]): string =>
  `to the ${status === 'completed' ? 'end' : 'start'} of ${label}`;

function rewindTaskLines(tasks: readonly PipelineRunInfo['tasks'][number][]): readonly string[] {
  return columns(tasks.map(({ label, status, name }) => [label, status, name])).map((line) => `  ${line}`);
}
