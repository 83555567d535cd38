import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A chat request as it came over the wire. */
export interface ChatRequest {
  readonly model: string;
  readonly stream: boolean;
  readonly messages: readonly WireMessage[];
  readonly tools: readonly WireTool[];
  readonly headers: IncomingMessage['headers'];
}

export interface WireMessage {
  readonly role: string;
  readonly content?: unknown;
  readonly tool_calls?: readonly { readonly id: string; readonly function: WireCall }[];
  readonly tool_call_id?: string;
}

export interface WireTool {
  readonly function: { readonly name: string; readonly parameters: unknown };
}

export interface WireCall {
  readonly name: string;
  /** JSON, or what a model took for it. */
  readonly arguments: string;
}

/**
 * A request as if its stage were a conversation of its own: the stage that was asked for last is part of the first message,
 * what it is about is the second, and what was said before it is left out.
 */
export function stageView(request: ChatRequest): ChatRequest {
  const { messages } = request;
  const asked = messages.findLastIndex(
    ({ role, content }) => role === 'user' && /^Stage: /m.test(String(content)),
  );
  const [system, opening] = messages;
  if (asked < 1 || system === undefined || opening === undefined) return request;
  const [, stage] = beforeStage(messages[asked]);
  const [about] = beforeStage(opening);
  const first = { ...system, content: `${String(system.content)}\n${stage}` };
  return { ...request, messages: [first, { ...opening, content: about }, ...messages.slice(asked + 1)] };
}

function beforeStage(message: WireMessage | undefined): readonly [before: string, stage: string] {
  const text = String(message?.content);
  const at = text.search(/^Stage: /m);
  return at === -1 ? [text, ''] : [text.slice(0, at), text.slice(at)];
}

/** What the server does with one request. */
export type Reply =
  | { readonly kind: 'calls'; readonly calls: readonly WireCall[]; readonly finish?: 'tool_calls' | 'length' }
  | { readonly kind: 'text'; readonly text: string }
  | {
      readonly kind: 'status';
      readonly status: number;
      readonly message: string;
      readonly retryAfter?: string;
    }
  /** Half of an answer, then the connection is gone. */
  | { readonly kind: 'cut' }
  /** No answer, ever. */
  | { readonly kind: 'silence' };

export type Script = (request: ChatRequest, index: number) => Reply;

/** A call of a tool, as a reply. */
export function callOf(name: string, input: unknown): Reply {
  return { kind: 'calls', calls: [{ name, arguments: JSON.stringify(input) }] };
}

/** Tokens of every answer of the server. */
export const USAGE = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 } as const;

/** A chat-completions server on loopback that answers what its script says. */
export class ChatServer {
  readonly requests: ChatRequest[] = [];
  /** Connections that the client closed before it had its answer. */
  abandoned = 0;
  readonly #server: Server;
  readonly #script: Script;

  private constructor(script: Script) {
    this.#script = script;
    this.#server = createServer((request, response) => {
      this.#serve(request, response).catch((error: unknown) => response.destroy(error as Error));
    });
  }

  static async start(script: Script | readonly Reply[]): Promise<ChatServer> {
    const server = new ChatServer(typeof script === 'function' ? script : inTurn(script));
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve));
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = JSON.parse(await textOf(incoming)) as ChatRequest;
    const request = {
      ...body,
      tools: body.tools ?? [],
      stream: body.stream === true,
      headers: incoming.headers,
    };
    const index = this.requests.push(request) - 1;
    response.once('close', () => {
      if (!response.writableEnded) this.abandoned += 1;
    });
    // Equal requests get equal answers: the id comes from the place in the conversation.
    answer(this.#script(stageView(request), index), request, response, `reply-${request.messages.length}`);
  }
}

function inTurn(replies: readonly Reply[]): Script {
  return (_request, index) =>
    replies[index] ?? { kind: 'status', status: 400, message: `No reply number ${index + 1}.` };
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) text += chunk;
  return text;
}

function answer(reply: Reply, request: ChatRequest, response: ServerResponse, id: string): void {
  if (reply.kind === 'silence') return;
  if (reply.kind === 'status') refuse(reply, response);
  else (request.stream ? stream : whole)(said(reply, id), { reply, request, response, id });
}

interface Exchange {
  readonly reply: Reply;
  readonly request: ChatRequest;
  readonly response: ServerResponse;
  readonly id: string;
}

function refuse(reply: Extract<Reply, { kind: 'status' }>, response: ServerResponse): void {
  const retryAfter = reply.retryAfter === undefined ? {} : { 'retry-after': reply.retryAfter };
  response.writeHead(reply.status, { 'content-type': 'application/json', ...retryAfter });
  response.end(JSON.stringify({ error: { message: reply.message, type: 'scripted' } }));
}

interface Said {
  readonly message: object;
  readonly finish: string;
}

function said(reply: Reply, id: string): Said {
  if (reply.kind !== 'calls') {
    const content = reply.kind === 'text' ? reply.text : 'The first half of an answer that';
    return { message: { role: 'assistant', content }, finish: 'stop' };
  }
  const calls = reply.calls.map((call, index) => ({
    index,
    id: `${id}-call-${index}`,
    type: 'function',
    function: call,
  }));
  return {
    message: { role: 'assistant', content: null, tool_calls: calls },
    finish: reply.finish ?? 'tool_calls',
  };
}

function whole({ message, finish }: Said, { reply, request, response, id }: Exchange): void {
  const choices = [{ index: 0, message, finish_reason: finish }];
  const text = JSON.stringify({ id, object: 'chat.completion', model: request.model, choices, usage: USAGE });
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
  if (reply.kind === 'cut') cut(response, text.slice(0, text.length / 2));
  else response.end(text);
}

function stream({ message, finish }: Said, { reply, request, response, id }: Exchange): void {
  const chunk = (part: object): string =>
    `data: ${JSON.stringify({ id, object: 'chat.completion.chunk', model: request.model, ...part })}\n\n`;
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const delta of deltasOf(message)) response.write(chunk({ choices: [{ index: 0, delta }] }));
  if (reply.kind === 'cut') {
    cut(response, '');
    return;
  }
  response.write(chunk({ choices: [{ index: 0, delta: {}, finish_reason: finish }] }));
  response.write(chunk({ choices: [], usage: USAGE }));
  response.end('data: [DONE]\n\n');
}

/** The arguments of a call come in two pieces, as from a real server. */
function deltasOf(message: object): readonly object[] {
  const { tool_calls: calls = [], ...rest } = message as {
    tool_calls?: readonly { index: number; id: string; type: string; function: WireCall }[];
  };
  const pieces = calls.flatMap(({ index, id, type, function: { name, arguments: text } }) => {
    const middle = Math.ceil(text.length / 2);
    return [
      { tool_calls: [{ index, id, type, function: { name, arguments: text.slice(0, middle) } }] },
      { tool_calls: [{ index, function: { arguments: text.slice(middle) } }] },
    ];
  });
  return [rest, ...pieces];
}

function cut(response: ServerResponse, text: string): void {
  response.write(text, () => response.destroy());
}
