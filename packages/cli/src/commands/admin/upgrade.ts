import type { UpgradeCheck } from '@devs/core';
import type { Command, CommandOptions } from 'commander';
import { EXIT, type ExitCode } from '../../exitCodes.ts';
import { withModuleApps } from '../../project/moduleApps.ts';
import { examples, type Session, type Start } from '../../project/Session.ts';
import type { Line } from '../../terminal/Line.ts';
import { usageError } from '../../usageError.ts';

interface UpgradeFlags {
  readonly check?: true;
}

export function addUpgrade(program: Command, start: Start, options?: CommandOptions): void {
  program
    .command('upgrade', options)
    .description('check before a deploy which waiting runs a changed graph continues; executes nothing')
    .argument('<module>', 'JavaScript file that exports your app, as default, app or apps')
    .option('--check', 'print the runs that the graph continues, and those it refuses')
    .addHelpText('after', examples('devs upgrade --check ./app.js', 'devs upgrade --check ./app.js --json'))
    .action((file: string, flags: UpgradeFlags, command: Command) =>
      start(command, (session) => upgrade(file, flags, session)),
    );
}

async function upgrade(file: string, { check }: UpgradeFlags, session: Session): Promise<ExitCode> {
  if (check !== true)
    throw usageError(
      'Runs are upgraded when they are next executed.',
      `To see what that means for each, use ${session.devs('upgrade', '--check', file)}`,
    );
  const checks = await withModuleApps(file, session, (apps) =>
    Promise.all(apps.map((app) => app.checkUpgrade())),
  );
  const all: UpgradeCheck = {
    unchanged: checks.reduce((sum, { unchanged }) => sum + unchanged, 0),
    taken: checks.flatMap(({ taken }) => taken),
    refused: checks.flatMap(({ refused }) => refused),
    others: [...new Set(checks.flatMap(({ others }) => others))],
  };
  session.out.result(all, checkLines(all));
  return all.refused.length === 0 ? EXIT.ok : EXIT.stateFile;
}

function checkLines({ unchanged, taken, refused, others }: UpgradeCheck): readonly Line[] {
  return [
    ...taken.map(({ id, changes }) => `${id}: continues: ${changes.join('; ')}`),
    ...refused.map(({ id, reason, why }) => `${id}: refused (${reason}): ${why}`),
    {
      style: 'bold',
      text: `${unchanged} unchanged, ${taken.length} continue, ${refused.length} refused, ${others.length} of other graphs`,
    },
  ];
}
