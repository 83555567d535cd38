// One process of one run: client.mjs ACT FLOW RUN, run beside a stack's own stack.mjs and node_modules.
// Acts: work (start or go on) · approve once · approve announcement · approve twice · approve at once · approve stale.
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { env, pid } from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from './stack.mjs';
import { makeWorld } from './world.mjs';

const [act = '', flow = '', run = ''] = process.argv.slice(2);
const folder = env.PEERS_FOLDER;
const world = makeWorld(folder, {
  dieAt: env.PEERS_DIE_AT,
  life: Number(env.PEERS_LIFE),
  callMs: Number(env.PEERS_CALL_MS),
});
const stack = await connect({ folder, world, flow, run, bound: env.PEERS_BOUND === '1' });

async function answer(page, approved) {
  const what = approved ? 'approval' : 'rejection';
  world.note(`${what} sent`);
  try {
    await page.answer(approved);
    world.note(`${what} accepted`);
  } catch (error) {
    world.note(`${what} refused: ${error.code ?? error.message}`);
  }
}

const ACTS = {
  async work() {
    world.note('worker loaded');
    try {
      await stack.work();
    } catch (error) {
      world.note(`worker refused: ${error.code ?? error.message}`);
      process.exit(1);
    }
  },
  async 'approve once'() {
    await answer(await stack.readPage(), true);
  },
  async 'approve announcement'() {
    await answer(await stack.readPage('announce'), true);
  },
  /** One click, delivered twice: the page it was made on is the same. */
  async 'approve twice'() {
    const page = await stack.readPage();
    await answer(page, true);
    // Until the flow asks again, so that a second answer finds the second gate if it can.
    await stack.readPage('announce');
    await answer(page, true);
  },
  async 'approve at once'() {
    const page = await stack.readPage();
    writeFileSync(join(folder, `ready-${pid}`), '');
    while (!existsSync(join(folder, 'go'))) await sleep(2);
    await answer(page, true);
  },
  /** Ada reads a version; Bob rejects it and another one is written; Ada approves what she read. */
  async 'approve stale'() {
    const adas = await stack.readPage();
    await answer(await stack.readPage(), false);
    await stack.readPage('publish', 2);
    await answer(adas, true);
  },
};

await ACTS[act]();
await stack.close();
