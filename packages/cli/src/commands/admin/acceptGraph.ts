import { type DeclaredChanges, isDevsError, type Principal } from '@devs/core';
import type { Command, CommandOptions } from 'commander';
import { EXIT, type ExitCode } from '../../exitCodes.ts';
import { humanFrom } from '../../flags/humanFrom.ts';
import { type ModuleApp, withModuleApps } from '../../project/moduleApps.ts';
import { withRuns } from '../../project/openProject.ts';
import { examples, type Session, type Start } from '../../project/Session.ts';
import { resumeCommand } from '../../render/nextCommands.ts';
import { usageError } from '../../usageError.ts';

interface AcceptGraphFlags {
  readonly node: readonly string[];
  readonly channel: readonly string[];
  readonly gate: readonly string[];
  readonly app?: string;
  readonly all?: true;
  readonly by?: string;
}

export function addAcceptGraph(program: Command, start: Start, options?: CommandOptions): void {
  program
    .command('accept-graph', options)
    .description('allow a run to continue with a changed graph; does not resume the run')
    .argument('[id]', 'run')
    .option('--node <old=new>', 'a renamed node; old= if it was removed', collect, [])
    .option('--channel <old=new>', 'a renamed channel; old= if it was removed', collect, [])
    .option('--gate <name>', 'a removed gate; the run is not asked there any more', collect, [])
    .option('--app <module>', 'JavaScript file that exports your app (default: the pipeline)')
    .option('--all', 'every run that the graph of --app refuses')
    .option('--by <name>', 'your name for the record (default: your user name)')
    .addHelpText(
      'after',
      examples(
        'devs admin accept-graph csv-export',
        'devs admin accept-graph csv-export --node check=verify --channel notes=',
        'devs admin accept-graph --app ./app.js order-7 --gate publish',
        'devs admin accept-graph --app ./app.js --all --by ada',
      ),
    )
    .action((id: string | undefined, declared: AcceptGraphFlags, command: Command) =>
      start(command, (session) => acceptGraph(id, declared, session)),
    );
}

async function acceptGraph(
  id: string | undefined,
  { node, channel, gate, app, by, ...flags }: AcceptGraphFlags,
  session: Session,
): Promise<ExitCode> {
  const human = humanFrom(by);
  const all = flags.all === true;
  const declared = declaredBy({ nodes: node.map(parsePair), channels: channel.map(parsePair), gates: gate });
  if ((id === undefined) !== all || (all && app === undefined))
    throw usageError('Which run?', 'Name one run, or all runs of an app: --app MODULE --all.');
  if (app !== undefined) return acceptOfApp(id ?? null, { file: app, declared, by: human }, session);
  if (id === undefined) return EXIT.usage;
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

interface AppAcceptance {
  readonly file: string;
  readonly declared: DeclaredChanges;
  readonly by: Principal;
}

/** @param id - `null`: every run that its graph refuses. */
async function acceptOfApp(
  id: string | null,
  { file, declared, by }: AppAcceptance,
  session: Session,
): Promise<ExitCode> {
  const looks = await withModuleApps(file, session, (apps) => {
    if (id === null) return acceptAll(apps, { ...declared, by });
    const [app, ...others] = apps;
    if (app === undefined || others.length > 0)
      throw usageError(`${file} exports several apps.`, 'Export one of them, or use --all.');
    return acceptOne(app, id, { ...declared, by });
  });
  const accepted = looks.flatMap((run) => ('changes' in run ? [run] : []));
  const refused = looks.flatMap((run) => ('why' in run ? [run] : []));
  session.out.result({ accepted, refused, principal: by }, [
    ...accepted.map((run) => `${run.id}: accepted: ${run.changes.join('; ') || 'nothing to accept'}`),
    ...refused.map((run) => `${run.id}: not accepted: ${run.code}: ${run.why}`),
    { style: 'bold', text: `${accepted.length} accepted, ${refused.length} not accepted` },
  ]);
  return refused.length === 0 ? EXIT.ok : EXIT.gateRefused;
}

type Acceptance = DeclaredChanges & { readonly by: Principal };

type AcceptedRun =
  | { readonly id: string; readonly changes: readonly string[] }
  | { readonly id: string; readonly code: string; readonly why: string };

async function acceptOne(
  app: ModuleApp,
  id: string,
  acceptance: Acceptance,
): Promise<readonly AcceptedRun[]> {
  const { changes } = await app.acceptGraph(id, acceptance);
  return [{ id, changes }];
}

/** Continues after a run that cannot be accepted. */
async function acceptAll(
  apps: readonly ModuleApp[],
  acceptance: Acceptance,
): Promise<readonly AcceptedRun[]> {
  const all: AcceptedRun[] = [];
  for (const app of apps) {
    const { refused } = await app.checkUpgrade();
    for (const { id } of refused) {
      const accepted = acceptOne(app, id, acceptance).catch((error: unknown) => {
        if (!isDevsError(error)) throw error;
        return [{ id, code: error.code, why: error.message }];
      });
      all.push(...(await accepted));
    }
  }
  return all;
}

type Pair = readonly [old: string, now: string];

function declaredBy(pairs: {
  readonly nodes: readonly Pair[];
  readonly channels: readonly Pair[];
  readonly gates: readonly string[];
}): DeclaredChanges {
  const renamed = (all: readonly Pair[]) => Object.fromEntries(all.filter(([, now]) => now !== ''));
  const removed = (all: readonly Pair[]) => all.filter(([, now]) => now === '').map(([old]) => old);
  return {
    renamed: { nodes: renamed(pairs.nodes), channels: renamed(pairs.channels) },
    removed: { nodes: removed(pairs.nodes), channels: removed(pairs.channels), gates: pairs.gates },
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
