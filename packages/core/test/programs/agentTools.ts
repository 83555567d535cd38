import { type StructuredToolInterface, tool } from '@langchain/core/tools';
import { interrupt } from '@langchain/langgraph';
import type { World } from './World.ts';

const schema = {
  type: 'object',
  properties: { what: { type: 'string' } },
  required: ['what'],
} as const;

export const toolOf = (name: string, run: (what: string) => Promise<string>): StructuredToolInterface =>
  tool(async ({ what }: { what: string }) => run(what), {
    name,
    description: name,
    schema,
  }) as unknown as StructuredToolInterface;

export const looking = (world: World, what: string): Promise<string> => world.call(`look at ${what}`);

export const searching = (world: World) => toolOf('search', (what) => world.call(`search ${what}`));

export const sending = (world: World) => toolOf('send', (what) => world.call(`send ${what}`));

/** Asks the person itself. */
export const asking = (world: World) =>
  toolOf('ask', async (what) => {
    const said = interrupt<object, string>({ about: what });
    return `${said} ${await world.call(`act on ${what}`)}`;
  });

interface Review {
  readonly actionRequests: readonly {
    readonly name: string;
    readonly args: Readonly<Record<string, unknown>>;
  }[];
}

/** What a person says: of the calls that LangChain's middleware shows, what is bad is rejected, and what is dear changed. */
export function answered(asked: unknown): unknown {
  const { actionRequests } = asked as Partial<Review>;
  if (actionRequests === undefined) return `yes to ${JSON.stringify(asked)}`;
  const decisions = actionRequests.map(({ name, args }) => {
    const what = String(args['what']);
    if (what.includes('bad')) return { type: 'reject', message: `No ${name} of it.` };
    if (!what.includes('dear')) return { type: 'approve' };
    return { type: 'edit', editedAction: { name, args: { what: what.replace('dear', 'cheap') } } };
  });
  return { decisions };
}
