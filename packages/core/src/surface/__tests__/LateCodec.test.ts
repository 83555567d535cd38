import { expect, test } from 'vitest';
import type { ResultCodec } from '../../state/steps/stepRecords.ts';
import { LateCodec } from '../PipelineApp.ts';

const JSON_CODEC: ResultCodec = {
  encode: (value) => Promise.resolve(JSON.stringify(value)),
  decode: (text) => Promise.resolve(JSON.parse(text) as unknown),
};

test('is loaded with the first result', async () => {
  const codec = new LateCodec(() => Promise.resolve(JSON_CODEC));
  expect(await codec.decode('[1]')).toEqual([1]);
  expect(await codec.encode([1])).toBe('[1]');
});

test('takes a value as it is at the call, once it was told', async () => {
  const codec = new LateCodec(() => Promise.reject(new Error('It is known.')));
  codec.load(JSON_CODEC);
  const value = [1];
  const encoded = codec.encode(value);
  value.push(2);
  expect(await encoded).toBe('[1]');
  expect(await codec.decode('[1]')).toEqual([1]);
});
