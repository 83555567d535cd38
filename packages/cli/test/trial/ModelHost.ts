import {
  type ChatRequest,
  ChatServer,
  callOf,
  type Reply,
  type WireCall,
} from '../../../core/test/support/ChatServer.ts';
import type { Answer, TrialAgent } from './TrialAgent.ts';

/** Agents as models behind the chat protocol of OpenAI, each by a name of its own. They read and edit through their tools. */
export class ModelHost {
  /** What leads a command to it. */
  readonly env: Readonly<Record<string, string>>;
  readonly #server: ChatServer;
  readonly #agents: Map<string, Hosted>;

  private constructor(server: ChatServer, agents: Map<string, Hosted>) {
    this.#server = server;
    this.#agents = agents;
    this.env = { OPENAI_API_KEY: 'key-of-the-trial', OPENAI_BASE_URL: server.url };
  }

  static async start(): Promise<ModelHost> {
    const agents = new Map<string, Hosted>();
    const server = await ChatServer.start((request) => {
      const hosted = agents.get(request.model);
      if (hosted === undefined) throw new Error(`There is no model ${request.model}.`);
      return hosted.reply(request);
    });
    return new ModelHost(server, agents);
  }

  /** @returns what `--agents` says. */
  add(agent: TrialAgent): string {
    const name = `trial-${this.#agents.size + 1}`;
    this.#agents.set(name, new Hosted(agent));
    return `openai:${name}`;
  }

  stop(): Promise<void> {
    return this.#server.stop();
  }
}

class Hosted {
  readonly #agent: TrialAgent;
  #conversation: Conversation | null = null;

  constructor(agent: TrialAgent) {
    this.#agent = agent;
  }

  reply(request: ChatRequest): Reply {
    const isNew = request.messages.every(({ role }) => role !== 'assistant');
    if (isNew) this.#conversation = null;
    this.#conversation ??= new Conversation(this.#agent.answer(promptOf(request)));
    return this.#conversation.reply(request);
  }
}

const promptOf = ({ messages }: ChatRequest): string =>
  messages
    .map(({ content }) => (typeof content === 'string' ? content : JSON.stringify(content)))
    .join('\n\n');

/** One stage; its requests come one after the other. */
class Conversation {
  #answer: Answer;
  #turn = 0;

  constructor(answer: Answer) {
    this.#answer = answer;
  }

  reply(request: ChatRequest): Reply {
    const turn = this.#turn++;
    const answer = this.#answer;
    switch (answer.kind) {
      case 'words':
        return { kind: 'text', text: answer.text };
      case 'reading':
        return callOf('list_files', {});
      case 'value':
        return callOf(endOf(request), answer.value);
      case 'repaired':
        return callOf(endOf(request), turn === 0 ? { answer: 'yes' } : answer.value);
      case 'read':
        if (turn === 0) return callOf('read_file', { path: answer.path });
        this.#answer = answer.then(lastTold(request));
        return this.reply(request);
      case 'edits':
        return editing(answer, turn);
    }
  }
}

function editing({ files, summary }: Extract<Answer, { kind: 'edits' }>, turn: number): Reply {
  const calls = Object.entries(files).map(
    ([path, content]): WireCall =>
      content === null
        ? { name: 'delete_file', arguments: JSON.stringify({ path }) }
        : { name: 'write_file', arguments: JSON.stringify({ path, content }) },
  );
  if (turn === 0) return callOf('list_files', {});
  return turn === 1 && calls.length > 0 ? { kind: 'calls', calls } : callOf('finish', { summary });
}

/** The tool that ends the stage. */
const endOf = ({ tools }: ChatRequest): string =>
  tools.map((tool) => tool.function.name).find((name) => name.startsWith('submit_')) ?? 'finish';

const lastTold = ({ messages }: ChatRequest): string =>
  String(messages.findLast(({ role }) => role === 'tool')?.content ?? '');
