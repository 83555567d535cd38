import type { LogEntry, PipelineRunInfo, Run } from '@devs/core';
import type { Command, CommandOptions } from 'commander';
import { EXIT, type ExitCode } from '../../exitCodes.ts';
import { withView } from '../../project/openProject.ts';
import { examples, type Session, type Start } from '../../project/Session.ts';
import { wholeLog } from '../../project/wholeLog.ts';
import { nextCommands } from '../../render/nextCommands.ts';
import { formatCost, formatReview, formatRewind, formatStatus } from '../../render/renderStatus.ts';
import { storyLines } from '../../render/storyLines.ts';
import { indentLine, type Line } from '../../terminal/Line.ts';
import { oneLine } from '../../terminal/visible.ts';

/** Lines of the log that are shown: the last ones tell how the run got where it is. */
const LAST_LINES = 8;

export function addExplain(program: Command, start: Start, options?: CommandOptions): void {
  program
    .command('explain', options)
    .description('explain why a run waits or stopped: question, guards, errors, next step')
    .argument('<id>', 'run')
    .addHelpText('after', examples('devs admin explain csv-export'))
    .action((id: string, _options: object, command: Command) =>
      start(command, (session) => explain(id, session)),
    );
}

interface Explanation {
  readonly status: PipelineRunInfo;
  readonly depth: Awaited<ReturnType<Run['recursionDepth']>>;
  /** Turns spent on the active task. */
  readonly turns: number;
  readonly pivots: number;
  /** Of the active episode, newest last. */
  readonly errors: readonly string[];
  readonly last: readonly LogEntry[];
}

async function explain(id: string, session: Session): Promise<ExitCode> {
  const found = await withView(session, async (devs): Promise<Explanation> => {
    const run = await devs.run(id);
    const state = await run.state();
    return {
      status: await run.status(),
      depth: await run.recursionDepth(),
      turns: state?.implementationTurns ?? 0,
      pivots: state?.pivots.length ?? 0,
      errors: (state?.errorHistory ?? []).map(({ sourceNode, message }) => `${sourceNode}: ${message}`),
      last: (await wholeLog(run)).slice(-LAST_LINES),
    };
  });
  session.out.result(found, renderExplanation(found, session.devs));
  return EXIT.ok;
}

function renderExplanation(
  { status, depth, turns, pivots, errors, last }: Explanation,
  devs: Session['devs'],
): readonly Line[] {
  const { id, title, gates, reason, review } = status;
  return [
    { style: 'bold', text: oneLine(`${id}  ${title}: ${formatStatus(status)}`) },
    ...(reason === null ? [] : [oneLine(`reason:  ${reason}`)]),
    ...gates.map((gate) => `gate:    ${gate.message}`),
    `depth:   ${depth.current} of ${depth.limit} transitions without progress`,
    `turns:   ${turns} on the active task, ${pivots} changes of strategy in the run`,
    `cost:    ${formatCost(status.cost)}`,
    ...(review === null ? [] : [`review:  ${formatReview(review)}`]),
    ...status.rewinds.map((rewind) => `rewind:  ${formatRewind(rewind)}`),
    ...errors.map((text) => `error:   ${text}`),
    ...(last.length === 0 ? [] : ['last:', ...storyLines(last).map((line) => indentLine(line))]),
    ...nextCommands(status, devs),
  ];
}
