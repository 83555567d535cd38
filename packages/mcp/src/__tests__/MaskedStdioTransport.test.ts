import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { MaskedStdioTransport } from '../OrchestratorServer.ts';

test('masks the errors of the protocol and leaves results as they are', async () => {
  const stdout = new PassThrough();
  const transport = new MaskedStdioTransport(new PassThrough(), stdout);
  await transport.send({
    jsonrpc: '2.0',
    id: 1,
    error: { code: -32602, message: 'no password=Tr0ub4dor', data: { uri: 'x?api_key=Tr0ub4dor' } },
  });
  await transport.send({ jsonrpc: '2.0', id: 2, result: { kept: 'as it is' } });
  const [error, result] = (await text(stdout.end())).trim().split('\n');
  expect(error).not.toContain('Tr0ub4dor');
  expect(JSON.parse(error ?? '')).toMatchObject({ id: 1, error: { code: -32602 } });
  expect(JSON.parse(result ?? '')).toEqual({ jsonrpc: '2.0', id: 2, result: { kept: 'as it is' } });
});

test('spells out in the errors of the protocol what cannot be seen', async () => {
  const stdout = new PassThrough();
  const transport = new MaskedStdioTransport(new PassThrough(), stdout);
  const data = { uri: 'devs://\u200b', 'na\u202eme': ['\u{e0041}'] };
  await transport.send({ jsonrpc: '2.0', id: 1, error: { code: -32602, message: 'no \u0085', data } });
  expect(JSON.parse(await text(stdout.end()))).toMatchObject({
    error: { message: 'no ⟨U+0085⟩', data: { uri: 'devs://⟨U+200B⟩', 'na⟨U+202E⟩me': ['⟨U+E0041⟩'] } },
  });
});

describe('a message of 64 MiB', () => {
  const MIB = 1024 * 1024;
  const ping = (id: number): string => `${JSON.stringify({ jsonrpc: '2.0', id, method: 'ping' })}\n`;

  async function heard(write: (stdin: PassThrough) => Promise<void>) {
    const [stdin, stdout] = [new PassThrough(), new PassThrough()];
    const transport = new MaskedStdioTransport(stdin, stdout);
    const ids: unknown[] = [];
    transport.onmessage = (message) => ids.push((message as { readonly id?: unknown }).id);
    await transport.start();
    await write(stdin);
    await expect.poll(() => ids.at(-1)).toBe(2);
    await transport.close();
    const said = await text(stdout.end());
    return { ids, answers: said.split('\n').filter((line) => line !== '') };
  }

  const passed = async (stdin: PassThrough, chunk: string): Promise<void> => {
    if (!stdin.write(chunk)) await once(stdin, 'drain');
  };

  test('is answered with an error, and those before and after it are heard', async () => {
    const { ids, answers } = await heard(async (stdin) => {
      await passed(stdin, ping(1));
      for (let at = 0; at < 64; at += 1) await passed(stdin, 'x'.repeat(MIB));
      await passed(stdin, `\n${ping(2)}`);
    });
    expect(ids).toEqual([1, 2]);
    expect(answers.map((line) => JSON.parse(line))).toMatchObject([
      { jsonrpc: '2.0', id: null, error: { code: -32600, message: expect.stringContaining('was ignored') } },
    ]);
  });

  test('is not what one of 4 MiB is, in whatever pieces it comes', async () => {
    const long = {
      jsonrpc: '2.0',
      id: 1,
      method: 'ping',
      params: { _meta: { x: 'y'.repeat(4 * MIB - 200) } },
    };
    const { ids, answers } = await heard(async (stdin) => {
      const line = `${JSON.stringify(long)}\n${ping(2)}`;
      for (let at = 0; at < line.length; at += 65_521) await passed(stdin, line.slice(at, at + 65_521));
    });
    expect([ids, answers]).toEqual([[1, 2], []]);
  });
});
