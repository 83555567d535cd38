import { createHash } from 'node:crypto';
import { isAbsolute, relative } from 'node:path';
import type { Activity, AgentCall, CallUsage } from '@devs/core';
import { TRUNCATED_MARK } from '../process/MaskedTail.ts';
import { unifiedDiff } from '../unifiedDiff.ts';
import { type AskedFor, type PolicyPlace, permissionFor } from './permissionPolicy.ts';
import {
  type PermissionRequest,
  type PromptEnd,
  permissionShape,
  type ToolUpdate,
  updateShape,
} from './updates.ts';

/** Characters of a message that are kept, from its end. */
const MAX_TEXT = 4 * 1024 * 1024;

/** Tools whose first words are remembered. */
const MAX_TOOLS = 10_000;

/** Characters of both sides of an edit that is shown. */
const MAX_DIFF = 256 * 1024;

const ALLOW = ['allow_once'];
const REFUSE = ['reject_once', 'reject_always'];

type Outcome =
  | { readonly outcome: 'selected'; readonly optionId: string }
  | { readonly outcome: 'cancelled' };

/** What an agent does in one session, as it tells. */
export class AcpTurn {
  readonly #place: PolicyPlace;
  readonly #tell: NonNullable<AgentCall['onActivity']>;
  readonly #known = new Map<string, ToolUpdate>();
  /** Hashes of the diffs that were told last. */
  readonly #shown = new Map<string, string>();
  #text = '';
  #message: string | undefined;
  #isNewMessage = true;
  #cost: number | undefined;
  /** Tokens of all prompts that were answered. */
  #spent: CallUsage = {};
  #costBefore: number;
  readonly #costAtBegin: number;

  /** @param costBefore - Dollars of the session before this turn. */
  constructor(
    place: PolicyPlace,
    onActivity: NonNullable<AgentCall['onActivity']> = () => undefined,
    costBefore = 0,
  ) {
    this.#place = place;
    this.#tell = onActivity;
    this.#costBefore = costBefore;
    this.#costAtBegin = costBefore;
  }

  /** Reported dollars of the session. */
  get sessionCost(): number {
    return Number.isFinite(this.#costBefore) ? this.#costBefore : 0;
  }

  /** The last message, whole or from where it is kept. */
  get text(): string {
    return this.#text.length <= MAX_TEXT ? this.#text : `${TRUNCATED_MARK}\n${this.#text.slice(-MAX_TEXT)}`;
  }

  begin(): void {
    this.#isNewMessage = true;
    this.#text = '';
  }

  /** What a prompt cost, and tells what all have. What a session says of money is over all its prompts. */
  usageOf(end: PromptEnd | null): CallUsage {
    const cost = this.#isCostKnown() ? { costUsd: (this.#cost ?? 0) - this.#costBefore } : {};
    this.#costBefore = this.#cost ?? this.#costBefore;
    const tokens = turnUsage(end);
    if (tokens.tokensIn !== undefined) {
      this.#spent = {
        tokensIn: (this.#spent.tokensIn ?? 0) + tokens.tokensIn,
        tokensOut: (this.#spent.tokensOut ?? 0) + (tokens.tokensOut ?? 0),
      };
      this.#tellSpent();
    }
    return { ...tokens, ...cost };
  }

  hear(update: unknown): void {
    const known = updateShape.safeParse(update).data;
    if (known === undefined) return;
    switch (known.sessionUpdate) {
      case 'agent_message_chunk':
        this.#hearText(known.content.text ?? '', known.messageId);
        break;
      case 'agent_thought_chunk':
        this.#tell({ kind: 'thought', text: known.content.text ?? '' });
        break;
      case 'tool_call':
      case 'tool_call_update':
        this.#hearTool(known);
        break;
      case 'plan':
        this.#tell({ kind: 'plan', entries: known.entries.map(toPlanEntry) });
        break;
      case 'usage_update':
        this.#hearCost(known.cost);
    }
  }

  /** @returns what the agent is told. */
  async permit(params: unknown): Promise<{ readonly outcome: Outcome }> {
    const request = permissionShape.safeParse(params).data;
    if (request === undefined) return { outcome: { outcome: 'cancelled' } };
    const { toolCall, options } = request;
    const before = this.#known.get(toolCall.toolCallId);
    const title = toolCall.title ?? before?.title ?? toolCall.kind ?? 'something';
    const answer = await permissionFor(permissionSubject(request, before), this.#place);
    const yes = answer.granted ? optionOf(options, ALLOW) : undefined;
    const granted = yes !== undefined;
    const why = answer.granted && !granted ? 'it cannot be allowed once' : answer.why;
    this.#tell({ kind: 'permission', title, granted, why });
    const chosen = yes ?? optionOf(options, REFUSE);
    return {
      outcome: chosen === undefined ? { outcome: 'cancelled' } : { outcome: 'selected', optionId: chosen },
    };
  }

  #hearText(text: string, message: string | undefined): void {
    if (this.#isNewMessage || (message !== undefined && message !== this.#message)) this.#text = '';
    this.#isNewMessage = false;
    this.#message = message;
    this.#text += text;
    if (this.#text.length > 2 * MAX_TEXT) this.#text = this.#text.slice(-MAX_TEXT - 1);
    this.#tell({ kind: 'text', text });
  }

  #hearTool(update: ToolUpdate): void {
    this.#isNewMessage = true;
    const { toolCallId: id } = update;
    const before = this.#known.get(id);
    const merged = mergedTool(before, update);
    if (before === undefined && this.#known.size >= MAX_TOOLS) this.#forgetOldest();
    this.#known.set(id, merged);
    const name = merged.title ?? merged.name ?? merged.kind ?? 'tool';
    const state = toolState(update.status);
    const isNews = before === undefined || before.title !== merged.title || state !== 'started';
    if (isNews && toolState(before?.status) === 'started')
      this.#tell({ kind: 'tool', id, name, state, ...toolDetail(merged, this.#place.folder) });
    this.#tellContent(merged, update);
  }

  #tellContent({ toolCallId, kind }: ToolUpdate, { content, status }: ToolUpdate): void {
    for (const part of content ?? []) {
      if (part?.type === 'diff') this.#tellDiff(toolCallId, part);
      const text = part?.type === 'content' ? part.content?.text : undefined;
      if (kind === 'execute' && text !== undefined && toolState(status) !== 'started')
        this.#tell({ kind: 'output', text });
    }
  }

  #tellDiff(id: string, { path, oldText, newText }: DiffPart): void {
    if (path === undefined || newText === undefined) return;
    const shownPath = shorter(path, this.#place.folder);
    const isLong = newText.length + (oldText?.length ?? 0) > MAX_DIFF;
    const diff = isLong ? `${TRUNCATED_MARK}\n` : unifiedDiff(shownPath, oldText ?? null, newText);
    const key = `${id}\0${path}`;
    const hash = createHash('sha256').update(diff).digest('base64');
    if (this.#shown.get(key) === hash) return;
    this.#shown.set(key, hash);
    this.#tell({ kind: 'diff', path: shownPath, diff });
  }

  #hearCost(cost: { readonly amount?: unknown; readonly currency: string } | null | undefined): void {
    if (cost?.currency !== 'USD') return;
    const { amount } = cost;
    this.#cost = typeof amount === 'number' ? amount : Number.NaN;
    this.#tellSpent();
  }

  #tellSpent(): void {
    const cost = this.#isCostKnown() ? { costUsd: (this.#cost ?? 0) - this.#costAtBegin } : {};
    this.#tell({ kind: 'usage', usage: { ...this.#spent, ...cost } });
  }

  /** A program reports 0 for a model without a known price. */
  #isCostKnown(): boolean {
    return this.#cost !== undefined && this.#cost !== 0;
  }

  #forgetOldest(): void {
    const [oldest] = this.#known.keys();
    if (oldest !== undefined) this.#known.delete(oldest);
    this.#shown.clear();
  }
}

type DiffPart = NonNullable<NonNullable<ToolUpdate['content']>[number]>;
type SaidEntry = {
  readonly content: string;
  readonly status: Extract<Activity, { readonly kind: 'plan' }>['entries'][number]['state'];
};
type ToolState = Extract<Activity, { readonly kind: 'tool' }>['state'];

const toPlanEntry = ({
  content,
  status,
}: SaidEntry): Extract<Activity, { readonly kind: 'plan' }>['entries'][number] => ({
  text: content,
  state: status,
});

function toolState(status: string | undefined): ToolState {
  if (status === 'completed') return 'finished';
  return status === 'failed' ? 'failed' : 'started';
}

/** An update names only what has changed. */
function mergedTool(before: ToolUpdate | undefined, update: ToolUpdate): ToolUpdate {
  const said = Object.entries(update).filter(([, value]) => value !== undefined && value !== null);
  // What it changes is not kept: it may be long, and whoever asks for a permission says it again. Its end is its end.
  const end = toolState(before?.status) === 'started' ? {} : { status: before?.status };
  return { ...before, ...Object.fromEntries(said), ...end, content: undefined } as ToolUpdate;
}

/** Of what it is asked for, and what was said of the same tool before: both have to be let. */
function permissionSubject({ toolCall }: PermissionRequest, before: ToolUpdate | undefined): AskedFor {
  const kinds = new Set([toolCall.kind, before?.kind].filter((kind) => kind !== undefined));
  const [kind = null] = kinds;
  const paths = [toolCall, before].flatMap((tool) => (tool === undefined ? [] : toolPaths(tool)));
  return { kind: kinds.size > 1 ? null : kind, paths: [...new Set(paths)] };
}

function toolPaths({ locations, content, rawInput }: ToolUpdate): readonly string[] {
  const changed = (content ?? []).flatMap((part) => (part?.type === 'diff' ? (part.path ?? []) : []));
  return [...(locations ?? []).map(({ path }) => path), ...changed, ...(rawInput ?? [])];
}

function optionOf(options: PermissionRequest['options'], kinds: readonly string[]): string | undefined {
  return kinds.flatMap((kind) => options.filter((option) => option.kind === kind))[0]?.optionId;
}

function toolDetail(tool: ToolUpdate, folder: string): { readonly detail?: string } {
  const [path] = toolPaths(tool);
  return path === undefined ? {} : { detail: shorter(path, folder) };
}

function shorter(path: string, folder: string): string {
  const inside = isAbsolute(path) ? relative(folder, path) : path;
  return inside.startsWith('..') ? path : inside;
}

function turnUsage(end: PromptEnd | null): CallUsage {
  const usage = end?.usage;
  if (usage) {
    const { inputTokens, outputTokens, cachedReadTokens, cachedWriteTokens } = usage;
    return {
      tokensIn: inputTokens + cachedReadTokens + cachedWriteTokens,
      tokensOut: outputTokens,
      tokensCached: cachedReadTokens,
    };
  }
  const quota = end?._meta?.quota?.token_count;
  return quota === undefined ? {} : { tokensIn: quota.input_tokens, tokensOut: quota.output_tokens };
}
