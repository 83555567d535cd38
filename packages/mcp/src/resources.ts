import type { ReadContext } from './StateReader.ts';
import { listRunLines, recursionView, toolRunView } from './views.ts';

/** A read-only address. `{id}` in it is the id of a run. */
export interface ReadResource {
  readonly name: string;
  readonly uri: string;
  readonly description: string;
  readonly read: (context: ReadContext, threadId: string) => Promise<object>;
}

export const RESOURCES: readonly ReadResource[] = [
  {
    name: 'runs',
    uri: 'devs://runs',
    description: 'Every run in the folder, newest first.',
    read: async ({ devs }) => listRunLines(devs, {}),
  },
  {
    name: 'run',
    uri: 'devs://runs/{id}',
    description: 'One run: status, tasks, cost, current process, open gates.',
    read: async ({ devs }, threadId) => devs.view(threadId, async (run) => toolRunView(await run.status())),
  },
  {
    name: 'recursion',
    uri: 'devs://runs/{id}/recursion',
    description: 'Node transitions of a run without progress, and the limit.',
    read: recursionView,
  },
];
