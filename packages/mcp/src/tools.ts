import { z } from 'zod';
import { recursionView } from './recursionView.ts';
import type { ReadContext } from './StateReader.ts';
import { transcriptView } from './transcriptView.ts';
import { gateView, listRuns, logPage, runView } from './views.ts';

/** A tool that reads. `call` parses the arguments itself and throws a `ZodError` for bad ones. */
export interface ReadTool {
  readonly name: string;
  readonly description: string;
  readonly input: z.ZodObject;
  readonly parse: (args: unknown) => (context: ReadContext) => Promise<object>;
}

const MAX_PAGE = 500;
const RunId = z.string().min(1).max(128).describe('Id of the run, from list_runs.');
const AfterSeq = z.int().min(0).default(0).describe('nextAfterSeq of the page before.');
const Limit = z.int().min(1).max(MAX_PAGE).default(100);
const OneRun = z.strictObject({ threadId: RunId });

/** Every tool there is. All of them read; deciding, driving and changing a run are not for agents (law L8). */
export const TOOLS: readonly ReadTool[] = [
  readTool({
    name: 'list_runs',
    description:
      'Lists the runs in the folder, newest first: status, finished tasks, open gates. All of them, or with a limit a page.',
    input: z.strictObject({
      limit: z.int().min(1).max(MAX_PAGE).optional(),
      after: RunId.optional().describe('nextAfter of the page before.'),
    }),
    read: async ({ devs }, page) => listRuns(devs, page),
  }),
  readTool({
    name: 'get_run',
    description: 'Shows one run: status, tasks with their commits, cost so far, who drives it, open gates.',
    input: OneRun,
    read: async ({ devs }, { threadId }) => devs.view(threadId, async (run) => runView(await run.status())),
  }),
  readTool({
    name: 'get_gates',
    description:
      'Shows the questions a run asks people, with what is shown and the SHA-256 a decision is bound to. Deciding is not possible here.',
    input: OneRun,
    read: async ({ devs }, { threadId }) =>
      devs.view(threadId, async (run) => {
        const lines = (await run.gates()).map(async (gate) => gateView(gate, await run.lastComments(gate)));
        return { gates: await Promise.all(lines) };
      }),
  }),
  readTool({
    name: 'get_log',
    description: 'Reads the events of a run, oldest first, page by page.',
    input: z.strictObject({
      threadId: RunId,
      afterSeq: AfterSeq,
      limit: Limit,
    }),
    read: async ({ devs }, { threadId, afterSeq, limit }) =>
      devs.view(threadId, async (run) => logPage(await run.log({ afterSeq, limit: limit + 1 }), limit)),
  }),
  readTool({
    name: 'get_transcript',
    description:
      'Reads what was said and done in one stage of a run, oldest first, page by page: texts, tool calls, edits, output of checks. A stage that there is no transcript of is answered with those there are.',
    input: z.strictObject({
      threadId: RunId,
      stage: z.string().min(1).max(128).describe('Such as T4.implement, or design outside of a task.'),
      attempt: z
        .int()
        .min(1)
        .optional()
        .describe('Of the stage, from 1; the newest without it. For further pages, the one of the first.'),
      afterSeq: AfterSeq,
      limit: Limit.describe('Entries after which a page ends, with those that were written together.'),
    }),
    read: transcriptView,
  }),
  readTool({
    name: 'get_recursion_depth',
    description:
      'Tells how many node transitions a run has made without progress, when a warning is raised and at which number a person is asked.',
    input: OneRun,
    read: (context, { threadId }) => recursionView(context, threadId),
  }),
];

/** Clients from before everything that belongs to a run named it `threadId` say `runId`. */
function withThreadId(args: unknown): unknown {
  if (typeof args !== 'object' || args === null || !('runId' in args) || 'threadId' in args) return args;
  const { runId: threadId, ...others } = args;
  return { threadId, ...others };
}

interface TypedTool<Input extends z.ZodObject> extends Omit<ReadTool, 'parse'> {
  readonly input: Input;
  readonly read: (context: ReadContext, input: z.infer<Input>) => Promise<object>;
}

function readTool<Input extends z.ZodObject>({ read, ...tool }: TypedTool<Input>): ReadTool {
  return {
    ...tool,
    parse: (args) => {
      const input = tool.input.parse(withThreadId(args ?? {}));
      return (context) => read(context, input);
    },
  };
}
