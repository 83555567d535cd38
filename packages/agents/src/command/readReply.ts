import type { CallUsage } from '@devs/core';
import { z } from 'zod';
import type { CommandReply } from './CommandRecipe.ts';

// What coding CLIs print for programs. Loose: a field that moved costs a figure, not the run.

/** No number that is read as one: whoever adds it up refuses it. */
const NO_FIGURE = Number.NaN;

/** A figure that is missing is none; one that is there and cannot be is no figure, and neither is a sum with it. */
const figure = (value: unknown): number => (typeof value === 'number' && value >= 0 ? value : NO_FIGURE);

const count = z
  .unknown()
  .optional()
  .transform((value) => figure(value ?? 0));

const claudeShape = z.looseObject({
  is_error: z.boolean().catch(false),
  subtype: z.string().catch(''),
  result: z.string().catch(''),
  total_cost_usd: z
    .unknown()
    .optional()
    .transform((value) => (value === undefined || value === null ? undefined : figure(value))),
  usage: z
    .looseObject({
      input_tokens: count,
      cache_creation_input_tokens: count,
      cache_read_input_tokens: count,
      output_tokens: count,
    })
    .optional()
    .catch(undefined),
});

const codexShape = z.looseObject({
  type: z.string(),
  message: z.string().optional().catch(undefined),
  error: z.looseObject({ message: z.string() }).optional().catch(undefined),
  item: z
    .looseObject({ type: z.string(), text: z.string().catch('') })
    .optional()
    .catch(undefined),
  usage: z
    .looseObject({ input_tokens: count, cached_input_tokens: count, output_tokens: count })
    .optional()
    .catch(undefined),
});

const geminiShape = z.looseObject({
  response: z.string().catch(''),
  error: z.looseObject({ message: z.string() }).nullish().catch(undefined),
  stats: z
    .looseObject({
      models: z.record(
        z.string(),
        z.looseObject({ tokens: z.looseObject({ prompt: count, candidates: count, cached: count }) }),
      ),
    })
    .optional()
    .catch(undefined),
});

export const textReply = (stdout: string): CommandReply => ({ text: stdout, usage: {}, problem: null });

/** `claude -p --output-format json`: one object, the last line. */
export function claudeReply(stdout: string): CommandReply {
  const found = claudeShape.safeParse(jsonLines(stdout).at(-1)).data;
  if (found === undefined) return unreadable(stdout);
  const { result, is_error, subtype, total_cost_usd: costUsd, usage } = found;
  return {
    text: result,
    usage: { ...(usage && claudeUsage(usage)), ...(costUsd !== undefined && { costUsd }) },
    problem: is_error ? result || subtype || 'it reports an error' : null,
  };
}

function claudeUsage(usage: NonNullable<z.infer<typeof claudeShape>['usage']>): CallUsage {
  const { input_tokens, cache_creation_input_tokens, cache_read_input_tokens, output_tokens } = usage;
  return {
    tokensIn: input_tokens + cache_creation_input_tokens + cache_read_input_tokens,
    tokensOut: output_tokens,
    tokensCached: cache_read_input_tokens,
  };
}

/** `codex exec --json`: an event a line; the last message of the agent is the answer. */
export function codexReply(stdout: string): CommandReply {
  const events = jsonLines(stdout).flatMap((line) => codexShape.safeParse(line).data ?? []);
  if (events.length === 0) return unreadable(stdout);
  // An error that it got over, a lost connection for one, has a completed turn behind it.
  const failed = events
    .slice(1 + events.findLastIndex(({ type }) => type === 'turn.completed'))
    .findLast(({ type }) => type === 'turn.failed' || type === 'error');
  const used = events.findLast(({ usage }) => usage !== undefined)?.usage;
  return {
    text: events.findLast(({ item }) => item?.type === 'agent_message')?.item?.text ?? '',
    usage:
      used === undefined
        ? {}
        : {
            tokensIn: used.input_tokens,
            tokensOut: used.output_tokens,
            tokensCached: used.cached_input_tokens,
          },
    problem: failed === undefined ? null : (failed.error?.message ?? failed.message ?? 'it reports an error'),
  };
}

/** `gemini --output-format json`: one object, over many lines. */
export function geminiReply(stdout: string): CommandReply {
  const found = geminiShape.safeParse(parsed(stdout.slice(stdout.indexOf('{')))).data;
  if (found === undefined) return unreadable(stdout);
  const { response, error, stats } = found;
  const used = Object.values(stats?.models ?? {}).map(({ tokens }) => tokens);
  const sum = (pick: (tokens: (typeof used)[number]) => number): number =>
    used.reduce((total, tokens) => total + pick(tokens), 0);
  const usage = {
    tokensIn: sum(({ prompt }) => prompt),
    tokensOut: sum(({ candidates }) => candidates),
    tokensCached: sum(({ cached }) => cached),
  };
  return { text: response, usage: used.length === 0 ? {} : usage, problem: error?.message ?? null };
}

/** An answer in another format than the one asked for is still an answer; nothing is not. */
function unreadable(stdout: string): CommandReply {
  const isEmpty = stdout.trim() === '';
  return { ...textReply(stdout), problem: isEmpty ? 'it printed nothing' : null };
}

const jsonLines = (stdout: string): readonly unknown[] =>
  stdout
    .split('\n')
    .map(parsed)
    .filter((value) => value !== undefined);

function parsed(text: string): unknown {
  try {
    return text.trim() === '' ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}
