// Tools that a model gets: for files and for checks.

import { type AgentCall, type CheckResult, isDevsError } from '@devs/core';
import { z } from 'zod';
import { type FileDesk, ToolRefusal } from './FileDesk.ts';
import { FileSearch } from './FileSearch.ts';
import { type ModelTool, modelTool } from './modelTool.ts';

const pathInput = z.string().describe('relative to the project, such as src/index.js');

/** Tools that look. */
export function readingTools(desk: FileDesk): readonly ModelTool[] {
  const search = new FileSearch(desk);
  return [
    modelTool({
      name: 'list_files',
      description: 'Lists the files of the project.',
      schema: z.object({ prefix: z.string().describe('only paths that begin so, such as src/').optional() }),
      run: ({ prefix }) => desk.list(prefix),
    }),
    modelTool({
      name: 'read_file',
      description: 'Reads a text file, with the edits made so far.',
      schema: z.object({
        path: pathInput,
        from_line: z.int().positive().describe('first line to read; 1 when left out').optional(),
      }),
      run: ({ path: named, from_line: fromLine }) => desk.read(named, fromLine),
    }),
    modelTool({
      name: 'search_files',
      description: 'Finds files by their path.',
      schema: z.object({
        pattern: z.string().min(1).describe('a part of the path, or a pattern such as **/*.test.ts'),
      }),
      run: ({ pattern }) => search.files(pattern),
    }),
    modelTool({
      name: 'search_text',
      description: 'Finds lines in the files of the project, with the edits made so far.',
      schema: z.object({
        text: z.string().min(1).describe('what the line contains'),
        regular_expression: z.boolean().describe('whether text is one, of JavaScript').optional(),
        ignore_case: z.boolean().optional(),
        files: z.string().min(1).describe('only in these, such as src/**/*.ts; all when left out').optional(),
      }),
      run: ({ text, regular_expression: isExpression = false, ignore_case: ignoresCase = false, files }) =>
        search.text({ text, isExpression, ignoresCase, files }),
    }),
  ];
}

/** Tools that edit. Nothing reaches the workspace before the engine applies the edits. */
export function editingTools(desk: FileDesk): readonly ModelTool[] {
  return [
    modelTool({
      name: 'write_file',
      description: 'Creates a file, or replaces it whole.',
      schema: z.object({ path: pathInput, content: z.string().describe('the whole content') }),
      run: async ({ path: named, content }) => ({
        edited: await desk.write(named, content),
        told: `Wrote ${content.length} characters.`,
      }),
    }),
    modelTool({
      name: 'edit_file',
      description: 'Replaces one passage of a file; the rest stays.',
      schema: z.object({
        path: pathInput,
        find: z
          .string()
          .min(1)
          .describe('the passage as it stands, with enough around it to occur exactly once'),
        replace: z.string().describe('what stands there instead'),
      }),
      run: async ({ path: named, find, replace }) => ({
        edited: await desk.replace(named, find, replace),
        told: 'Edited.',
      }),
    }),
    modelTool({
      name: 'delete_file',
      description: 'Deletes a file.',
      schema: z.object({ path: pathInput }),
      run: async ({ path: named }) => ({ edited: await desk.remove(named), told: 'Deleted.' }),
    }),
  ];
}

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
