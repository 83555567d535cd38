import { setTimeout as sleep } from 'node:timers/promises';
import { tool } from '@langchain/core/tools';
import { Annotation, END, type LangGraphRunnableConfig, START, StateGraph } from '@langchain/langgraph';
import { z } from 'zod';
import { createDatabase } from '../../src/db/createDatabase.ts';
import { durable } from '../../src/engine/app/durable.ts';
import { step } from '../../src/engine/node/step.ts';
import { child } from '../../src/engine/node/waitFor.ts';

const State = Annotation.Root({ said: Annotation<string>() });

/** Where a run hangs. */
export const PLACES = ['node', 'deaf node', 'tool', 'child', 'stream'] as const;
export type Place = (typeof PLACES)[number];

const graphOf = (node: (id: string, config: LangGraphRunnableConfig) => Promise<unknown>) =>
  new StateGraph(State)
    .addNode('work', async (_state, config) => {
      await node(String(config.configurable?.['thread_id']), config);
      return { said: 'done' };
    })
    .addEdge(START, 'work')
    .addEdge('work', END);

/** Apps over a state file whose runs hang, each in its place, and are told of as soon as they do. */
export function hangingApps(dbPath: string, tellBegun: (id: string) => void) {
  const db = createDatabase({ dbPath });
  const hang = async (id: string, signal: AbortSignal | undefined): Promise<void> => {
    tellBegun(id);
    await sleep(60_000, undefined, { ...(signal && { signal }) });
  };
  const call = tool(
    async ({ id }, { signal: around }: { readonly signal?: AbortSignal }) =>
      step('call', async ({ signal }) => {
        around?.throwIfAborted();
        await hang(id, signal);
        return 'done';
      }),
    { name: 'call', schema: z.object({ id: z.string() }) },
  );
  const inner = graphOf((id, config) => call.invoke({ id }, config)).compile();
  const below = durable(
    graphOf((id, { signal }) => hang(id.replace('/below', ''), signal)),
    { db, version: 'below' },
  );
  const nodes: Readonly<Record<Place, Parameters<typeof graphOf>[0]>> = {
    node: (id, { signal }) => hang(id, signal),
    'deaf node': (id) => hang(id, undefined),
    tool: (_id, config) => inner.invoke({}, config),
    child: (id) => child(below, `${id}/below`, {}),
    stream: (id, { signal }) => hang(id, signal),
  };
  const apps = new Map(
    PLACES.map((place) => [place, durable(graphOf(nodes[place]), { db, version: place })] as const),
  );
  return {
    db,
    of: (place: Place) => apps.get(place) as NonNullable<ReturnType<typeof apps.get>>,
    below,
    close: () => db.close(),
  };
}
