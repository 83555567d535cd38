// What a coding CLI may do on a prompt, however it is reached: `say` is its answer, `raw` goes to its standard output.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';

const VERDICT = { approved: false, comments: 'No.' };
const MASKED = 'Authorization: Bearer sk-ant-api03-0123456789abcdefghijABCDEFGHIJ';

export const fenced = (value) => `Here it is.\n\n\`\`\`json\n${JSON.stringify(value)}\n\`\`\`\n`;

/** Writes the ids of this process and of a child that no signal but the last one ends. */
export async function startDeaf() {
  // What a shell ignores, the program in its place ignores, too.
  const deaf = "trap '' TERM INT; echo up; exec sleep 1000";
  const child = spawn('sh', ['-c', deaf], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  writeFileSync('pids.part', `${process.pid} ${child.pid}`);
  renameSync('pids.part', 'pids');
}

/** Ends this process; the promise is of one that does. */
const last = (words, code) => new Promise(() => process.stderr.write(words, () => process.exit(code)));

export const BEHAVIOURS = {
  edits: ({ say }) => {
    writeFileSync('sum.js', 'export const sum = (a, b) => a + b;\n');
    say('It is done.');
  },
  prompt: ({ prompt, say }) => say(prompt),
  environment: ({ say }) => say(JSON.stringify(process.env)),
  login: ({ say }) => say(readFileSync(`${process.env.HOME}/.agent/login.json`, 'utf8')),
  notice: ({ say }) =>
    say(`\`\`\`js\n{}\n\`\`\`\n${fenced(VERDICT).trimEnd()}**Warning:** set {this}.\n\`\`\`js\n{}\n\`\`\`\n`),
  repaired: ({ prompt, say }) => say(prompt.includes('could not be used') ? fenced(VERDICT) : 'Fine!'),
  nonsense: ({ say }) => say('Fine!'),
  twoAnswers: ({ say }) =>
    say(`${fenced({ approved: true, comments: 'Yes.' })}No, wait.\n${fenced(VERDICT)}`),
  twoAtOnce: ({ say }) =>
    say(`${JSON.stringify({ approved: true, comments: 'Yes.' })}${JSON.stringify(VERDICT)}`),
  wrongTest: ({ say }) =>
    say(`Nothing can be done.\nWRONG TEST: it asks that 1 + 2 is 4.${' And more.'.repeat(900)}`),
  lies: ({ say }) => say('I have changed sum.js, and every test passes.'),
  place: ({ prompt, say }) =>
    say(
      fenced({
        answer: `${readdirSync('.').join(' ') || 'nothing'}; ${/^You made[^\n]*/m.exec(prompt)?.[0]}`,
      }),
    ),
  dies: () => last(`no login: ${MASKED}\n`, 3),
  talks: () => last(`${'x'.repeat(5_000)} and these are its last words.\n`, 4),
  async diesMidway({ raw }) {
    await startDeaf();
    writeFileSync('half.js', 'export const');
    raw('{"jsonrpc":"2.0","method":"session/upd');
    process.kill(process.pid, 'SIGKILL');
    return new Promise(() => undefined);
  },
  diesOnce: ({ say }) => {
    if (existsSync('tried')) return say('Now it works.');
    writeFileSync('tried', '');
    return last('Not today.\n', 5);
  },
  silent: () => new Promise(() => setInterval(() => undefined, 1_000)),
  async hangs() {
    process.on('SIGTERM', () => undefined);
    setInterval(() => undefined, 1_000);
    await startDeaf();
    return new Promise(() => undefined);
  },
  binary({ raw, say }) {
    raw(Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)));
    raw('\nDebugger attached.\n');
    say(fenced(VERDICT));
  },
};
