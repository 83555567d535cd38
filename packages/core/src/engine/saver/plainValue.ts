import type { TypedBytes } from '../../state/checkpoints/checkpointRecords.ts';

/** A stored value that is JSON itself; `null` where it is of another kind and only the serde can tell. */
export function plainValue({ type, bytes }: TypedBytes): { readonly value: unknown } | null {
  return type === 'plain' ? { value: JSON.parse(decodeUtf8(bytes)) as unknown } : null;
}

export function decodeUtf8(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}
