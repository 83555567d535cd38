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
} from '../models/loadPrompts.ts';
import { renderRequest, type StageRequest } from '../models/renderRequest.ts';
import { TRUNCATED_MARK } from '../process/MaskedTail.ts';
import type { Sandbox } from '../sandbox/Sandbox.ts';
import { type CodingLimits, type CodingTool, uselessAnswer } from './CodingTool.ts';

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
  const { perStage = {}, sandbox, timeoutMs = DEFAULT_TIMEOUT_MS } = options;
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
  return { ...liveAgents(new CodingWorker(tools, prompts), { workers: tools.values(), prompts }), close };
}

class CodingWorker implements StageWorker {
  readonly #tools: ReadonlyMap<ModelStage, CodingTool>;
  readonly #prompts: CodingPrompts;

  constructor(tools: ReadonlyMap<ModelStage, CodingTool>, prompts: CodingPrompts) {
    this.#tools = tools;
    this.#prompts = prompts;
  }

  async edit(stage: ModelStage, request: TaskRequest, call: AgentCall): Promise<WorkResult> {
    const place = { stage, dir: request.workspace.dir, readOnly: false };
    const prompt = this.#prompts.forEdit(stage, renderRequest(request));
    const text = await this.#tool(stage).converse(place, call, (ask) => ask(prompt));
    // No files: the engine takes what lies in the folder.
    return { summary: shortSummary(text.trim()), files: [], ...(stage === 'implement' && wrongTestIn(text)) };
  }

  /** It sees the folder itself; the engine puts back what is changed there. */
  answer<Answer>(question: StageQuestion<Answer>, call: AgentCall): Promise<Answer> {
    const { stage, request, answer, system } = question;
    const place = { stage, dir: dirOf(request), readOnly: true };
    const prompt = this.#prompts.forAnswer(stage, renderRequest(request), answer.schema, system);
    const tool = this.#tool(stage);
    return tool.converse(place, call, async (ask) => {
      const first = jsonAnswer(await ask(prompt), answer.schema);
      if ('value' in first) return first.value;
      const again = await ask(formatRepair(first.problem));
      const second = jsonAnswer(again, answer.schema);
      if ('value' in second) return second.value;
      throw uselessAnswer(tool.name, stage, second.problem, again.trim() === '');
    });
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
  /** For a stage whose result is what it leaves in the folder. */
  forEdit(stage: ModelStage, request: string): string;
  /** For a stage whose result is an answer of this shape. @param system - In the place of the stage's own prompt. */
  forAnswer(stage: ModelStage, request: string, schema: z.ZodType, system?: string): string;
}

/** @throws DevsError `CONFIG_INVALID` for a version this package does not have. */
function codingPrompts(named?: string): CodingPrompts {
  const { version, sha256, of } = loadPrompts(named);
  const edit = readPrompt(version, 'commandEdit');
  const answer = readPrompt(version, 'commandAnswer');
  const schemaText = (schema: z.ZodType): string => JSON.stringify(z.toJSONSchema(schema));
  return {
    version,
    sha256: createHash('sha256')
      .update(JSON.stringify([sha256, edit, answer]))
      .digest('hex'),
    forEdit: (stage, request) => [of[stage], request, edit].join('\n\n'),
    forAnswer: (stage, request, schema, system = of[stage]) =>
      [system, request, answer, schemaText(schema)].join('\n\n'),
  };
}
