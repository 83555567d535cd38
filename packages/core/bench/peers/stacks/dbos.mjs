// @dbos-inc/dbos-sdk 5.3.0 on PostgreSQL. DBOS docs, TypeScript: "Learn DBOS TypeScript" (workflows of steps),
// "Communicating with Workflows" (send and recv by topic, events, idempotency key), "DBOS Client" (who answers).
import { randomUUID } from 'node:crypto';
import { env } from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { DBOS, DBOSClient } from '@dbos-inc/dbos-sdk';
import { CHAIN_CALLS } from './world.mjs';

const systemDatabaseUrl = env.PEERS_POSTGRES;
const A_DAY = { timeoutSeconds: 86_400 };

function writer({ paidCall, die }) {
  return async (round) => {
    const call = async () => {
      const answer = await paidCall(`draft ${round}`);
      die('before its record');
      return answer;
    };
    const draft = await DBOS.runStep(call, { name: 'call' });
    die('after its record');
    return draft;
  };
}

/** Publishes what is to be read, then waits for the answer: a topic per gate, or per gate and version. */
async function gate(world, topic, page) {
  await DBOS.setEvent('page', { ...page, topic });
  world.note('asked');
  return (await DBOS.recv(topic, A_DAY))?.approved === true;
}

const FLOWS = {
  post: (world) => {
    const write = writer(world);
    return async () => {
      const draft = await write(1);
      if (!(await gate(world, 'publish', { gate: 'publish', round: 1, draft }))) return;
      await DBOS.runStep(() => world.publish(draft), { name: 'publish' });
      if (!(await gate(world, 'announce', { gate: 'announce', round: 1, draft }))) return;
      await DBOS.runStep(() => world.announce(), { name: 'announce' });
    };
  },

  review: (world, bound) => {
    const write = writer(world);
    return async () => {
      for (let round = 1; ; round += 1) {
        const draft = await write(round);
        const topic = bound ? `publish ${round}` : 'publish';
        if (!(await gate(world, topic, { gate: 'publish', round, draft }))) continue;
        await DBOS.runStep(() => world.publish(draft), { name: 'publish' });
        return;
      }
    };
  },

  chain: (world) => async () => {
    for (let call = 1; call <= CHAIN_CALLS; call += 1) {
      await DBOS.runStep(() => world.paidCall(call), { name: `call ${call}` });
    }
  },
};

async function readPage(client, run, { gate: name, round }) {
  for (;;) {
    const page = await client.getEvent(run, 'page', 10);
    if (page !== null && page.gate === name && page.round >= round) return page;
    await sleep(5);
  }
}

export async function connect({ world, flow, run, bound }) {
  const work = async () => {
    const workflow = DBOS.registerWorkflow(FLOWS[flow](world, bound), { name: flow });
    DBOS.setConfig({ name: 'peers', systemDatabaseUrl, logLevel: 'error' });
    await DBOS.launch();
    const handle = await DBOS.startWorkflow(workflow, { workflowID: run })();
    await handle.getResult();
    await DBOS.shutdown();
  };
  let client;
  return {
    work,
    readPage: async (name = 'publish', round = 1) => {
      client ??= await DBOSClient.create({ systemDatabaseUrl });
      const { topic } = await readPage(client, run, { gate: name, round });
      // One key per page that was read: a click that is sent twice is one message.
      const key = randomUUID();
      return { answer: (approved) => client.send(run, { approved }, topic, key) };
    },
    close: async () => client?.destroy(),
  };
}
