import type { DriveRunOptions } from '@devs/core';
import { type Command, Option } from 'commander';
import { usageError } from '../usageError.ts';

/** How far `devs run` and `devs resume` drive. */
export type GoalFlags = Pick<DriveRunOptions, 'until' | 'only' | 'epic'>;

export function addGoalOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--until <gate>', 'stop when that gate is approved; recorded until it is reached')
        .choices(['design', 'dag'])
        .conflicts(['only', 'epic']),
    )
    .addOption(
      new Option('--only <task>', 'T4: that task and what it depends on, then stop')
        .argParser(named(/^T[1-9]\d*$/, 'T4'))
        .conflicts('epic'),
    )
    .option(
      '--epic <epic>',
      'E1: the tasks of that epic and what they depend on, then stop',
      named(/^E[1-9]\d*$/, 'E1'),
    );
}

export function goalFrom({ until, only, epic }: GoalFlags): GoalFlags {
  return { ...(until && { until }), ...(only && { only }), ...(epic && { epic }) };
}

function named(pattern: RegExp, example: string): (text: string) => string {
  return (text) => {
    if (pattern.test(text)) return text;
    throw usageError(`"${text}" is no such name.`, `Give one that devs show prints, such as ${example}.`);
  };
}
