import { type Orchestrator, type PipelineRunInfo, shownGate } from '@devs/core';
import type { Command } from 'commander';
import { EXIT, type ExitCode } from '../exitCodes.ts';
import { type LabelFlags, labelFilterOf, withLabelFlags } from '../flags/labelFlags.ts';
import { hasRuns, withView } from '../project/openProject.ts';
import { examples, type Session, type Start } from '../project/Session.ts';
import { nextCommands } from '../render/nextCommands.ts';
import { spendingLines, spentByStage } from '../render/renderSpending.ts';
import { renderStatus, runRow, runTable } from '../render/renderStatus.ts';
import type { Line } from '../terminal/Line.ts';

/** Runs of which everything is read at once. */
const PAGE = 50;

export function addStatus(program: Command, start: Start): void {
  const command = program
    .command('status')
    .description('list the runs, or show one with its tasks, gates and cost')
    .argument('[id]', 'run');
  withLabelFlags(command)
    .addHelpText(
      'after',
      examples('devs status', 'devs status csv-export', 'devs status --metadata tenant=acme --json'),
    )
    .action((id: string | undefined, options: LabelFlags, command: Command) =>
      start(command, (session) =>
        id === undefined ? listStatus(labelFilterOf(options), session) : showRun(id, session),
      ),
    );
}

type LabelFilter = ReturnType<typeof labelFilterOf>;

async function listStatus(filter: LabelFilter, session: Session): Promise<ExitCode> {
  if (session.out.json) {
    const runs = hasRuns(session) ? await withView(session, (devs) => listedRuns(devs, filter)) : [];
    session.out.result(runs.map(shownRun), []);
    return EXIT.ok;
  }
  const lines = hasRuns(session)
    ? await withView(session, (devs) => runLines(devs, { ...session, filter }))
    : [];
  if (lines.length === 0 && filter !== null) {
    session.out.print('No run matches.');
    return EXIT.ok;
  }
  const none = [
    `There are no runs in ${session.cluster?.shown ?? session.dir}.`,
    `to start one: ${session.devs('run', 'brief.md', '--help')}`,
  ];
  session.out.print(...(lines.length === 0 ? none : lines));
  return EXIT.ok;
}

/** All, or all that match. */
async function listedRuns(devs: Orchestrator, filter: LabelFilter): Promise<readonly PipelineRunInfo[]> {
  if (filter === null) return devs.list();
  const runs: PipelineRunInfo[] = [];
  for await (const page of pagesOf(devs, filter)) runs.push(...page);
  return runs;
}

async function* pagesOf(
  devs: Orchestrator,
  filter: LabelFilter,
): AsyncGenerator<readonly PipelineRunInfo[], void> {
  for (let after: string | undefined; ; ) {
    const page = await devs.list({ ...filter, limit: PAGE, after });
    yield page;
    if (page.length < PAGE) return;
    after = page.at(-1)?.id;
  }
}

/** Of a page of runs at a time everything is in memory, of the others what is printed. Empty without runs. */
async function runLines(
  devs: Orchestrator,
  { filter, ...session }: Session & { readonly filter: LabelFilter },
): Promise<readonly Line[]> {
  const rows: ReturnType<typeof runRow>[] = [];
  let [first, waiting]: (PipelineRunInfo | undefined)[] = [];
  for await (const page of pagesOf(devs, filter)) {
    first ??= page[0];
    waiting ??= page.find(({ gates }) => gates.length > 0);
    rows.push(...page.map(runRow));
  }
  return first === undefined ? [] : [...runTable(rows), ...nextHints(waiting, first, session)];
}

/** Of the run that somebody has to do something about, else of any. */
function nextHints(
  waiting: PipelineRunInfo | undefined,
  { id }: PipelineRunInfo,
  { devs }: Session,
): readonly string[] {
  return waiting === undefined
    ? [`show one: ${devs('status', id)}`]
    : nextCommands(waiting, devs).slice(0, 1);
}

async function showRun(id: string, session: Session): Promise<ExitCode> {
  const [status, steps] = await withView(session, (devs) =>
    devs.view(id, async (run) => [await run.status(), await run.steps()] as const),
  );
  const spent = spentByStage(steps);
  const spending = spendingLines(spent);
  session.out.result({ ...shownRun(status), spent }, renderStatus(status, session.devs, { spending }));
  return EXIT.ok;
}

const shownRun = (status: PipelineRunInfo) => ({ ...status, gates: status.gates.map(shownGate) });
