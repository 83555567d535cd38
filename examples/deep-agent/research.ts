import { recordCalls, recordedSubagents } from '@devs/core/langchain';
import { durable } from '@devs/core/langgraph';
import type { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { tool } from '@langchain/core/tools';
import { CompositeBackend, createDeepAgent, StateBackend, StoreBackend } from 'deepagents';
import { createAgent } from 'langchain';
import { z } from 'zod';

/** The outside world: models that cost money, a search, a site that must not get the same report twice. */
export interface World {
  /** A model for each agent. */
  model(agent: 'main' | 'researcher' | 'critic'): BaseChatModel;
  search(query: string, callId: string): Promise<string>;
  publish(report: string, callId: string): Promise<string>;
}

/**
 * A deep agent: it plans, asks two subagents at a time, and writes files. `publish` waits for a person. Files below
 * `/memories/` are in the store of the state file, for all runs; the others belong to their run.
 */
export function research(file: string, world: World) {
  const search = tool(
    ({ query }: { query: string }, { toolCallId }: { toolCallId: string }) => world.search(query, toolCallId),
    { name: 'search', description: 'Searches the web.', schema: z.object({ query: z.string() }) },
  );
  const publish = tool(
    ({ report }: { report: string }, { toolCallId }: { toolCallId: string }) =>
      world.publish(report, toolCallId),
    { name: 'publish', description: 'Publishes a report.', schema: z.object({ report: z.string() }) },
  );
  const researcher = {
    name: 'researcher',
    description: 'Researches one question.',
    systemPrompt: 'Search, and write what you find to a file.',
    model: world.model('researcher'),
    tools: [search],
  };
  const critic = {
    name: 'critic',
    description: 'Says what a report must not miss.',
    runnable: createAgent({ model: world.model('critic'), tools: [search], middleware: [recordCalls()] }),
  };
  const agent = createDeepAgent({
    model: world.model('main'),
    tools: [publish],
    subagents: recordedSubagents([researcher, critic]),
    middleware: [recordCalls({ gates: { publish: true } })],
    backend: new CompositeBackend(new StateBackend(), { '/memories/': new StoreBackend() }),
  });
  return durable(agent, { file, store: 'file' });
}
