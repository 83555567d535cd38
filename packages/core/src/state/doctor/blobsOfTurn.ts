import { readJournaledState, type StoredState } from '../journaledState.ts';

const JSON_NULL = new TextEncoder().encode('null');

/** The blobs that a row of the journal refers to; `undefined` if its text is not the one that was written. */
export function blobsOfTurn(turn: StoredState): readonly number[] | undefined {
  const blobIds: number[] = [];
  try {
    readJournaledState(turn, (blobId) => {
      blobIds.push(blobId);
      return JSON_NULL;
    });
    return blobIds;
  } catch {
    return undefined;
  }
}
