// The programs of docs/guide/langchain-agents.md.
import { recordCalls, recordedSubagents } from '@devs/core/langchain';
import { durable, type Principal, recordedModel, recordedTools } from '@devs/core/langgraph';
import type { BaseChatModel } from '@langchain/core/language_models/chat_models';
import type { BaseMessage } from '@langchain/core/messages';
import type { StructuredTool } from '@langchain/core/tools';
import { createReactAgent, ToolNode } from '@langchain/langgraph/prebuilt';
import {
  CompositeBackend,
  createDeepAgent,
  GENERAL_PURPOSE_SUBAGENT,
  StateBackend,
  StoreBackend,
  type SubAgent,
} from 'deepagents';
import { createAgent, modelFallbackMiddleware, toolRetryMiddleware } from 'langchain';

declare const model: BaseChatModel;
declare const spare: BaseChatModel;
declare const tools: StructuredTool[];
declare const messages: BaseMessage[];
declare const researcher: SubAgent;

export async function inOneLine() {
  const agent = createAgent({ model, tools, middleware: [recordCalls({ gates: { send_mail: true } })] });
  const app = durable(agent, { file: 'state.sqlite', budget: { usd: 2 } });
  const { gates } = await app.run('mail-7', { messages }); // waits before send_mail
  return gates;
}

export function withGates() {
  recordCalls({
    gates: {
      send_mail: true,
      pay: ({ args }) => (Number(args['amount']) > 100 ? args : undefined),
      publish: { approvals: { of: ['ada', 'bob'], count: 2 } },
    },
  });
}

export async function byLangChain(by: Principal) {
  const app = durable(createAgent({ model, tools }), { file: 'state.sqlite' });
  for (const gate of await app.gates('mail-7')) {
    await app.decide(gate, { value: { decisions: [{ type: 'approve' }] }, by }); // one decision for each action
  }
}

export function amongOthers() {
  const middleware = [
    modelFallbackMiddleware(spare), // chooses the model: before
    recordCalls(),
    toolRetryMiddleware({ maxRetries: 3 }), // inside of one recorded tool call
  ];
  return middleware;
}

export function withSubagents() {
  const deepAgent = createDeepAgent({
    model,
    tools,
    middleware: [recordCalls({ gates: { send_mail: true } })],
    subagents: recordedSubagents([GENERAL_PURPOSE_SUBAGENT, researcher]),
    backend: new CompositeBackend(new StateBackend(), { '/memories/': new StoreBackend() }),
  });
  const reports = durable(deepAgent, { file: 'state.sqlite', store: 'file' });
  return reports;
}

export function withoutCreateAgent() {
  const llm = recordedModel(model);
  const prebuilt = createReactAgent({ llm, tools: recordedTools(tools) });
  const node = new ToolNode(recordedTools(tools));
  return { prebuilt, node };
}
