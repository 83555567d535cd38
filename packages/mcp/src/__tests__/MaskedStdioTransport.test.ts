import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
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
