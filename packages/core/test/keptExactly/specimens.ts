import { createHash } from 'node:crypto';
import { HumanMessage } from '@langchain/core/messages';
import fc from 'fast-check';

/** One binary in every form in which programs pass it around. */
export interface Specimen {
  /** Plain JSON. */
  readonly texts: Readonly<Record<string, string>>;
  readonly message: HumanMessage;
  readonly bytes: Uint8Array;
}

const made = (length: number, seed: string): string =>
  createHash('sha512').update(seed).digest('hex').repeat(2).slice(0, length);

const jwtOf = (seed: string): string =>
  [
    { alg: 'HS256', typ: 'JWT' },
    { sub: seed, aud: 'storage' },
  ]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .concat(Buffer.from(made(43, seed), 'hex').toString('base64url'))
    .join('.');

/** What a node needs to get at something, and what rules for secrets know. */
const credentialsOf = (seed: string) => ({
  presigned: `https://b.s3.eu-central-1.amazonaws.com/k?X-Amz-Credential=AKIA${made(16, seed).toUpperCase()}%2F20260101%2Feu-central-1%2Fs3%2Faws4_request&X-Amz-Signature=${made(64, seed)}`,
  sas: `https://a.blob.core.windows.net/c/f.pdf?sv=2024-11-04&sr=b&sp=r&sig=${encodeURIComponent(Buffer.from(made(64, seed), 'hex').toString('base64'))}`,
  jwt: jwtOf(seed),
  dsn: `postgres://app:${made(12, seed)}@db.internal:5432/app?password=${made(8, seed)}`,
  token: `ghp_${made(36, seed)}`,
  pem: `-----BEGIN PRIVATE KEY-----\n${made(64, seed)}\n-----END PRIVATE KEY-----`,
});

/** Random bytes of one seed. */
function binaryOf(seed: number, length: number): Buffer {
  const blocks = Math.ceil(length / 64);
  const parts = Array.from({ length: blocks }, (_, at) =>
    createHash('sha512').update(`${seed}/${at}`).digest(),
  );
  return Buffer.concat(parts).subarray(0, length);
}

export function specimenOf(seed: number, length: number): Specimen {
  const binary = binaryOf(seed, length);
  const base64 = binary.toString('base64');
  const dataUrl = `data:image/jpeg;base64,${base64}`;
  const credentials = credentialsOf(String(seed));
  return {
    texts: {
      base64,
      base64url: binary.toString('base64url'),
      hex: binary.toString('hex'),
      dataUrl,
      ...credentials,
    },
    message: new HumanMessage({
      id: `m-${seed}`,
      content: [
        { type: 'text', text: `With ${credentials.token}.` },
        { type: 'image_url', image_url: { url: dataUrl } },
      ],
      additional_kwargs: { signed: credentials.presigned },
    }),
    bytes: new Uint8Array(binary),
  };
}

/** @param maxBytes - Of a binary: all of its forms together have six times as much. */
export const specimens = (maxBytes: number): fc.Arbitrary<Specimen> =>
  fc.tuple(fc.nat(), fc.integer({ min: 1, max: maxBytes })).map(([seed, length]) => specimenOf(seed, length));
