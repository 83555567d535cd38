import type { Command, CommandOptions } from 'commander';
import { EXIT, type ExitCode } from '../exitCodes.ts';
import { withView } from '../project/openProject.ts';
import { examples, type Session, type Start } from '../project/Session.ts';
import { traceLines } from '../render/traceLines.ts';

interface TraceFlags {
  readonly content?: boolean;
  readonly export?: boolean;
}

export function addTrace(program: Command, start: Start, options?: CommandOptions): void {
  program
    .command('trace', options)
    .description('print the spans of a run as a tree with durations, or export them with OpenTelemetry')
    .argument('<id>', 'run')
    .option('--content', 'include words of people, messages of errors and results of steps, masked')
    .option(
      '--export',
      'send the spans that have ended to the collector of the OTEL_EXPORTER_OTLP_… variables',
    )
    .addHelpText(
      'after',
      examples('devs trace csv-export', 'devs trace csv-export --json', 'devs trace csv-export --export'),
    )
    .action((id: string, flags: TraceFlags, command: Command) =>
      start(command, (session) =>
        flags.export === true ? exportTrace(id, flags, session) : trace(id, flags, session),
      ),
    );
}

async function trace(id: string, { content = false }: TraceFlags, session: Session): Promise<ExitCode> {
  const spans = await withView(session, async (devs) => (await devs.run(id)).trace({ content }));
  const lines = traceLines(spans);
  await session.out.pages(spans, lines.length === 0 ? ['There are no spans yet.'] : lines);
  return EXIT.ok;
}

async function exportTrace(id: string, flags: TraceFlags, session: Session): Promise<ExitCode> {
  const { content } = flags;
  const asked = content === undefined ? {} : { content };
  const exported = await withView(session, async (devs) => (await devs.run(id)).exportTrace(asked));
  session.out.result({ id, exported }, [`${exported} spans exported`]);
  return EXIT.ok;
}
