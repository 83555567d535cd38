// @restatedev/restate-sdk 1.17.2 on restate-server 1.7.12. Restate docs: "Workflows" and "Durable Steps" (TypeScript),
// "Human-in-the-loop" and "External Events" (an awakeable whose id the page carries), "SDK Clients" (who answers).
import { once } from 'node:events';
import { createServer } from 'node:http2';
import { env } from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import * as restate from '@restatedev/restate-sdk';
import * as clients from '@restatedev/restate-sdk-clients';
import { CHAIN_CALLS } from './world.mjs';

/** Where the server takes calls, where it is administered, and where it finds this worker's handlers. */
const { PEERS_INGRESS: ingressUrl, PEERS_ADMIN: adminUrl, PEERS_ENDPOINT: endpoint } = env;

function writer({ paidCall, die }) {
  return async (ctx, round) => {
    const draft = await ctx.run('call', async () => {
      const answer = await paidCall(`draft ${round}`);
      die('before its record');
      return answer;
    });
    die('after its record');
    return draft;
  };
}

async function gate(ctx, world, page) {
  const { id, promise } = ctx.awakeable();
  ctx.set('page', { ...page, id });
  world.note('asked');
  return (await promise).approved;
}

const FLOWS = {
  post: (world) => {
    const write = writer(world);
    return async (ctx) => {
      const draft = await write(ctx, 1);
      if (!(await gate(ctx, world, { gate: 'publish', round: 1, draft }))) return;
      await ctx.run('publish', () => world.publish(draft));
      if (!(await gate(ctx, world, { gate: 'announce', round: 1, draft }))) return;
      await ctx.run('announce', () => world.announce());
    };
  },

  review: (world) => {
    const write = writer(world);
    return async (ctx) => {
      for (let round = 1; ; round += 1) {
        const draft = await write(ctx, round);
        if (!(await gate(ctx, world, { gate: 'publish', round, draft }))) continue;
        await ctx.run('publish', () => world.publish(draft));
        return;
      }
    };
  },

  chain: (world) => async (ctx) => {
    for (let call = 1; call <= CHAIN_CALLS; call += 1)
      await ctx.run(`call ${call}`, () => world.paidCall(call));
  },
};

/** Tells the server where the handlers are; the same every time, so a restarted worker changes nothing. */
async function register() {
  const body = JSON.stringify({ uri: `http://${endpoint}`, force: false });
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`${adminUrl}/deployments`, { method: 'POST', headers, body });
  if (!response.ok && response.status !== 409) throw new Error(`register: ${await response.text()}`);
}

async function readPage(ingress, run, wanted) {
  for (;;) {
    const page = await ingress
      .workflowClient(wanted.service, run)
      .page()
      .catch(() => null);
    if (page !== null && page.gate === wanted.gate && page.round >= wanted.round) return page;
    await sleep(5);
  }
}

export async function connect({ world, flow, run }) {
  const service = { name: flow };
  const ingress = clients.connect({ url: ingressUrl });
  return {
    work: async () => {
      const workflow = restate.workflow({
        name: flow,
        handlers: { run: FLOWS[flow](world), page: async (ctx) => (await ctx.get('page')) ?? null },
      });
      const [host, port] = endpoint.split(':');
      const server = createServer(restate.createEndpointHandler({ services: [workflow] })).listen(port, host);
      await once(server, 'listening');
      await register();
      const submission = await ingress.workflowClient(service, run).workflowSubmit();
      await ingress.result(submission);
      process.exit(0);
    },
    readPage: async (name = 'publish', round = 1) => {
      const { id } = await readPage(ingress, run, { service, gate: name, round });
      return { answer: (approved) => ingress.resolveAwakeable(id, { approved }) };
    },
    close: async () => {},
  };
}
