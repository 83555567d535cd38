// `examples/agent-next` as its page says: copied, installed from the packed packages, built by the newest Next.js, and served. A server
// is killed with a question open, and the next one takes its answer. Part of `pnpm test:long`.
//
//   node scripts/next-example.mjs
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { packAll } from './packAll.mjs';
import { run } from './runProgram.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const EXAMPLE = join(root, 'examples', 'agent-next');
/** Where its page's sign-in and its `hosts` are. */
const PORT = '3000';

/** The command of its page, with tarballs in the place of names that the registry may not have yet. */
function installCommand(tarballs) {
  const page = readFileSync(join(EXAMPLE, 'README.md'), 'utf8');
  const [command, ...words] = /^npm (install .*)$/m.exec(page)[1].split(' ');
  return [command, ...words.map((word) => tarballs[/^@devs\/(\w+)$/.exec(word)?.[1]] ?? word)];
}

async function served(folder) {
  const child = spawn('npx', ['next', 'start', '--port', PORT], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  let said = '';
  for await (const chunk of child.stdout) {
    said += chunk;
    if (said.includes('Ready')) return { kill: () => process.kill(-child.pid, 'SIGKILL') };
  }
  throw new Error(`next start has ended:\n${said}`);
}

async function ask(path, person, body) {
  const response = await fetch(`http://localhost:${PORT}/api${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', cookie: `person=${person}` },
    body: JSON.stringify(body),
  });
  return { status: response.status, json: await response.json() };
}

async function main() {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'devs-next-')));
  const app = join(folder, 'app');
  let server;
  try {
    const left = ['package.json', 'node_modules'];
    cpSync(EXAMPLE, app, { recursive: true, filter: (file) => !left.includes(basename(file)) });
    await run(['pnpm', '-s', 'build'], { cwd: root });
    const tarballs = await packAll({ checkout: root, to: join(folder, 'tarballs') });
    await run(['npm', ...installCommand(tarballs)], { cwd: app });
    await run(['npx', 'next', 'build'], { cwd: app });
    assert.ok(existsSync(join(app, '.next', 'BUILD_ID')));

    server = await served(app);
    const { json: thread } = await ask('/threads', 'ada', {});
    const wait = (person, input) =>
      ask(`/threads/${thread.thread_id}/runs/wait`, person, { assistant_id: 'agent', ...input });
    const said = (content) => ({ input: { messages: [{ role: 'user', content }] } });
    const { json: asked } = await wait('ada', said('green tea'));
    assert.equal(asked.__interrupt__?.[0]?.value.question, 'Publish this post?', JSON.stringify(asked));
    assert.equal((await wait('ada', said('just publish it'))).status, 422);
    server.kill();
    await sleep(500);
    server = await served(app);
    assert.equal((await wait('ben', { command: { resume: 'yes' } })).status, 404);
    const { json: ended } = await wait('ada', { command: { resume: 'yes' } });
    assert.equal(ended.messages?.at(-1)?.content, 'Published.', JSON.stringify(ended));
    const page = await (await fetch(`http://localhost:${PORT}/`)).text();
    assert.match(page, /aria-label="Topic"/);
    process.stdout.write('the example with Next.js: built, served, killed, answered\n');
  } finally {
    server?.kill();
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

await main();
