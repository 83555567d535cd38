import { plain } from '../http/serialize.ts';
import type { UnplacedEvent } from './ProtocolEvent.ts';

/** A piece of a model's message. */
export interface Piece {
  readonly call: string;
  /** Which piece of the call it is, from 0. */
  readonly piece: number;
  readonly ns: readonly string[];
  readonly node: string;
  readonly chunk: unknown;
  readonly metadata: Readonly<Record<string, unknown>>;
}

interface ToolChunk {
  readonly id?: string | null;
  readonly name?: string | null;
  readonly args?: string | null;
  readonly index?: number | string;
}

/** LangChain's `AIMessageChunk` as JSON. */
interface ChunkJson {
  readonly id?: string;
  readonly content?: unknown;
  readonly tool_call_chunks?: readonly ToolChunk[];
  readonly usage_metadata?: unknown;
}

type Block =
  | { readonly kind: 'text' | 'reasoning'; text: string }
  | { readonly kind: 'tool'; readonly key: string; id: string | null; name: string | null; args: string };

interface OpenMessage {
  readonly call: string;
  readonly ns: readonly string[];
  readonly node: string;
  index: number;
  block: Block | null;
  usage: unknown;
}

type Data = Readonly<Record<string, unknown>> & { readonly event: string };

/** Turns the pieces of messages into blocks that begin, grow and end, one after the other. */
export class MessageBlocks {
  readonly #open = new Map<string, OpenMessage>();

  add({ call, piece, ns, node, chunk, metadata }: Piece): readonly UnplacedEvent[] {
    const {
      id = call,
      content,
      tool_call_chunks: tools = [],
      usage_metadata: usage,
    } = plain(chunk) as ChunkJson;
    const known = this.#open.get(call);
    const message = known ?? { call, ns, node, index: -1, block: null, usage: undefined };
    this.#open.set(call, message);
    message.usage = usage ?? message.usage;
    const start = { event: 'message-start', role: 'ai', id, metadata: scalars(metadata) };
    const parts = [...textsOf(content), ...tools.map(toolPart)];
    const told = [...(known === undefined ? [start] : []), ...parts.flatMap((part) => grow(message, part))];
    return told.map((data, at) =>
      eventOf(message, data, known === undefined && at === 0 ? 'start' : `${piece}.${at}`),
    );
  }

  /** Ends the messages of a node, or of a graph and those below it: the state has their text. */
  finish(ns: readonly string[], node?: string): readonly UnplacedEvent[] {
    const ended = [...this.#open.values()].filter(
      (message) =>
        ns.every((segment, at) => message.ns[at] === segment) &&
        (node === undefined || message.node === node),
    );
    return ended.flatMap((message) => {
      this.#open.delete(message.call);
      const usage = message.usage === undefined || message.usage === null ? {} : { usage: message.usage };
      const told = [...endBlock(message), { event: 'message-finish', ...usage }];
      return told.map((data, at) => eventOf(message, data, `end.${at}`));
    });
  }
}

const eventOf = ({ call, ns, node }: OpenMessage, data: Data, id: string): UnplacedEvent => ({
  ...{ method: 'messages', namespace: ns, node, data, id: `${call}.${id}` },
});

type Part =
  | { readonly kind: 'text' | 'reasoning'; readonly text: string }
  | { readonly kind: 'tool'; readonly key: string; readonly chunk: ToolChunk };

function textsOf(content: unknown): readonly Part[] {
  if (typeof content === 'string') return content === '' ? [] : [{ kind: 'text', text: content }];
  if (!Array.isArray(content)) return [];
  return content.flatMap((block: Readonly<Record<string, unknown>>): readonly Part[] => {
    const { text, reasoning, thinking } = block;
    if (typeof text === 'string') return text === '' ? [] : [{ kind: 'text', text }];
    const thought = reasoning ?? thinking;
    return typeof thought === 'string' && thought !== '' ? [{ kind: 'reasoning', text: thought }] : [];
  });
}

const toolPart = (chunk: ToolChunk, at: number): Part => ({
  kind: 'tool',
  key: String(chunk.index ?? chunk.id ?? at),
  chunk,
});

function grow(message: OpenMessage, part: Part): readonly Data[] {
  const isSame =
    part.kind === 'tool'
      ? message.block?.kind === 'tool' && message.block.key === part.key
      : message.block?.kind === part.kind;
  const told = isSame ? [] : [...endBlock(message), startBlock(message, part)];
  return [...told, ...deltas(message, part)];
}

function startBlock(message: OpenMessage, part: Part): Data {
  message.index += 1;
  if (part.kind === 'tool') {
    const { id = null, name = null } = part.chunk;
    message.block = { kind: 'tool', key: part.key, id, name, args: '' };
    return {
      event: 'content-block-start',
      index: message.index,
      content: { type: 'tool_call_chunk', id, name, args: '' },
    };
  }
  message.block = { kind: part.kind, text: '' };
  return { event: 'content-block-start', index: message.index, content: contentOf(part.kind, '') };
}

const contentOf = (kind: 'text' | 'reasoning', text: string): object => ({ type: kind, [kind]: text });

function deltas({ block, index }: OpenMessage, part: Part): readonly Data[] {
  if (block === null) return [];
  if (part.kind === 'tool') return block.kind === 'tool' ? toolDeltas(block, index, part.chunk) : [];
  if (block.kind === 'tool') return [];
  block.text += part.text;
  return [
    { event: 'content-block-delta', index, delta: { type: `${part.kind}-delta`, [part.kind]: part.text } },
  ];
}

function toolDeltas(
  block: Extract<Block, { kind: 'tool' }>,
  index: number,
  chunk: ToolChunk,
): readonly Data[] {
  block.id ??= chunk.id ?? null;
  block.name ??= chunk.name ?? null;
  const args = chunk.args ?? '';
  block.args += args;
  return args === ''
    ? []
    : [{ event: 'content-block-delta', index, delta: { type: 'tool-call-delta', args } }];
}

function endBlock(message: OpenMessage): readonly Data[] {
  const { block, index } = message;
  if (block === null) return [];
  message.block = null;
  const content = block.kind === 'tool' ? toolCall(block) : contentOf(block.kind, block.text);
  return [{ event: 'content-block-finish', index, content }];
}

function toolCall({ id, name, args }: Extract<Block, { kind: 'tool' }>): object {
  try {
    const parsed: unknown = JSON.parse(args === '' ? '{}' : args);
    if (typeof parsed === 'object' && parsed !== null && name !== null)
      return { type: 'tool_call', id, name, args: parsed };
  } catch {
    // an invalid call, see below
  }
  return { type: 'invalid_tool_call', id, name, args, error: 'Malformed args.' };
}

function scalars(metadata: Readonly<Record<string, unknown>>): object {
  const kept = Object.entries(metadata).filter(([, value]) =>
    ['string', 'number', 'boolean'].includes(typeof value),
  );
  return Object.fromEntries(kept);
}
