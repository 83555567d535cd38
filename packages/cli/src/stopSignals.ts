import { EXIT } from './exitCodes.ts';

type SignalSource = Pick<NodeJS.Process, 'on' | 'exit'>;

/**
 * Turns Ctrl-C and SIGTERM into a request to stop: the first one aborts the returned signal, the second one ends the
 * process at once.
 */
export function stopSignals(process: SignalSource): AbortSignal {
  const controller = new AbortController();
  const onSignal = (): void => {
    if (controller.signal.aborted) process.exit(EXIT.interrupted);
    controller.abort();
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  return controller.signal;
}
