import { type AgentCall, type CheckResult, isDevsError } from '@devs/core';
import { z } from 'zod';
import type { FileDesk } from './FileDesk.ts';
import { type ModelTool, modelTool } from './modelTool.ts';
import { ToolRefusal } from './ToolRefusal.ts';

/** Characters of what the checks printed: the end says what failed. */
const MAX_OUTPUT = 16_000;

/** A tool that runs the project's checks on what lies on the desk; none where the call offers no checks. */
export function checkTools(desk: FileDesk, { checks: offered }: AgentCall): readonly ModelTool[] {
  if (offered === undefined) return [];
  const { limit } = offered;
  let left = limit;
  const run = async (call: AgentCall): Promise<string> => {
    if (left === 0 || call.checks === undefined) {
      throw new ToolRefusal('The checks cannot be run again in this stage; end it with what you know.');
    }
    left -= 1;
    const said = await saidOf(call.checks.run(desk.edits));
    return `${said}\n\n[${left} ${left === 1 ? 'run is' : 'runs are'} left in this stage.]`;
  };
  return [
    modelTool({
      name: 'run_checks',
      description: `Runs all checks of the project on it as it is with the edits made so far, and tells what they print; end the stage with checks that say what you expect. At most ${limit} ${limit === 1 ? 'time' : 'times'} in this stage.`,
      schema: z.object({}),
      run: (_input, call) => run(call),
    }),
  ];
}

/** Edits that cannot be applied are the model's to mend. */
async function saidOf(check: Promise<CheckResult>): Promise<string> {
  try {
    return checkReport(await check);
  } catch (error) {
    if (isDevsError(error, 'PATH_REFUSED')) throw new ToolRefusal(error.message);
    throw error;
  }
}

function checkReport({
  command,
  passed,
  exitCode,
  timedOut,
  missing,
  flaky = [],
  output,
}: CheckResult): string {
  if (missing !== undefined) return `${command} could not run: ${missing} is not installed.`;
  const failed = timedOut ? 'ran into its time limit' : `failed (exit code ${exitCode ?? 'none'})`;
  const unsteady = flaky.length === 0 ? [] : [`Failed and passed on the same files: ${flaky.join(', ')}.`];
  return [`${command} ${passed ? 'passed' : failed}.`, ...unsteady, output.slice(-MAX_OUTPUT)].join('\n');
}
