import {
  type ChatRequest,
  ChatServer,
  callOf,
  type Reply,
  type WireCall,
} from '../../../core/test/support/ChatServer.ts';
import type { Connected } from './Transport.ts';
import type { Answer, TrialAgent } from './TrialAgent.ts';

/** A model behind the chat protocol of OpenAI: it reads and edits through the tools it is given. */
export async function overHttp(agent: TrialAgent): Promise<Connected> {
  let conversation: Conversation | null = null;
  const server = await ChatServer.start((request) => {
    const isNew = request.messages.every(({ role }) => role !== 'assistant');
    if (isNew || conversation === null) conversation = new Conversation(agent.answer(promptOf(request)));
    return conversation.reply(request);
  });
  return {
    agents: 'openai:trial',
    env: { OPENAI_API_KEY: 'key-of-the-trial', OPENAI_BASE_URL: server.url },
    stop: () => server.stop(),
  };
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
