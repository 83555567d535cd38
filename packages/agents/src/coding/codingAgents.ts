import { createHash } from 'node:crypto';
import type { AgentCall, AnswerRequest, StageAgents, TaskRequest, WorkResult } from '@devs/core';
import { z } from 'zod';
import { assertPositiveInteger } from '../assertPositiveInteger.ts';
import { liveAgents, type StageQuestion, type StageWorker } from '../models/liveAgents.ts';
import {
  loadPrompts,
  MODEL_STAGES,
  type ModelStage,
  type PromptVersion,
  readPrompt,
  TASK_STAGES,
  type TaskStage,
} from '../models/loadPrompts.ts';
import { renderHandOver, renderOpening, renderRequest, type StageRequest } from '../models/renderRequest.ts';
import { Patience } from '../patience/Patience.ts';
import { TRUNCATED_MARK } from '../process/MaskedTail.ts';
import type { Sandbox } from '../sandbox/Sandbox.ts';
import {
  type CodingLimits,
  type CodingStage,
  type CodingTool,
  type StageWork,
  uselessAnswer,
} from './CodingTool.ts';

const DEFAULT_TIMEOUT_MS = 30 * 60_000;

/** Characters of what a tool says about its edits that are kept; from the end, where the summary stands. */
const MAX_SUMMARY = 2_000;

export interface CodingAgentsOptions<Source> {
  readonly perStage?: Readonly<Partial<Record<ModelStage, Source>>>;
  /** Sandbox from `findSandbox`; `null` runs the CLI with your rights. */
  readonly sandbox: Sandbox | null;
  /** Version of the prompts. @defaultValue the newest */
  readonly prompts?: string;
  /** Longest stage, in milliseconds. @defaultValue 1 800 000 */
  readonly timeoutMs?: number;
  /** Longest wait at a rate limit or quota, in milliseconds. @defaultValue 1 800 000 */
  readonly maxWaitMs?: number;
}

/**
 * Agents that are coding CLIs. Where a stage is about files one edits the workspace in place, and the engine takes the
 * difference; where it is about documents, a plan or a verdict it answers with JSON, and an answer of the wrong shape is
 * sent back once.
 *
 * @param first - Of every stage that `perStage` does not name.
 * @param find - Reaches a tool, each once.
 */
export async function codingAgents<Source>(
  first: Source,
  options: CodingAgentsOptions<Source> & Pick<CodingLimits, 'maxOutputBytes' | 'graceMs'>,
  find: (source: Source, limits: CodingLimits) => Promise<CodingTool>,
): Promise<StageAgents> {
  const { perStage = {}, sandbox, timeoutMs = DEFAULT_TIMEOUT_MS, maxWaitMs } = options;
  const limits = { sandbox, timeoutMs, maxOutputBytes: options.maxOutputBytes, graceMs: options.graceMs };
  for (const name of ['timeoutMs', 'maxOutputBytes', 'graceMs'] as const)
    assertPositiveInteger(name, limits[name]);
  const found = new Map<Source, CodingTool>();
  for (const source of new Set([first, ...Object.values<Source>(perStage)]))
    found.set(source, await find(source, limits));
  const tools = new Map(
    MODEL_STAGES.map((stage) => [stage, found.get(perStage[stage] ?? first) as CodingTool]),
  );
  const prompts = codingPrompts(options.prompts);
  const close = async (): Promise<void> => {
    await Promise.all([...found.values()].map(async (tool) => tool.close?.()));
  };
  const patience = new Patience(maxWaitMs === undefined ? {} : { maxWaitMs });
  const worker = new CodingWorker(tools, prompts, patience);
  return { ...liveAgents(worker, { workers: tools.values(), prompts }), close };
}

class CodingWorker implements StageWorker {
  readonly #tools: ReadonlyMap<ModelStage, CodingTool>;
  readonly #prompts: CodingPrompts;
  readonly #patience: Patience;

  constructor(tools: ReadonlyMap<ModelStage, CodingTool>, prompts: CodingPrompts, patience: Patience) {
    this.#tools = tools;
    this.#prompts = prompts;
    this.#patience = patience;
  }

  async edit(stage: TaskStage, request: TaskRequest, call: AgentCall): Promise<WorkResult> {
    const { conversation: id } = call;
    const after = TASK_STAGES[TASK_STAGES.indexOf(stage) - 1] ?? null;
    const talk = id === undefined || !this.#prompts.hasConversations ? {} : { talk: { id, after } };
    const place = { stage, dir: request.workspace.dir, readOnly: false, ...talk };
    const text = await this.#converse(place, call, (ask, isContinued) => {
      const prompt = this.#prompts.forEdit(stage, request, isContinued);
      call.onActivity?.({ kind: 'prompt', prompt });
      return ask(prompt);
    });
    // No files: the engine takes what lies in the folder.
    return {
      summary: shortSummary(text.trim()),
      files: [],
      ...(stage === 'implement' && wrongTestIn(text)),
      ...(stage === 'document' && commitMessageIn(text)),
    };
  }

  /** It sees the folder itself; the engine puts back what is changed there. */
  answer<Answer>(question: StageQuestion<Answer>, call: AgentCall): Promise<Answer> {
    const { stage, request, answer, system } = question;
    const place = { stage, dir: dirOf(request), readOnly: true };
    const prompt = this.#prompts.forAnswer(stage, request, answer.schema, system);
    return this.#converse(place, call, async (ask) => {
      call.onActivity?.({ kind: 'prompt', prompt });
      const first = jsonAnswer(await ask(prompt), answer.schema);
      if ('value' in first) return first.value;
      const again = await ask(formatRepair(first.problem));
      const second = jsonAnswer(again, answer.schema);
      if ('value' in second) return second.value;
      throw uselessAnswer(this.#tool(stage).name, stage, second.problem, again.trim() === '');
    });
  }

  /** At a limit of the provider, the tool repeats the whole stage. */
  #converse<Result>(place: CodingStage, call: AgentCall, work: StageWork<Result>): Promise<Result> {
    const tool = this.#tool(place.stage);
    return this.#patience.ask(() => tool.converse(place, call, work), { ...call, name: tool.name });
  }

  #tool(stage: ModelStage): CodingTool {
    return this.#tools.get(stage) as CodingTool;
  }
}

/** A question of a person's gets no folder: nobody would put back what a tool changes there between two drives. */
function dirOf(request: StageRequest | AnswerRequest): string | null {
  return 'question' in request || !('workspace' in request) ? null : (request.workspace?.dir ?? null);
}

/** What it says of a test that asks for something wrong, in the line its prompt asks for; nothing without one. */
function wrongTestIn(text: string): Pick<WorkResult, 'wrongTest'> {
  const wrongTest = /^WRONG TEST: *(\S.*)$/m.exec(text)?.[1];
  return wrongTest === undefined ? {} : { wrongTest: wrongTest.slice(0, MAX_SUMMARY) };
}

/** Reads the commit message behind its line, without a fence. */
function commitMessageIn(text: string): Pick<WorkResult, 'message'> {
  const [, said = ''] = /^COMMIT MESSAGE:[ \t]*\n?([\s\S]*)$/m.exec(text) ?? [];
  const message = said.replaceAll(/^```\w*$/gm, '').trim();
  return message === '' ? {} : { message };
}

const shortSummary = (text: string): string =>
  text.length <= MAX_SUMMARY ? text : `${TRUNCATED_MARK}\n${text.slice(-MAX_SUMMARY)}`;

const formatRepair = (problem: string): string =>
  `Your last answer could not be used: ${problem}\nAnswer again, whole: one JSON object in a block fenced with \`\`\`json.`;

/** What a text says, in the shape of an answer, or what is wrong about it. */
type ReadAnswer<Answer> = { readonly value: Answer } | { readonly problem: string };

/** Finds the answer in what a coding CLI said: the last fenced block that is JSON, or all, or what stands in braces. */
function jsonAnswer<Answer>(text: string, schema: z.ZodType<Answer>): ReadAnswer<Answer> {
  const found = jsonCandidates(text).find((candidate) => parseJsonBlock(candidate) !== undefined);
  if (found === undefined) return { problem: 'There is no JSON object in it.' };
  const answer = schema.safeParse(parseJsonBlock(found));
  return answer.success ? { value: answer.data } : { problem: z.prettifyError(answer.error) };
}

function jsonCandidates(text: string): readonly string[] {
  // No line of JSON begins with a fence: a block ends at the next one, and some programs go on in its line.
  const found = text.matchAll(/^```(?:json)?[ \t]*\n(?=([\s\S]*?)^```)/gm);
  const blocks = [...found].map((match) => String(match[1])).reverse();
  return [...blocks, text, text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1)];
}

function parseJsonBlock(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The prompts of models, with what is different for a tool that edits in place and answers in text. */
interface CodingPrompts {
  readonly version: PromptVersion;
  /** Over all texts, hex. */
  readonly sha256: string;
  /** Whether the stages of a task may be one conversation. */
  readonly hasConversations: boolean;
  /** For a stage whose result is what it leaves in the folder. */
  forEdit(stage: TaskStage, request: TaskRequest, isContinued: boolean): string;
  /** For a stage whose result is an answer of this shape. @param system - In the place of the stage's own prompt. */
  forAnswer(
    stage: ModelStage,
    request: StageRequest | AnswerRequest,
    schema: z.ZodType,
    system?: string,
  ): string;
}

/** @throws DevsError `CONFIG_INVALID` for a version this package does not have. */
function codingPrompts(named?: string): CodingPrompts {
  const { version, sha256, of, task } = loadPrompts(named);
  const edit = readPrompt(version, 'commandEdit');
  const answer = readPrompt(version, 'commandAnswer');
  const schemaText = (schema: z.ZodType): string => JSON.stringify(z.toJSONSchema(schema));
  const parts = (...texts: readonly string[]): string => texts.filter((text) => text !== '').join('\n\n');
  return {
    version,
    sha256: createHash('sha256')
      .update(JSON.stringify([sha256, edit, answer]))
      .digest('hex'),
    hasConversations: task !== null,
    forEdit: (stage, request, isContinued) => {
      if (task === null) return parts(of[stage], renderRequest(request, version), edit);
      const handedOver = renderHandOver(request, isContinued);
      const opening = isContinued ? [] : [task.system, renderOpening(request, version)];
      return parts(...opening, handedOver, task.of[stage], edit);
    },
    forAnswer: (stage, request, schema, system = of[stage]) =>
      parts(system, renderRequest(request, version), answer, schemaText(schema)),
  };
}
