import type { Run } from '@devs/core';
import type { Command } from 'commander';
import { ASK_HELP } from '../drive/driveAsking.ts';
import { type DriveFlags, driveRun, VERBOSE_HELP } from '../drive/driveRun.ts';
import { GateNotifier, NOTIFY_HELP } from '../drive/GateNotifier.ts';
import { chooseLangGraph } from '../drive/langGraphCopy.ts';
import type { ExitCode } from '../exitCodes.ts';
import { AGENTS_HELP } from '../flags/agentNames.ts';
import { addGoalOptions } from '../flags/goalFlags.ts';
import { humanFrom } from '../flags/humanFrom.ts';
import { collectValues, toMilliseconds } from '../flags/optionValues.ts';
import { MAX_WAIT_HELP, parseSpec, type SpecFlags } from '../flags/runSpec.ts';
import { agentsFrom } from '../project/agentsFrom.ts';
import { withProject } from '../project/openProject.ts';
import { examples, type Session, type Start } from '../project/Session.ts';
import { specOf } from '../project/specOf.ts';

export function addResume(program: Command, start: Start): void {
  const verb = program
    .command('resume')
    .description('resume a run with its original agents and checks')
    .argument('<id>', 'run')
    .option('--agents <agents>', `use other agents this time: ${AGENTS_HELP}`, collectValues)
    .option('--check <command>', 'use another check this time')
    .option('--no-sandbox', 'run checks and coding CLIs without a sandbox this time; recorded in the log')
    .option('--by <name>', 'with --no-sandbox: your name for the record (default: your user name)')
    .option('--wait', 'keep waiting at gates; a decision made elsewhere is applied within a second')
    .option('--max-wait <length>', MAX_WAIT_HELP, toMilliseconds)
    .option('--no-ask', ASK_HELP)
    .option('-v, --verbose', VERBOSE_HELP)
    .option('--notify <command>', NOTIFY_HELP);
  addGoalOptions(verb)
    .addHelpText(
      'after',
      examples(
        'devs resume csv-export',
        "devs resume csv-export --check 'node --test'",
        'devs resume csv-export --epic E1',
        'devs resume csv-export --no-sandbox',
      ),
    )
    .action((id: string, flags: ResumeFlags, command: Command) =>
      start(command, (session) => resume(id, flags, session)),
    );
}

type ResumeFlags = SpecFlags & DriveFlags & { readonly by?: string };

async function resume(id: string, flags: ResumeFlags, session: Session): Promise<ExitCode> {
  const spec = await specOf(id, flags, session);
  const notifier = flags.notify === undefined ? null : new GateNotifier(flags.notify, session);
  chooseLangGraph(spec, session);
  const hooks = { ...(await agentsFrom(spec, session)), ...(notifier && { onGate: notifier.onGate }) };
  return withProject(session, hooks, async (devs) => {
    const run = await devs.run(id);
    if (await isWaived(run, flags)) await run.skipSandboxOnce(humanFrom(flags.by));
    const exitCode = await driveRun(devs, run, { ...flags, spec }, session);
    await notifier?.settled();
    return exitCode;
  });
}

/** A run that was started without one has nothing to lift. */
async function isWaived(run: Run, { sandbox }: SpecFlags): Promise<boolean> {
  return sandbox === false && parseSpec(await run.agentsRef())?.sandbox !== 'none';
}
