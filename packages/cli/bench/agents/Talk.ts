import type { Body } from '../../../agents/test/clis/Turn.ts';
import { listOf } from '../../../agents/test/clis/Turn.ts';

/** A tool that was called. */
export interface Called {
  readonly name: string;
  readonly input: unknown;
  /** What came of it; `null` while it is not known. */
  readonly result: { readonly text: string; readonly isError: boolean } | null;
}

export type Entry =
  | { readonly kind: 'asked'; readonly text: string }
  | { readonly kind: 'said'; readonly text: string }
  | ({ readonly kind: 'called' } & Called);

/** A conversation as a request brings it. */
export interface Talk {
  readonly tools: readonly string[];
  readonly entries: readonly Entry[];
}

const blocksOf = ({ content }: Body): readonly Body[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : listOf(content);

const textIn = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : listOf(content)
        .map(({ text }) => text ?? '')
        .join('\n');

/** Reads a request of Anthropic's messages. */
export function talkOf({ system, messages, tools }: Body): Talk {
  const blocks = listOf(messages).flatMap((message) =>
    blocksOf(message).map((block) => ({ role: message['role'], block })),
  );
  const results = new Map(
    blocks
      .filter(({ block }) => block['type'] === 'tool_result')
      .map(({ block }) => [
        block['tool_use_id'],
        { text: textIn(block['content']), isError: block['is_error'] === true },
      ]),
  );
  const entries = blocks.flatMap(({ role, block }): readonly Entry[] => {
    const { type, text, id, name, input } = block;
    if (type === 'text') return [{ kind: role === 'assistant' ? 'said' : 'asked', text: String(text) }];
    if (type !== 'tool_use') return [];
    return [{ kind: 'called', name: String(name), input, result: results.get(id) ?? null }];
  });
  return {
    tools: listOf(tools).map(({ name }) => String(name)),
    entries: [{ kind: 'asked', text: textIn(system) }, ...entries],
  };
}
