// An agent of the Agent Client Protocol, version 1, on stdio. Argument: where it thinks.
import { Readable, Writable } from 'node:stream';
import { agent, methods, ndJsonStream, PROTOCOL_VERSION } from '@agentclientprotocol/sdk';
import { work } from './work.mjs';

const [, , mind] = process.argv;
const folders = new Map();
let calls = 0;

const text = (content) => ({ type: 'text', text: content });

async function prompted({ params: { sessionId, prompt }, client }) {
  const tell = (update) => client.notify(methods.client.session.update, { sessionId, update });
  const onTool = async (name, path) => {
    calls += 1;
    const toolCallId = `call-${calls}`;
    const kind = name === 'edit' ? 'edit' : 'read';
    await tell({
      sessionUpdate: 'tool_call',
      toolCallId,
      title: `${name} ${path}`,
      kind,
      status: 'in_progress',
    });
    await tell({ sessionUpdate: 'tool_call_update', toolCallId, status: 'completed' });
  };
  const said = await work({
    mind,
    prompt: prompt.map((part) => part.text ?? '').join('\n\n'),
    dir: folders.get(sessionId),
    onTool,
  });
  await tell({ sessionUpdate: 'agent_message_chunk', content: text(said.text) });
  return { stopReason: said.end };
}

agent({ name: 'trial' })
  .onRequest(methods.agent.initialize, () => ({
    protocolVersion: PROTOCOL_VERSION,
    agentInfo: { name: 'trial', version: '1.0.0' },
    agentCapabilities: {},
    authMethods: [],
  }))
  .onRequest(methods.agent.session.new, ({ params: { cwd } }) => {
    const sessionId = `session-${folders.size + 1}`;
    folders.set(sessionId, cwd);
    return { sessionId };
  })
  .onRequest(methods.agent.session.prompt, prompted)
  .onNotification(methods.agent.session.cancel, () => undefined)
  .connect(ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
