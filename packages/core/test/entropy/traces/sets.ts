import { looping as devLooping } from './dev/looping.ts';
import { polling as devPolling } from './dev/polling.ts';
import { progressing as devProgressing } from './dev/progressing.ts';
import { stuck as devStuck } from './dev/stuck.ts';
import { looping as heldOutLooping } from './heldOut/looping.ts';
import { polling as heldOutPolling } from './heldOut/polling.ts';
import { progressing as heldOutProgressing } from './heldOut/progressing.ts';
import { stuck as heldOutStuck } from './heldOut/stuck.ts';
import type { Trace } from './Trace.ts';

/** What weights and gains were chosen on. */
export const DEV: readonly Trace[] = [...devLooping, ...devStuck, ...devProgressing, ...devPolling];

/** Written before the score existed, together with {@link DEV}, and not looked at while it was tuned. */
export const HELD_OUT: readonly Trace[] = [
  ...heldOutLooping,
  ...heldOutStuck,
  ...heldOutProgressing,
  ...heldOutPolling,
];
