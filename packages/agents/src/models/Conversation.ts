import { type AgentCall, DevsError } from '@devs/core';
import type { Patience } from '../patience/Patience.ts';
import { ToolRefusal } from './FileDesk.ts';
import { cutMiddle, type History } from './History.ts';
import type { NamedModel } from './loadChatModel.ts';
import type { ModelStage } from './loadPrompts.ts';
import { callModel, isContextOverflow, type ModelReply, type ModelToolCall } from './modelCall.ts';
import { InvalidInput, type ModelTool, parseToolInput, type ToolOutcome } from './modelTool.ts';
import type { AnswerTool } from './stageAnswers.ts';

/** Answers in a row that may have the wrong shape: the first is sent back with what is wrong, the next one ends it. */
const MAX_INVALID_IN_A_ROW = 2;

/** Requests before the last one in which a model is told how many are left. */
const REMINDED_ROUNDS = 3;

/** Characters of what people are told of a tool's use. */
const MAX_DETAIL = 120;

/** Characters of one answer of a tool. */
const MAX_TOLD = 64 * 1024;

/** What is the same in every conversation of an agent. */
export interface ConversationLimits {
  /** Requests in one conversation. */
  readonly maxRounds: number;
  /** Time limit of one request, ms. */
  readonly timeoutMs: number;
  readonly streaming: boolean;
  /** At rate limits and quotas. */
  readonly patience: Patience;
}

export interface ConversationOptions<Answer> extends ConversationLimits {
  readonly stage: ModelStage;
  readonly model: NamedModel;
  /** All messages, with the request of this stage. */
  readonly history: History;
  /** The new part: the request of the stage. */
  readonly sent: string;
  readonly tools: readonly ModelTool[];
  readonly answer: AnswerTool<Answer>;
}

/**
 * One stage's exchange with a model: it works with tools until it calls the tool whose input is the answer.
 *
 * A request that failed leaves everything before it in place: `run` again goes on there, so what was said and paid
 * for is not asked again.
 */
export class Conversation<Answer> {
  readonly #options: ConversationOptions<Answer>;
  /** Calls by tool: what it did instead of answering. */
  readonly #used = new Map<string, number>();
  readonly #spent = { tokensIn: 0, tokensOut: 0 };
  #rounds = 0;
  #invalidInARow = 0;

  constructor(options: ConversationOptions<Answer>) {
    this.#options = options;
  }

  /** @throws DevsError `AGENT_INVALID_OUTPUT`, `AGENT_FAILED`; the reason of an aborted signal. */
  async run(call: AgentCall): Promise<Answer> {
    const { history, sent } = this.#options;
    call.onActivity?.({ kind: 'prompt', prompt: sent });
    while (this.#rounds < this.#options.maxRounds) {
      const reply = await this.#ask(call);
      this.#rounds += 1;
      const round = await this.#take(reply, call);
      call.onActivity?.({ kind: 'usage', usage: { ...this.#spent, model: this.#options.model.name } });
      history.add(reply.message, ...this.#reminded(round.answers));
      if (round.answer !== null) return round.answer.value;
      this.#invalidInARow = round.problem === null ? 0 : this.#invalidInARow + 1;
      if (round.problem !== null && this.#invalidInARow >= MAX_INVALID_IN_A_ROW)
        throw this.#invalid(round.problem, reply.isCut);
    }
    throw this.#invalid(
      `it did not call ${this.#options.answer.name} within ${this.#rounds} requests${this.#doings}`,
    );
  }

  get #doings(): string {
    const used = [...this.#used].map(([name, times]) => `${name} ${times} ${times === 1 ? 'time' : 'times'}`);
    return used.length === 0 ? '' : `; it called ${used.join(', ')}`;
  }

  /** Half-way, and in the last rounds, a model is told how many are left. */
  #reminded(answers: readonly ToolAnswer[]): readonly ToolAnswer[] {
    const { maxRounds, answer } = this.#options;
    const left = maxRounds - this.#rounds;
    const last = answers.at(-1);
    if (last === undefined || left === 0) return answers;
    if (left !== Math.floor(maxRounds / 2) && left > REMINDED_ROUNDS) return answers;
    const words = `${left} ${left === 1 ? 'request is' : 'requests are'} left; end the stage with ${answer.name}.`;
    return [...answers.slice(0, -1), { ...last, content: `${last.content}\n\n[${words}]` }];
  }

  async #ask(call: AgentCall): Promise<ModelReply> {
    const { model, history } = this.#options;
    call.beforeRequest?.();
    let reply = await this.#request(call);
    while (reply === null) {
      if (!history.shorten()) throw this.#tooLong();
      call.onActivity?.({
        kind: 'doing',
        what: `the conversation is longer than ${model.name} reads: leaving out what was read first`,
      });
      reply = await this.#request(call);
    }
    call.usage({ ...reply.usage, model: model.name });
    this.#spent.tokensIn += reply.usage.tokensIn ?? 0;
    this.#spent.tokensOut += reply.usage.tokensOut ?? 0;
    return reply;
  }

  /** One request; `null` if the conversation exceeds the model's context. */
  async #request({ signal, onActivity }: AgentCall): Promise<ModelReply | null> {
    const { model, tools, answer, timeoutMs, streaming, history, patience } = this.#options;
    const asked = {
      tools: [...tools, answer],
      ...{ signal, timeoutMs, streaming },
      onSaid: (text: string) => onActivity?.({ kind: 'text', text }),
    };
    const ask = (): Promise<ModelReply | null> =>
      callModel(model, history.messages, asked).catch((error: unknown) => {
        if (isContextOverflow(error)) return null;
        throw error;
      });
    return patience.ask(ask, { name: model.name, signal, ...(onActivity && { onActivity }) });
  }

  /** Without the provider's words: a limit of tokens a minute reads like one that passes. */
  #tooLong(): DevsError {
    const { stage, model, history } = this.#options;
    return new DevsError(
      `The stage ${stage} has more to read than ${model.name} takes at once: ${history.characters} characters, without what was left out.`,
      {
        code: 'AGENT_FAILED',
        remedy: `Resume the run with a model of a larger context (--agents ${stage}=…), or make the task and its documents smaller.`,
        context: { stage, model: model.name, characters: history.characters },
      },
    );
  }

  /** Performs what the model asked for, in its order. */
  async #take({ calls, text }: ModelReply, agentCall: AgentCall): Promise<Round<Answer>> {
    if (calls.length === 0) return this.#takeText(text);
    const results: Result<Answer>[] = [];
    for (const call of calls) results.push(await this.#performAloud(call, agentCall));
    const refused = results.find(({ kind }) => kind === 'invalid');
    const answered = results.find((result) => result.kind === 'answer');
    const isClean = results.every(({ kind }) => kind === 'answer' || kind === 'done');
    const answers = results.map(({ kind, told }, index) => {
      const words = kind === 'answer' && isClean ? 'Received.' : told;
      return toolMessage(calls[index] as ModelToolCall, cutMiddle(words, MAX_TOLD));
    });
    return {
      answers,
      answer: answered !== undefined && isClean ? answered : null,
      problem: refused?.told ?? null,
    };
  }

  /** Small models write the answer down instead of calling the tool. */
  #takeText(text: string): Round<Answer> {
    const { answer } = this.#options;
    const written = answer.schema.safeParse(jsonInText(text));
    if (written.success) return { answers: [], answer: { value: written.data }, problem: null };
    const problem = `Call a tool; the stage ends with ${answer.name}.`;
    return { answers: [{ role: 'user', content: problem }], answer: null, problem };
  }

  async #performAloud(call: ModelToolCall, agentCall: AgentCall): Promise<Result<Answer>> {
    const { onActivity: tell = () => undefined } = agentCall;
    const { id, name } = call;
    this.#used.set(name, (this.#used.get(name) ?? 0) + 1);
    tell({ kind: 'tool', id, name, state: 'started', ...callDetail(call) });
    const result = await this.#perform(call, agentCall);
    const isDone = result.kind === 'answer' || result.kind === 'done';
    const state = isDone ? 'finished' : 'failed';
    tell({ kind: 'tool', id, name, state, ...(!isDone && { detail: shortLine(result.told) }) });
    if (result.kind === 'done' && result.edited) tell({ kind: 'diff', ...result.edited });
    return result;
  }

  async #perform(call: ModelToolCall, agentCall: AgentCall): Promise<Result<Answer>> {
    const { answer } = this.#options;
    try {
      if ('problem' in call) throw new InvalidCall(call.problem);
      if (call.name === answer.name) {
        const value = parseToolInput(answer, call.input);
        const objection = answer.objection?.(value) ?? null;
        if (objection !== null) return { kind: 'refused', told: objection };
        return { kind: 'answer', told: 'Received; mend the other calls first.', value };
      }
      return { kind: 'done', ...(await this.#toolOf(call).run(call.input, agentCall)) };
    } catch (error) {
      if (!(error instanceof ToolRefusal)) throw error;
      const isInvalid = error instanceof InvalidInput || error instanceof InvalidCall;
      return { kind: isInvalid ? 'invalid' : 'refused', told: error.message };
    }
  }

  #toolOf({ name }: ModelToolCall): ModelTool {
    const { tools, answer } = this.#options;
    const found = tools.find((tool) => tool.name === name);
    if (found !== undefined) return found;
    const known = [...tools, answer].map((tool) => tool.name).join(', ');
    throw new InvalidCall(`There is no tool ${JSON.stringify(name)}; there are ${known}.`);
  }

  /** @param isCut - The last answer was empty or cut off: the stage is worth another try. */
  #invalid(problem: string, isCut = false): DevsError {
    const { stage, model } = this.#options;
    return new DevsError(`${model.name} did not return a valid answer for the stage ${stage}: ${problem}`, {
      code: 'AGENT_INVALID_OUTPUT',
      remedy: 'Resume the run to ask again, or use a more capable model for this stage.',
      context: { stage, model: model.name, requests: this.#rounds, ...(isCut && { answer: 'cut' }) },
    });
  }
}

interface Round<Answer> {
  /** Messages that answer the reply. */
  readonly answers: readonly ToolAnswer[];
  readonly answer: { readonly value: Answer } | null;
  /** What was wrong with the shape of the reply. */
  readonly problem: string | null;
}

type Result<Answer> =
  | { readonly kind: 'answer'; readonly told: string; readonly value: Answer }
  | ({ readonly kind: 'done' } & ToolOutcome)
  | { readonly kind: 'refused' | 'invalid'; readonly told: string };

/** A message that answers a call, or text that called nothing. */
type ToolAnswer =
  | { readonly role: 'user'; readonly content: string }
  | { readonly role: 'tool'; readonly content: string; readonly tool_call_id: string; readonly name: string };

/** A call that names no tool, or whose input cannot be read. */
class InvalidCall extends ToolRefusal {}

/** What a tool is used on, for people who watch. */
function callDetail(call: ModelToolCall): { readonly detail?: string } {
  const input: unknown = 'input' in call ? call.input : null;
  const first = Object.values(input ?? {}).find((value) => typeof value === 'string');
  return first === undefined ? {} : { detail: shortLine(first as string) };
}

const shortLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim().slice(0, MAX_DETAIL);

const toolMessage = ({ id, name }: ModelToolCall, content: string): ToolAnswer => ({
  role: 'tool',
  content,
  tool_call_id: id,
  name,
});

/** The value of a text that is JSON, alone or in a fenced block; `undefined` for any other. */
function jsonInText(text: string): unknown {
  const fenced = /```(?:json)?\s*([\s\S]*?)```/.exec(text)?.[1];
  try {
    return JSON.parse(fenced ?? text);
  } catch {
    return undefined;
  }
}
