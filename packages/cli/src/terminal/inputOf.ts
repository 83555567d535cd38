import type { Io } from './Io.ts';

/** What is used of `process.stdin`. */
type Source = Pick<NodeJS.ReadStream, 'resume' | 'pause' | 'once' | 'off' | 'readableEnded' | 'destroyed'> & {
  readonly isTTY?: boolean;
};

/**
 * A stream that is read only while somebody waits for input: an editor or a pager has the terminal otherwise, and the
 * process ends with nobody asking. Letting go of it does not close it: it can be read again.
 */
export function inputOf(stdin: Source): Io['stdin'] {
  return {
    ...(stdin.isTTY !== undefined && { isTTY: stdin.isTTY }),
    [Symbol.asyncIterator]: () => readsOf(stdin),
  };
}

function readsOf(stdin: Source): AsyncIterator<Uint8Array> {
  let forget = (): void => {};
  return {
    next: () =>
      new Promise((resolve, reject) => {
        if (stdin.readableEnded || stdin.destroyed) {
          resolve({ done: true, value: undefined });
          return;
        }
        const settle = <Args extends readonly unknown[]>(work: (...args: Args) => void) => {
          return (...args: Args): void => {
            forget();
            work(...args);
          };
        };
        const end = settle(() => resolve({ done: true, value: undefined }));
        const data = settle((chunk: Uint8Array) => resolve({ done: false, value: chunk }));
        const error = settle(reject);
        forget = () => {
          stdin.pause();
          stdin.off('data', data).off('end', end).off('close', end).off('error', error);
        };
        stdin.once('data', data).once('end', end).once('close', end).once('error', error);
        stdin.resume();
      }),
    return: async () => {
      forget();
      return { done: true, value: undefined };
    },
  };
}
