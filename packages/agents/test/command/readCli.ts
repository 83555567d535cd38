import type { CommandReply } from '../../src/command/CommandRecipe.ts';

/** What `codingCli.mjs` says in JSON, in its last line; a recipe of one's own reads such a thing like this. */
export function readCli(stdout: string): CommandReply {
  const last = stdout.trim().split('\n').at(-1) ?? '';
  if (!last.startsWith('{'))
    return { text: stdout, usage: {}, problem: stdout === '' ? 'it printed nothing' : null };
  const { result, is_error, total_cost_usd, usage } = JSON.parse(last) as Said;
  return {
    text: result,
    usage: {
      tokensIn: usage.input_tokens + usage.cache_creation_input_tokens + usage.cache_read_input_tokens,
      tokensOut: usage.output_tokens,
      tokensCached: usage.cache_read_input_tokens,
      costUsd: total_cost_usd,
    },
    problem: is_error ? result : null,
  };
}

interface Said {
  readonly result: string;
  readonly is_error: boolean;
  readonly total_cost_usd: number;
  readonly usage: {
    readonly input_tokens: number;
    readonly cache_creation_input_tokens: number;
    readonly cache_read_input_tokens: number;
    readonly output_tokens: number;
  };
}
