import type { DurableApp } from '@devs/core/langgraph';

/** The methods of an app of `durable()` that the server uses. */
export type ServedApp = Pick<
  DurableApp<unknown, unknown, unknown>,
  | ('cancel' | 'create' | 'decide' | 'delete' | 'fork' | 'gates' | 'get' | 'getState' | 'getStateHistory')
  | ('list' | 'result' | 'start' | 'stream' | 'turns' | 'updateMetadata' | 'updateState' | 'values' | 'work')
  | ('schedule' | 'schedules' | 'unschedule')
  | ('file' | 'fingerprint' | 'graph' | 'memory' | 'queue' | 'runs' | 'webhooks')
>;

/** An app under the name that clients call it. */
export interface Assistant {
  readonly name: string;
  readonly app: ServedApp;
}
