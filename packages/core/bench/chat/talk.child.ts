// One chat, kept by one checkpointer, in a process of its own: `talk.child.ts KEEPER TURNS FOLDER MAX_MB`. Prints JSON.
import { randomBytes } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { AIMessage, HumanMessage } from '@langchain/core/messages';
import { END, MemorySaver, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import { SqliteSaver as OfficialSaver } from '@langchain/langgraph-checkpoint-sqlite';
import { durable } from '../../src/engine/app/durable.ts';
import { MB } from '../state/figures.ts';

export type Keeper = 'devs' | 'langgraph-sqlite' | 'langgraph-memory';

/** What one chat has cost. */
export interface Talk {
  /** Milliseconds of each turn. */
  readonly turns: readonly number[];
  /** Milliseconds of processor, all threads, with the start of the process. */
  readonly processor: number;
  /** Bytes of what was said. */
  readonly said: number;
  /** Bytes of the file and its log; `null` in memory. */
  readonly file: number | null;
  /** Bytes, the most that the process had. */
  readonly rss: number;
  readonly messages: number;
}

const [keeper = 'devs', turns = '300', folder = '.', maxMb = '3000'] = process.argv.slice(2);
const TURNS = Number(turns);
const MESSAGE_BYTES = 100_000;
const PHOTO_BYTES = 3_000_000;
/** So many photos, one in the middle of each part of the chat. */
const PHOTOS = TURNS >= 300 ? 5 : 1;
const WORDS =
  'the a state file of run that waits for human and goes on where it was left when process dies'.split(' ');

/** As much like prose as a compressor can tell. */
function prose(bytes: number): string {
  const noise = randomBytes(bytes / 4);
  let text = '';
  for (let at = 0; text.length < bytes; at += 1) {
    const byte = noise[at % noise.length] ?? 0;
    text += `${WORDS[byte % WORDS.length]}${byte > 200 ? byte.toString(36) : ''} `;
  }
  return text.slice(0, bytes);
}

function asked(turn: number): HumanMessage {
  const text = prose(MESSAGE_BYTES);
  const every = TURNS / PHOTOS;
  const hasPhoto = turn % every === Math.floor(every / 2);
  if (!hasPhoto) return new HumanMessage({ id: `m-${turn}`, content: text });
  const url = `data:image/jpeg;base64,${randomBytes(PHOTO_BYTES).toString('base64')}`;
  const content = [
    { type: 'text', text },
    { type: 'image_url', image_url: { url } },
  ];
  return new HumanMessage({ id: `m-${turn}`, content });
}

const graph = new StateGraph(MessagesAnnotation)
  .addNode('answer', ({ messages }) => ({
    messages: [
      new AIMessage({ id: `a-${messages.length}`, content: `I have read ${messages.length} messages.` }),
    ],
  }))
  .addEdge(START, 'answer')
  .addEdge('answer', END);

const file = path.join(folder, 'chat.sqlite');
const sizeOf = (name: string): number => (existsSync(name) ? statSync(name).size : 0);

/** One turn; how many messages there are then. */
function talker(): (turn: number, message: HumanMessage) => Promise<number> {
  if (keeper === 'devs') {
    const app = durable(graph, { file });
    return async (turn, message) => {
      const { values } = await app.run('chat', { messages: [message] }, { turn: `t-${turn}` });
      return values?.messages.length ?? 0;
    };
  }
  const checkpointer = keeper === 'langgraph-memory' ? new MemorySaver() : OfficialSaver.fromConnString(file);
  const compiled = graph.compile({ checkpointer });
  return async (_, message) => {
    const { messages } = await compiled.invoke(
      { messages: [message] },
      { configurable: { thread_id: 'chat' } },
    );
    return messages.length;
  };
}

const talk = talker();
const times: number[] = [];
let said = 0;
let messages = 0;
for (let turn = 0; turn < TURNS; turn += 1) {
  const message = asked(turn);
  said += JSON.stringify(message.content).length;
  const begun = performance.now();
  messages = await talk(turn, message);
  times.push(performance.now() - begun);
  // What cannot go on says how far it came.
  if ((sizeOf(file) + process.memoryUsage.rss()) / MB > Number(maxMb)) break;
}
const bytes = keeper === 'langgraph-memory' ? null : sizeOf(file) + sizeOf(`${file}-wal`);
const rss = process.resourceUsage().maxRSS * 1024;
const { user, system } = process.cpuUsage();
const processor = (user + system) / 1000;
console.log(JSON.stringify({ turns: times, processor, said, file: bytes, rss, messages } satisfies Talk));
