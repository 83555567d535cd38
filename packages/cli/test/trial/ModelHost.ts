import {
  type ChatRequest,
  ChatServer,
  callOf,
  type Reply,
  type WireCall,
} from '../../../core/test/support/ChatServer.ts';
import type { Connected } from './Transport.ts';
import type { Answer, TrialAgent } from './TrialAgent.ts';

/** How a provider, or its model, is on a day. */
export interface Hosting {
  /** Refuses a request before the agent is asked; `null` lets it through. */
  readonly refuses?: (request: ChatRequest) => Reply | null;
  /** Whether it replaces a passage of a file that it has read, with the line ends that it was shown. */
  readonly replacesPassages?: boolean;
}

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

  add(agent: TrialAgent, hosting: Hosting = {}): Pick<Connected, 'agents' | 'answered'> {
    const name = `trial-${this.#agents.size + 1}`;
    const hosted = new Hosted(agent, hosting);
    this.#agents.set(name, hosted);
    return { agents: `openai:${name}`, answered: () => hosted.answered };
  }

  stop(): Promise<void> {
    return this.#server.stop();
  }
}

class Hosted {
  readonly #agent: TrialAgent;
  readonly #hosting: Hosting;
  #conversation: Conversation | null = null;
  /** Requests that were not refused. */
  answered = 0;

  constructor(agent: TrialAgent, hosting: Hosting) {
    this.#agent = agent;
    this.#hosting = hosting;
  }

  reply(request: ChatRequest): Reply {
    const refusal = this.#hosting.refuses?.(request);
    if (refusal != null) return refusal;
    const isNew = request.messages.every(({ role }) => role !== 'assistant');
    if (isNew) this.#conversation = null;
    const passages = this.#hosting.replacesPassages === true ? this.#agent.files : {};
    this.#conversation ??= new Conversation(this.#agent.answer(promptOf(request)), passages);
    this.answered += 1;
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
  readonly #passages: Readonly<Record<string, string>>;
  #turn = 0;
  /** Turns before its edits. */
  #begun = 0;

  constructor(answer: Answer, passages: Readonly<Record<string, string>>) {
    this.#answer = answer;
    this.#passages = passages;
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
        this.#begun = this.#turn;
        return this.reply(request);
      case 'edits':
        return editing(answer, turn - this.#begun, this.#passages);
    }
  }
}

function editing(
  { files, summary }: Extract<Answer, { kind: 'edits' }>,
  turn: number,
  passages: Readonly<Record<string, string>>,
): Reply {
  const calls = Object.entries(files).map(
    ([path, content]): WireCall =>
      content === null
        ? { name: 'delete_file', arguments: JSON.stringify({ path }) }
        : (longer(path, content, passages[path]) ?? {
            name: 'write_file',
            arguments: JSON.stringify({ path, content }),
          }),
  );
  if (turn === 0) return callOf('list_files', {});
  return turn === 1 && calls.length > 0 ? { kind: 'calls', calls } : callOf('finish', { summary });
}

/** Lines of a passage. */
const PASSAGE = 3;

/** What is added to the end of a file, as an edit of its last passage. */
function longer(path: string, content: string, before: string | undefined): WireCall | null {
  const known = before?.trimEnd();
  if (known === undefined || !content.startsWith(known)) return null;
  const find = known.split('\n').slice(-PASSAGE).join('\n');
  const replace = `${find}${content.slice(known.length).trimEnd()}`;
  return { name: 'edit_file', arguments: JSON.stringify({ path, find, replace }) };
}

/** The tool that ends the stage. */
const endOf = ({ tools }: ChatRequest): string =>
  tools.map((tool) => tool.function.name).find((name) => name.startsWith('submit_')) ?? 'finish';

const lastTold = ({ messages }: ChatRequest): string =>
  String(messages.findLast(({ role }) => role === 'tool')?.content ?? '');
