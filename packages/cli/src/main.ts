import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { addVerbs } from './commands/verbs.ts';
import { EXIT, type ExitCode } from './exitCodes.ts';
import { examples, type GlobalOptions, newSession, type Start } from './project/Session.ts';
import { renderError } from './render/renderError.ts';
import type { Io } from './terminal/Io.ts';
import { Output, wantsColor } from './terminal/Output.ts';
import { pagerFor } from './terminal/pager.ts';

/**
 * Runs one command line, without the program's name, and returns its exit code. It does not throw: errors are on
 * `io.stderr`, masked.
 *
 * @example
 * ```ts
 * process.exitCode = await main(['status', '--json'], io);
 * ```
 */
export async function main(argv: readonly string[], io: Io): Promise<ExitCode> {
  let exitCode: ExitCode = EXIT.ok;
  const start: Start = async (command, work) => {
    const options = command.optsWithGlobals<GlobalOptions>();
    exitCode = await work(newSession(io, outputFor(io, options), options));
  };
  try {
    const devs = program(io);
    await addVerbs(devs, start, argv);
    await devs.parseAsync([...argv], { from: 'user' });
    return exitCode;
  } catch (error) {
    // What failed may be the reading of the options themselves.
    const rendered = renderError(error, { json: argv.includes('--json') });
    io.stderr.write(rendered.text);
    return rendered.exitCode;
  }
}

function program(io: Io): Command {
  return new Command('devs')
    .description('Durable agent runs with human approval, in one SQLite file.')
    .version(packageVersion())
    .option(
      '--dir <folder>',
      'project folder; its runs are in .devs and .devs-work (default: the project that contains this folder, or this folder)',
    )
    .option(
      '--db <url>',
      'use the runs of a PostgreSQL cluster, postgres://… (default: DEVS_DATABASE_URL, or the project folder)',
    )
    .option('--schema <name>', 'schema of the cluster (default: devs)')
    .option('--json', 'print a single JSON document')
    .option('--trust <sha256>', 'accept .devs/config.json with this hash, for this command only')
    .option('--no-color', 'print plain text on a terminal (also: NO_COLOR)')
    .option('--no-pager', 'print long text without a pager (also: PAGER=cat)')
    .addHelpText(
      'after',
      examples(
        'devs run brief.md --agents replay:recording.jsonl',
        'devs show GATE',
        'devs approve GATE',
        'devs resume RUN',
      ),
    )
    .exitOverride()
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => void io.stdout.write(text),
      writeErr: (text) => void io.stderr.write(text),
      outputError: () => undefined,
    });
}

function outputFor(io: Io, { json = false, color = true, pager = true }: GlobalOptions): Output {
  const { stdout, stderr } = io;
  const pages = pager ? pagerFor(io) : null;
  return new Output({ stdout, stderr, json, color: wantsColor(io, color), pager: pages });
}

function packageVersion(): string {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { readonly version: string }).version;
}
