import { readState } from '../journaledState.ts';

const JSON_NULL = new TextEncoder().encode('null');

/** The blobs that a row of the journal refers to; `undefined` if its text is no turn. */
export function blobsOfTurn(serializedState: string): readonly number[] | undefined {
  const blobIds: number[] = [];
  try {
    readState(serializedState, (blobId) => {
      blobIds.push(blobId);
      return JSON_NULL;
    });
    return blobIds;
  } catch {
    return undefined;
  }
}
