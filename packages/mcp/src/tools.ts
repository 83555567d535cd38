import { z } from 'zod';
import type { ReadContext } from './StateReader.ts';
import { listRunLines, logPage, recursionView, toolGateView, toolRunView, transcriptView } from './views.ts';

/** A tool that reads. `call` parses the arguments itself and throws a `ZodError` for bad ones. */
export interface ReadTool {
  readonly name: string;
  readonly description: string;
  readonly input: z.ZodObject;
  readonly parse: (args: unknown) => (context: ReadContext) => Promise<object>;
}

const MAX_PAGE = 500;
const RunId = z.string().min(1).max(128).describe('Id of the run, from list_runs.');
const AfterSeq = z.int().min(0).default(0).describe('nextAfterSeq of the previous page.');
const Limit = z.int().min(1).max(MAX_PAGE).default(100);
const OneRun = z.strictObject({ threadId: RunId });

/** Every tool there is. All of them read; deciding, driving and changing a run are not for agents (law L8). */
export const TOOLS: readonly ReadTool[] = [
  readTool({
    name: 'list_runs',
    description:
      'Lists the runs in the folder, newest first: status, finished tasks, open gates. Returns all runs, or one page if limit is set.',
    input: z.strictObject({
      limit: z.int().min(1).max(MAX_PAGE).optional(),
      after: RunId.optional().describe('nextAfter of the previous page.'),
    }),
    read: async ({ devs }, page) => listRunLines(devs, page),
  }),
  readTool({
    name: 'get_run',
    description: 'Shows one run: status, tasks with their commits, cost so far, current process, open gates.',
    input: OneRun,
    read: async ({ devs }, { threadId }) =>
      devs.view(threadId, async (run) => toolRunView(await run.status())),
  }),
  readTool({
    name: 'get_gates',
    description:
      'Shows the open gates of a run, with their content and its SHA-256, which a decision must name. This server cannot decide gates.',
    input: OneRun,
    read: async ({ devs }, { threadId }) =>
      devs.view(threadId, async (run) => {
        const lines = (await run.gates()).map(async (gate) =>
          toolGateView(gate, await run.lastComments(gate)),
        );
        return { gates: await Promise.all(lines) };
      }),
  }),
  readTool({
    name: 'get_log',
    description: 'Reads the events of a run in pages, oldest first.',
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
      'Reads the transcript of one stage of a run in pages, oldest first: texts, tool calls, edits, output of checks. For an unknown stage it lists the available stages.',
    input: z.strictObject({
      threadId: RunId,
      stage: z
        .string()
        .min(1)
        .max(128)
        .describe('For example T4.implement, or design for a stage outside tasks.'),
      attempt: z
        .int()
        .min(1)
        .optional()
        .describe(
          'Attempt of the stage, from 1; default: the newest. For further pages, use the attempt of the first page.',
        ),
      afterSeq: AfterSeq,
      limit: Limit.describe(
        'Maximum entries per page; a page can be longer to keep entries that were written together.',
      ),
    }),
    read: transcriptView,
  }),
  readTool({
    name: 'get_recursion_depth',
    description:
      'Shows the number of node transitions without progress, the warning level and the limit at which a person is asked.',
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
