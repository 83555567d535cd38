import { type Readable, Transform, type Writable } from 'node:stream';
import { maskInTurns, visibleJson, visibleText } from '@devs/core/internal';
import {
  type CallToolResult,
  type JSONRPCMessage,
  McpServer,
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
  ResourceTemplate,
  type Tool,
} from '@modelcontextprotocol/server';
import { type StdioServerHandle, StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';
import { renderToolError, type ToolErrorView, unknownTool } from './renderToolError.ts';
import { RESOURCES, type ReadResource } from './resources.ts';
import { type ReadContext, StateReader, type StateReaderOptions } from './StateReader.ts';
import { TOOLS } from './tools.ts';

export interface OrchestratorServerOptions extends StateReaderOptions {
  /** Called for each call of an unknown tool, masked. */
  readonly onRefused?: (refusal: ToolErrorView) => void;
}

const INFO = { name: 'devs', version: '0.1.0' };

const READS_ONLY = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };

const JSON_TYPE = 'application/json';

/**
 * Shows the runs of a folder or a cluster over MCP: read-only tools and resources, masked [8_RISKS-REQ-001]. It has no
 * tool that decides a gate, executes or changes a run, and rejects such calls by name.
 *
 * @throws TypeError without `dir` or `runs`; DevsError `CONFIG_INVALID` for a bad `DEVS_MAX_RECURSION_DEPTH`.
 *
 * @example
 * ```ts
 * const { close } = new OrchestratorServer({ dir: '.devs' }).serveStdio();
 * ```
 */
export class OrchestratorServer {
  readonly #reader: StateReader;
  readonly #onRefused: (refusal: ToolErrorView) => void;

  constructor({ onRefused = () => {}, ...options }: OrchestratorServerOptions) {
    this.#reader = new StateReader(options);
    this.#onRefused = onRefused;
  }

  /** Serves one client over stdin and stdout; ends with stdin. */
  serveStdio(): StdioServerHandle {
    return serveStdio(() => this.mcpServer(), { transport: new MaskedStdioTransport() });
  }

  /** Returns a protocol server for one connection; bring your own transport. */
  mcpServer(): McpServer {
    const mcp = new McpServer(INFO);
    mcp.server.registerCapabilities({ tools: {} });
    mcp.server.setRequestHandler('tools/list', () => ({ tools: TOOLS.map(toolDescription) }));
    mcp.server.setRequestHandler('tools/call', ({ params }) => this.#call(params.name, params.arguments));
    for (const resource of RESOURCES) this.#register(resource, mcp);
    return mcp;
  }

  async #call(name: string, args: unknown): Promise<CallToolResult> {
    const tool = TOOLS.find((candidate) => candidate.name === name);
    if (tool === undefined) throw this.#refuse(name);
    try {
      return await toolResult(await this.#reader.read(tool.parse(args)));
    } catch (error) {
      return { ...(await toolResult(renderToolError(error))), isError: true };
    }
  }

  #refuse(name: string): ProtocolError {
    const refusal = unknownTool(name);
    this.#onRefused(refusal);
    return protocolError(refusal);
  }

  #register({ name, uri, description, read }: ReadResource, mcp: McpServer): void {
    const config = { description, mimeType: JSON_TYPE };
    if (!uri.includes('{')) {
      mcp.registerResource(name, uri, config, ({ href }) => this.#readResource(href, (at) => read(at, '')));
      return;
    }
    mcp.registerResource(name, new ResourceTemplate(uri, { list: undefined }), config, ({ href }, { id }) =>
      this.#readResource(href, (at) => read(at, String(id))),
    );
  }

  async #readResource(
    uri: string,
    read: (context: ReadContext) => Promise<object>,
  ): Promise<ReadResourceResult> {
    try {
      const text = visibleJson(JSON.stringify(await maskInTurns(await this.#reader.read(read))));
      return { contents: [{ uri, mimeType: JSON_TYPE, text }] };
    } catch (error) {
      throw protocolError(renderToolError(error));
    }
  }
}

const toolDescription = ({ name, description, input }: (typeof TOOLS)[number]): Tool => ({
  name,
  description,
  inputSchema: z.toJSONSchema(input, { io: 'input' }) as Tool['inputSchema'],
  annotations: READS_ONLY,
});

async function toolResult(view: object): Promise<CallToolResult> {
  const structuredContent = (await maskInTurns(view)) as Record<string, unknown>;
  const text = visibleJson(JSON.stringify(structuredContent));
  return { content: [{ type: 'text', text }], structuredContent };
}

/** What a client gets where the protocol has no result for errors; the code and the remedy are its data. */
function protocolError({ code, message, remedy }: ToolErrorView): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message, { code, remedy });
}

/** Bytes of a message of a client: its longest are names and ids. */
const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;

/**
 * stdio, with the texts of errors masked and made visible: the protocol's own ones repeat what the client sent. A message that
 * is too long is answered with an error without an id, since it is not read; those after it are.
 */
export class MaskedStdioTransport extends StdioServerTransport {
  readonly #leave: () => void;

  constructor(stdin: Readable = process.stdin, stdout: Writable = process.stdout) {
    const lines = shortLines(MAX_MESSAGE_BYTES, () => stdout.write(`${JSON.stringify(TOO_LONG)}\n`));
    super(stdin.pipe(lines), stdout);
    this.#leave = () => stdin.unpipe(lines).pause();
  }

  override async close(): Promise<void> {
    this.#leave();
    await super.close();
  }

  override async send(message: JSONRPCMessage): Promise<void> {
    if (!('error' in message)) return super.send(message);
    return super.send({ ...message, error: visibleView(await maskInTurns(message.error)) });
  }
}

const TOO_LONG = {
  jsonrpc: '2.0',
  id: null,
  error: {
    code: ProtocolErrorCode.InvalidRequest,
    message: `A message longer than ${MAX_MESSAGE_BYTES} bytes was ignored.`,
  },
};

/** A plain JSON value whose texts and names show what cannot be seen; what has been spelled out stays as it is. */
function visibleView<View>(view: View): View {
  return visibleInView(view) as View;
}

function visibleInView(view: unknown): unknown {
  if (typeof view === 'string') return visibleOnce(view);
  if (Array.isArray(view)) return view.map(visibleInView);
  if (typeof view !== 'object' || view === null) return view;
  return Object.fromEntries(
    Object.entries(view).map(([name, value]) => [visibleOnce(name), visibleInView(value)]),
  );
}

const visibleOnce = (text: string): string => (visibleJson(text) === text ? text : visibleText(text));

const NEWLINE = 0x0a;

/**
 * Passes lines on as they come and drops those that are too long, so that what reads them never holds more than one line of
 * `most` bytes.
 *
 * @param onDropped - Called once for each line that was dropped, when that is known.
 */
function shortLines(most: number, onDropped: () => void): Transform {
  let held: Buffer[] = [];
  let bytes = 0;
  let isDropping = false;

  /** A piece of a line, and whether the line ends with it. */
  const take = (piece: Buffer, isEnd: boolean, out: Transform): void => {
    bytes += piece.byteLength;
    if (!isDropping && bytes > most) {
      isDropping = true;
      held = [];
      onDropped();
    }
    if (!isDropping) held.push(piece);
    if (!isEnd) return;
    if (held.length > 0) out.push(Buffer.concat(held));
    held = [];
    bytes = 0;
    isDropping = false;
  };

  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      let from = 0;
      for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, from)) {
        take(chunk.subarray(from, at + 1), true, this);
        from = at + 1;
      }
      if (from < chunk.byteLength) take(chunk.subarray(from), false, this);
      done();
    },
  });
}
