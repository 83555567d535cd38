import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { AgentCall, CallUsage } from '@devs/core';
import { afterEach, expect, test } from 'vitest';
import { modelAgents } from '../../src/models/modelAgents.ts';

type UsageReport = Parameters<AgentCall['usage']>[0];

// The other two providers by their own protocols: tools, streamed input and usage are each worded differently.

const ANSWER = {
  documents: ['MARKET', 'COMPETITION', 'TECHNOLOGY', 'USERS'].map((type) => ({
    type,
    title: 'Findings',
    content: '## Claims\n- [unsourced] It is known.\n',
  })),
};
const HALF_INPUT = JSON.stringify(ANSWER).slice(0, 20);

let server: Server | undefined;

afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

interface Received {
  readonly path: string;
  readonly body: { readonly tools: readonly unknown[]; readonly messages: readonly unknown[] };
}

async function serve(answer: (response: ServerResponse, index: number) => void) {
  const received: Received[] = [];
  server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    request.on('end', () => {
      received.push({ path: request.url ?? '', body: JSON.parse(text) as Received['body'] });
      answer(response, received.length - 1);
    });
  });
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received };
}

async function research(model: string, settings: object) {
  const agents = await modelAgents({ model, settings: { ...settings } });
  const reports: UsageReport[] = [];
  const signal = new AbortController().signal;
  const call = { idempotencyKey: 'k', signal, usage: (report: UsageReport) => reports.push(report) };
  return {
    answer: await agents.research({ brief: '# Sum', attempt: 1 }, call),
    usage: reports as CallUsage[],
  };
}

/** One event of Anthropic's stream per line of `events`. */
function sendEvents(response: ServerResponse, input: string, stopReason: string): void {
  const message = { id: 'm', type: 'message', role: 'assistant', model: 'a', content: [], stop_reason: null };
  const events = [
    { type: 'message_start', message: { ...message, usage: { input_tokens: 100, output_tokens: 0 } } },
    {
      type: 'content_block_start',
      index: 0,
      content_block: { type: 'tool_use', id: 'call', name: 'submit_documents', input: {} },
    },
    {
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'input_json_delta', partial_json: input.slice(0, 9) },
    },
    {
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'input_json_delta', partial_json: input.slice(9) },
    },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: stopReason }, usage: { output_tokens: 10 } },
    { type: 'message_stop' },
  ];
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.end(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''));
}

test('a model of Anthropic answers through a tool, and is not believed when it was cut off', async () => {
  const { url, received } = await serve((response, index) => {
    if (index === 0) sendEvents(response, HALF_INPUT, 'max_tokens');
    else sendEvents(response, JSON.stringify(ANSWER), 'tool_use');
  });
  const { answer, usage } = await research('anthropic:a', { apiKey: 'key', anthropicApiUrl: url });

  expect(answer).toEqual(ANSWER);
  expect(received.map(({ path }) => path)).toEqual(['/v1/messages', '/v1/messages']);
  expect(received[0]?.body.tools).toMatchObject([
    { name: 'submit_documents', input_schema: { type: 'object' } },
  ]);
  expect(JSON.stringify(received[1]?.body.messages)).toContain('cut off at the output limit');
  expect(usage).toMatchObject([
    { tokensIn: 100, tokensOut: 10 },
    { tokensIn: 100, tokensOut: 10 },
  ]);
});

test('a model of Ollama answers through a tool', async () => {
  const { url, received } = await serve((response) => {
    const call = { function: { name: 'submit_documents', arguments: ANSWER } };
    const about = { model: 'o', created_at: new Date(0).toISOString() };
    const parts = [
      { ...about, message: { role: 'assistant', content: '', tool_calls: [call] }, done: false },
      {
        ...about,
        message: { role: 'assistant', content: '' },
        done: true,
        done_reason: 'stop',
        prompt_eval_count: 100,
        eval_count: 10,
      },
    ];
    response.writeHead(200, { 'content-type': 'application/x-ndjson' });
    response.end(parts.map((part) => `${JSON.stringify(part)}\n`).join(''));
  });
  const { answer, usage } = await research('ollama:o', { baseUrl: url });

  expect(answer).toEqual(ANSWER);
  expect(received.map(({ path }) => path)).toEqual(['/api/chat']);
  expect(usage).toMatchObject([{ tokensIn: 100, tokensOut: 10 }]);
});
