import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, vi } from 'vitest';
import { callMain } from './support/callMain.ts';
import { BRIEF, RUN_SUM, test } from './support/fixtures.ts';

const KEY = 'plain-words-as-a-canary';

afterEach(() => {
  vi.unstubAllEnvs();
});

/** Answers every request with an error that repeats the key. */
async function refusingProvider() {
  let requests = 0;
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      requests += 1;
      response.writeHead(401, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify({ error: { message: `Incorrect API key: ${request.headers.authorization}` } }),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/v1`, requests: () => requests, stop: () => server.close() };
}

test('a missing key is said before there is a run', async ({ dir }) => {
  vi.stubEnv('OPENAI_API_KEY', '');
  const run = await callMain(dir, ['run', BRIEF, '--agents', 'openai:gpt-5', '--no-sandbox']);
  expect(run).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('OPENAI_API_KEY is not set') });
  expect((await callMain(dir, ['status'])).stdout).toContain('no runs');
});

test('a provider that refuses stops the run with what it said, without the key it said it with', async ({
  dir,
}) => {
  const provider = await refusingProvider();
  vi.stubEnv('OPENAI_API_KEY', KEY);
  vi.stubEnv('OPENAI_BASE_URL', provider.url);
  const run = await callMain(dir, [
    'run',
    BRIEF,
    '--id',
    'sum',
    '--agents',
    'openai:a',
    '--agents',
    'review=openai:b',
    '--no-sandbox',
  ]);
  const log = await callMain(dir, ['log', 'sum']);
  const status = await callMain(dir, ['status', 'sum', '--json']);
  provider.stop();

  expect(run).toMatchObject({
    exitCode: 1,
    stdout: expect.stringContaining('agents: openai:a + openai:b (live)'),
  });
  const said = 'The call of openai:a failed: 401 Incorrect API key: Bearer [';
  expect(run.stderr).toContain(`AGENT_FAILED: ${said}`);
  expect(log.stdout).toContain(said);
  expect(provider.requests()).toBe(1);
  expect(JSON.parse(status.stdout).agents.fingerprint).toMatch(/^prompts v4 [0-9a-f]{12}$/);
  for (const { stdout, stderr } of [run, log, status]) expect(stdout + stderr).not.toContain(KEY);
});

test('a run that goes on with other agents says so', async ({ dir }) => {
  const provider = await refusingProvider();
  vi.stubEnv('OPENAI_API_KEY', KEY);
  vi.stubEnv('OPENAI_BASE_URL', provider.url);
  await callMain(dir, RUN_SUM);
  await callMain(dir, ['approve', 'sum']);
  await callMain(dir, ['resume', 'sum', '--agents', 'openai:a']);
  const { stdout } = await callMain(dir, ['log', 'sum']);
  provider.stop();

  expect(stdout).toMatch(
    /agents changed: now openai:a \(live; prompts v4 \w{12}\), started with sum \(scripted\)/,
  );
});
