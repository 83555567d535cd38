import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { Connected } from './Transport.ts';
import type { Answer, TrialAgent } from './TrialAgent.ts';

/** What a program is told to do next; it asks again with what it has read. */
type Order =
  | { readonly do: 'edit'; readonly files: Readonly<Record<string, string | null>>; readonly say: string }
  | { readonly do: 'say'; readonly say: string; readonly isRefusal?: boolean }
  | { readonly do: 'read'; readonly path: string }
  | { readonly do: 'look-around'; readonly times: number };

/** Files that an agent who never ends reads before its own limit ends it. */
const LOOKS = 200;

const PROGRAMS = {
  command: fileURLToPath(new URL('../../../agents/test/trial/commandAgent.mjs', import.meta.url)),
  acp: fileURLToPath(new URL('../../../agents/test/trial/acpAgent.mjs', import.meta.url)),
} as const;

/** A program of its own that edits the folder it is started in. It thinks in this process, where calls are counted. */
export async function overProgram(agent: TrialAgent, kind: keyof typeof PROGRAMS): Promise<Connected> {
  const mind = new Mind(agent);
  const server = createServer((request, response) => {
    mind.serve(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    agents: `${kind}:${process.execPath} ${PROGRAMS[kind]} http://127.0.0.1:${port}/`,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

interface Question {
  readonly prompt: string;
  /** What was read as ordered. */
  readonly read?: string;
}

class Mind {
  readonly #agent: TrialAgent;
  #answer: Answer = { kind: 'words', text: '' };
  /** The right answer of one that was wrong. */
  #repaired: unknown = null;

  constructor(agent: TrialAgent) {
    this.#agent = agent;
  }

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = '';
    for await (const chunk of request.setEncoding('utf8')) text += chunk;
    response.end(JSON.stringify(this.#order(JSON.parse(text) as Question)));
  }

  #order({ prompt, read }: Question): Order {
    if (read !== undefined && this.#answer.kind === 'read') return this.#next(this.#answer.then(read));
    if (prompt.includes('could not be used: ') && this.#repaired !== null)
      return { do: 'say', say: fenced(this.#repaired) };
    this.#repaired = null;
    return this.#next(this.#agent.answer(prompt));
  }

  #next(answer: Answer): Order {
    this.#answer = answer;
    switch (answer.kind) {
      case 'edits':
        return { do: 'edit', files: answer.files, say: answer.summary };
      case 'value':
        return { do: 'say', say: fenced(answer.value) };
      case 'repaired':
        this.#repaired = answer.value;
        return { do: 'say', say: fenced({ answer: 'yes' }) };
      case 'words':
        return { do: 'say', say: answer.text, isRefusal: answer.isRefusal === true };
      case 'read':
        return { do: 'read', path: answer.path };
      case 'reading':
        return { do: 'look-around', times: LOOKS };
    }
  }
}

const fenced = (value: unknown): string => `Here it is.\n\n\`\`\`json\n${JSON.stringify(value)}\n\`\`\`\n`;
