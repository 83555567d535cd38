// Stands for an agent that speaks the Agent Client Protocol: does what its first argument says. Written by hand, because
// most of what it does no library would let it do.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [mode = 'work', log = ''] = process.argv.slice(2);
if (log !== '') appendFileSync(log, `${process.pid}\n`);

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const raw = (text) => process.stdout.write(text);
const waiting = new Map();
let nextId = 1_000;
let sessions = 0;
let onCancel = () => undefined;

const ask = (method, params) =>
  new Promise((resolve) => {
    nextId += 1;
    waiting.set(nextId, resolve);
    send({ id: nextId, method, params });
  });
const update = (sessionId, sessionUpdate, more) =>
  send({ method: 'session/update', params: { sessionId, update: { sessionUpdate, ...more } } });
const say = (sessionId, text) =>
  update(sessionId, 'agent_message_chunk', { content: { type: 'text', text } });
const money = (sessionId, amount, currency = 'USD') =>
  update(sessionId, 'usage_update', { used: 10, size: 100, cost: { amount, currency } });

const ENDED = { stopReason: 'end_turn' };
const TOKENS = { inputTokens: 20, outputTokens: 7, cachedReadTokens: 80, cachedWriteTokens: 0 };
const VERDICT = { approved: false, comments: 'No.' };
const fenced = (value) => `Here it is.\n\n\`\`\`json\n${JSON.stringify(value)}\n\`\`\`\n`;
const OPTIONS = [
  { optionId: 'always', name: 'Always', kind: 'allow_always' },
  { optionId: 'yes', name: 'Yes', kind: 'allow_once' },
  { optionId: 'no', name: 'No', kind: 'reject_once' },
];

/** Asks for what the prompt names: `ASK {"kind": …}` a line. */
async function permissions(session, prompt) {
  const answers = [];
  for (const [, json] of prompt.matchAll(/ASK (\{.*\})/g)) {
    const { options = OPTIONS, ...tool } = JSON.parse(json);
    const toolCall = { toolCallId: `t${answers.length}`, title: 'Something', ...tool };
    const { result } = await ask('session/request_permission', { sessionId: session, toolCall, options });
    answers.push(result?.outcome.optionId ?? result?.outcome.outcome ?? 'error');
  }
  say(session, answers.join(' '));
  return ENDED;
}

async function flood(session) {
  const line = `${JSON.stringify({
    jsonrpc: '2.0',
    method: 'session/update',
    params: {
      sessionId: session,
      update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'x'.repeat(60_000) } },
    },
  })}\n`;
  for (;;) if (!raw(line)) await once(process.stdout, 'drain');
}

async function longLine() {
  const piece = Buffer.alloc(1024 * 1024, 'x');
  for (;;) if (!process.stdout.write(piece)) await once(process.stdout, 'drain');
}

function startDeaf() {
  const deaf = "process.on('SIGTERM', () => {}); process.on('SIGINT', () => {}); setInterval(() => {}, 1000)";
  const child = spawn(process.execPath, ['-e', deaf], { stdio: 'ignore' });
  writeFileSync('pids', `${process.pid} ${child.pid}`);
}

const stopped = (stopReason) => (session) => {
  say(session, 'I will not.');
  return { stopReason };
};

/** What happens on a prompt, by mode. */
const PROMPTS = {
  work: (session) => {
    update(session, 'agent_thought_chunk', { content: { type: 'text', text: 'Hm.' } });
    update(session, 'plan', { entries: [{ content: 'Add', priority: 'high', status: 'pending' }] });
    say(session, 'I begin.');
    const path = `${process.cwd()}/sum.js`;
    const content = [{ type: 'diff', path, oldText: 'a\nb\n', newText: 'a\nc\n' }];
    update(session, 'tool_call', {
      toolCallId: 't1',
      title: 'Edit sum.js',
      kind: 'edit',
      locations: [{ path }],
    });
    writeFileSync('sum.js', 'a\nc\n');
    update(session, 'tool_call_update', { toolCallId: 't1', status: 'completed', content });
    money(session, 0.25);
    say(session, 'It is ');
    say(session, 'done.');
    return { ...ENDED, usage: TOKENS };
  },
  verdict: (session) => {
    say(session, fenced(VERDICT));
    return ENDED;
  },
  repaired: (session, prompt) => {
    money(session, prompt.includes('could not be used') ? 0.75 : 0.5);
    say(session, prompt.includes('could not be used') ? fenced(VERDICT) : 'Fine!');
    return { ...ENDED, usage: TOKENS };
  },
  nonsense: (session) => {
    say(session, 'Fine!');
    return ENDED;
  },
  permissions,
  flood,
  longLine,
  environment: (session) => {
    say(session, JSON.stringify(process.env));
    return ENDED;
  },
  hang: () => {
    startDeaf();
    return new Promise(() => undefined);
  },
  polite: (session) => {
    startDeaf();
    return new Promise((resolve) => {
      onCancel = () => {
        money(session, 0.5);
        writeFileSync('cancelled', 'yes');
        resolve({ stopReason: 'cancelled' });
      };
    });
  },
  dies: () => {
    process.stderr.write('no login: Authorization: Bearer sk-ant-api03-0123456789abcdefghijABCDEFGHIJ\n');
    process.exit(3);
  },
  refusal: stopped('refusal'),
  max_tokens: stopped('max_tokens'),
  max_turn_requests: stopped('max_turn_requests'),
  cancelled: stopped('cancelled'),
  invented: stopped('because'),
  impossible: (session) => {
    money(session, -5);
    return { ...ENDED, usage: { ...TOKENS, inputTokens: 'many' } };
  },
  garbage: (session) => {
    raw('Debugger attached.\n{"jsonrpc": "2.0", "id"\n[1]\n"x"\n{"jsonrpc":"2.0","method":5}\n');
    send({ method: 'unheard/of', params: {} });
    send({ id: 77_777, result: {} });
    say('another session', 'not for you');
    update(session, 'unheard_of', {});
    update(session, 'tool_call', { toolCallId: 5 });
    say(session, 'Still here.');
    return ENDED;
  },
  twice: (session, _prompt, id) => {
    say(session, 'First.');
    send({ id, result: ENDED });
    send({ id, result: { stopReason: 'refusal' } });
    return null;
  },
  files: async (session) => {
    const path = `${process.cwd()}/sum.js`;
    const read = await ask('fs/read_text_file', { sessionId: session, path });
    const write = await ask('fs/write_text_file', { sessionId: session, path, content: 'x' });
    const terminal = await ask('terminal/create', { sessionId: session, command: 'id' });
    const unknown = await ask('what/ever', {});
    say(session, [read, write, terminal, unknown].map(({ error }) => error?.code).join(' '));
    return ENDED;
  },
  pesters: (session) => {
    for (let count = 0; count < 500_000; count += 1)
      send({ id: count, method: 'session/request_permission', params: { sessionId: session } });
    process.stdin.pause();
    return new Promise(() => undefined);
  },
};

const HANDLERS = {
  initialize: () => {
    if (mode === 'silent') return new Promise(() => undefined);
    return {
      protocolVersion: mode === 'newer' ? 2 : 1,
      agentCapabilities: { sessionCapabilities: { close: {} } },
    };
  },
  'session/new': () => {
    if (mode === 'auth') throw { code: -32_000, message: 'Authentication required' };
    sessions += 1;
    return { sessionId: `s${sessions}` };
  },
  'session/prompt': ({ sessionId, prompt }, id) => {
    if (mode === 'fails')
      throw {
        code: -32_603,
        message: 'Internal error',
        data: { details: 'overdrawn ghp_0123456789abcdefghijABCDEFGHIJ012345' },
      };
    return PROMPTS[mode](sessionId, prompt.map(({ text }) => text).join('\n'), id);
  },
  'session/close': () => ({}),
};

const input = createInterface({ input: process.stdin });
input.on('line', (line) => void take(line));

async function take(line) {
  const { id, method, params, ...answer } = JSON.parse(line);
  if (method === undefined) return waiting.get(id)?.(answer);
  if (method === 'session/cancel') return onCancel();
  try {
    const result = await HANDLERS[method](params, id);
    if (result !== null) send({ id, result });
  } catch (error) {
    send({ id, error });
  }
}

// A deaf one stays when its client is gone.
input.on('close', () => mode !== 'hang' && process.exit(0));
