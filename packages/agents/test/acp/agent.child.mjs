// Stands for an agent that speaks the Agent Client Protocol: does what its first argument says. Written by hand, because
// most of what it does no library would let it do.
import { once } from 'node:events';
import { appendFileSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { BEHAVIOURS, fenced, startDeaf } from '../coding/behaviours.mjs';

const [mode = 'work', log = ''] = process.argv.slice(2);
if (log !== '') appendFileSync(log, `${process.pid}\n`);

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const raw = (text) => process.stdout.write(text);
const waiting = new Map();
let nextId = 1_000;
let sessions = 0;
const remembered = new Map();
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

const big = 'x'.repeat(60_000);
const FLOODS = {
  words: (session) => say(session, big),
  tools: (session, count) =>
    update(session, 'tool_call', {
      toolCallId: `t${count}`,
      title: 'Write',
      kind: 'edit',
      rawInput: { content: big },
    }),
  diffs: (session, count) =>
    update(session, 'tool_call', {
      toolCallId: `t${count}`,
      content: [{ type: 'diff', path: `${count}.js`, oldText: `a${big}`, newText: `${count}${big}` }],
    }),
  line: () => raw(big),
  errors: () => process.stderr.write(big),
};

async function flood(session, kind) {
  const stream = kind === 'errors' ? process.stderr : process.stdout;
  for (let count = 0; ; count += 1) if (!FLOODS[kind](session, count)) await once(stream, 'drain');
}

const stopped = (stopReason) => (session) => {
  say(session, 'I will not.');
  return { stopReason };
};

async function common(session, prompt) {
  await BEHAVIOURS[mode]({ prompt, raw, say: (text) => say(session, text) });
  return ENDED;
}

/** What happens on a prompt, by mode; what other coding CLIs do too is not here. */
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
  dearly: (session, prompt) => {
    money(session, prompt.includes('could not be used') ? 0.75 : 0.5);
    say(
      session,
      prompt.includes('could not be used') ? fenced({ approved: false, comments: 'No.' }) : 'Fine!',
    );
    return { ...ENDED, usage: TOKENS };
  },
  // In which session it is, and what was said in it so far; a prompt costs a quarter.
  remembers: (session, prompt) => {
    const said = [...(remembered.get(session) ?? []), /^Stage: (\w+)/m.exec(prompt)?.[1] ?? 'none'];
    remembered.set(session, said);
    money(session, 0.25 * said.length);
    say(session, `${sessions}: ${said.join(' ')}${prompt.includes('# Add') ? ' with its task' : ''}`);
    return { ...ENDED, usage: TOKENS };
  },
  permissions,
  mode: (session) => {
    say(session, process.env.MODE);
    return ENDED;
  },
  denies: (session) => {
    update(session, 'tool_call', { toolCallId: 't1', title: 'Edit sum.js', kind: 'edit', status: 'failed' });
    update(session, 'tool_call_update', { toolCallId: 't1', status: 'completed' });
    update(session, 'tool_call_update', { toolCallId: 't1', title: 'Edited', status: 'in_progress' });
    say(session, 'I have edited it.');
    return ENDED;
  },
  otherSession: async (session) => {
    say('s99', 'Not yours.');
    update('s99', 'tool_call', { toolCallId: 't1', title: 'Not yours' });
    const toolCall = { toolCallId: 't1', kind: 'read', locations: [{ path: '.' }] };
    const ofOther = await ask('session/request_permission', { sessionId: 's99', toolCall, options: OPTIONS });
    const ofNone = await ask('session/request_permission', { toolCall, options: OPTIONS });
    say(session, [ofOther, ofNone].map(({ result }) => result.outcome.outcome).join(' '));
    return ENDED;
  },
  reasonless: () => ({ usage: TOKENS }),
  polite: async (session) => {
    await startDeaf();
    return new Promise((resolve) => {
      onCancel = () => {
        money(session, 0.5);
        writeFileSync('cancelled', 'yes');
        resolve({ stopReason: 'cancelled' });
      };
    });
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
    if (mode === 'nameless') return { sessionId: '' };
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
    const text = prompt.map((part) => part.text).join('\n');
    if (mode.startsWith('flood:')) return flood(sessionId, mode.slice('flood:'.length));
    if (mode in PROMPTS) return PROMPTS[mode](sessionId, text, id);
    return common(sessionId, text);
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
input.on('close', () => mode !== 'hangs' && process.exit());
