import type { DriveRunOptions } from '@devs/core';
import { type Command, Option } from 'commander';
import { usageError } from '../usageError.ts';

/** How far `devs run` and `devs resume` drive. */
export type GoalFlags = Pick<DriveRunOptions, 'until' | 'only' | 'epic'>;

export function addGoalOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--until <gate>', 'stop when this gate is approved; recorded until it is reached')
        .choices(['design', 'dag'])
        .conflicts(['only', 'epic']),
    )
    .addOption(
      new Option('--only <task>', 'such as T4: run this task and the tasks it depends on, then stop')
        .argParser(matchFlag(/^T[1-9]\d*$/, 'T4'))
        .conflicts('epic'),
    )
    .option(
      '--epic <epic>',
      'such as E1: run the tasks of this epic and the tasks they depend on, then stop',
      matchFlag(/^E[1-9]\d*$/, 'E1'),
    );
}

export function goalFrom({ until, only, epic }: GoalFlags): GoalFlags {
  return { ...(until && { until }), ...(only && { only }), ...(epic && { epic }) };
}

function matchFlag(pattern: RegExp, example: string): (text: string) => string {
  return (text) => {
    if (pattern.test(text)) return text;
    throw usageError(`"${text}" is not a valid name.`, `Use a name from devs show, such as ${example}.`);
  };
}
