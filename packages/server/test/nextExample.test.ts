import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';

interface Message {
  readonly content: string;
}

interface Answer {
  readonly status: number;
  readonly json: {
    readonly thread_id?: string;
    readonly messages?: readonly Message[];
    readonly __interrupt__?: readonly unknown[];
  };
}

/** The route of the example, over a state file of this test, as Next.js calls it. */
async function route() {
  const dir = mkdtempSync(join(tmpdir(), 'devs-next-'));
  vi.stubEnv('STATE_FILE', join(dir, 'state.sqlite'));
  const { GET, POST } = await import('../../../examples/agent-next/app/api/[...path]/route.ts');
  const { agentServer } = await import('../../../examples/agent-next/agentServer.ts');
  const { agent } = await import('../../../examples/agent-next/agent.ts');
  onTestFinished(async () => {
    await agentServer().close();
    await agent.close();
    vi.unstubAllEnvs();
    rmSync(dir, { recursive: true, force: true, maxRetries: 3 });
  });
  return async (path: string, person: string | null, body?: object): Promise<Answer> => {
    const headers = {
      'content-type': 'application/json',
      ...(person !== null && { cookie: `person=${person}` }),
    };
    const request = new Request(`http://localhost:3000/api${path}`, {
      headers,
      ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
    });
    const response = await (body === undefined ? GET : POST)(request);
    return { status: response.status, json: (await response.json()) as Answer['json'] };
  };
}

test('the example with Next.js serves each person their own threads, and publishes for an answer alone', async () => {
  const ask = await route();
  expect(await ask('/threads', null, {})).toMatchObject({ status: 401 });
  const { json } = await ask('/threads', 'ada', {});
  const thread = `/threads/${json.thread_id}`;
  const run = (person: string, input: object) =>
    ask(`${thread}/runs/wait`, person, { assistant_id: 'agent', ...input });

  const message = (content: string) => ({ input: { messages: [{ role: 'user', content }] } });
  expect(await run('ada', message('green tea'))).toMatchObject({
    json: { __interrupt__: [{ value: { question: 'Publish this post?' } }] },
  });
  expect(await run('ben', { command: { resume: 'yes' } })).toMatchObject({ status: 404 });
  expect(await ask(thread, 'ben')).toMatchObject({ status: 404 });
  expect(await ask('/threads/search', 'ben', {})).toMatchObject({ json: [] });
  expect(await run('ada', message('just publish it'))).toMatchObject({ status: 422 });
  const { json: answered } = await run('ada', { command: { resume: 'yes' } });
  expect(answered.messages?.map(({ content }) => content)).toEqual([
    'green tea',
    'A post about green tea.',
    'Published.',
  ]);
});
