import type { DeclaredChanges } from '@devs/core';
import type { Command, CommandOptions } from 'commander';
import { EXIT, type ExitCode } from '../../exitCodes.ts';
import { humanFrom } from '../../flags/humanFrom.ts';
import { withRuns } from '../../project/openProject.ts';
import { examples, type Session, type Start } from '../../project/Session.ts';
import { resumeCommand } from '../../render/nextCommands.ts';
import { usageError } from '../../usageError.ts';

interface AcceptGraphFlags {
  readonly node: readonly string[];
  readonly channel: readonly string[];
  readonly by?: string;
}

export function addAcceptGraph(program: Command, start: Start, options?: CommandOptions): void {
  program
    .command('accept-graph', options)
    .description('allow a run to continue with a changed graph; does not resume the run')
    .argument('<id>', 'run')
    .option('--node <old=new>', 'a renamed node; old= if it was removed', collect, [])
    .option('--channel <old=new>', 'a renamed channel; old= if it was removed', collect, [])
    .option('--by <name>', 'your name for the record (default: your user name)')
    .addHelpText(
      'after',
      examples(
        'devs admin accept-graph csv-export',
        'devs admin accept-graph csv-export --node check=verify --channel notes=',
      ),
    )
    .action((id: string, declared: AcceptGraphFlags, command: Command) =>
      start(command, (session) => acceptGraph(id, declared, session)),
    );
}

async function acceptGraph(
  id: string,
  { node, channel, by }: AcceptGraphFlags,
  session: Session,
): Promise<ExitCode> {
  const human = humanFrom(by);
  const declared = declaredBy({ nodes: node.map(parsePair), channels: channel.map(parsePair) });
  return withRuns(session, async (devs) => {
    const run = await devs.run(id);
    const { changes } = await run.acceptGraph({ by: human, ...declared });
    const said =
      changes.length === 0 ? ['nothing to accept'] : changes.map((change) => `accepted: ${change}`);
    session.out.result({ id, run: id, changes, principal: human }, [
      ...said,
      `recorded; to resume: ${resumeCommand(await run.status(), session.devs)}`,
    ]);
    return EXIT.ok;
  });
}

type Pair = readonly [old: string, now: string];

function declaredBy(pairs: {
  readonly nodes: readonly Pair[];
  readonly channels: readonly Pair[];
}): DeclaredChanges {
  const renamed = (all: readonly Pair[]) => Object.fromEntries(all.filter(([, now]) => now !== ''));
  const removed = (all: readonly Pair[]) => all.filter(([, now]) => now === '').map(([old]) => old);
  return {
    renamed: { nodes: renamed(pairs.nodes), channels: renamed(pairs.channels) },
    removed: { nodes: removed(pairs.nodes), channels: removed(pairs.channels) },
  };
}

function parsePair(text: string): Pair {
  const at = text.indexOf('=');
  if (at < 1)
    throw usageError(
      `"${text}" is not of the form old=new.`,
      'Write the old name, =, and the new name. Omit the new name if it was removed.',
    );
  return [text.slice(0, at), text.slice(at + 1)];
}

const collect = (value: string, all: readonly string[]): readonly string[] => [...all, value];
