// @devs/core, packed from this repository. As the section "Your own graph" of its README has it.
import { join } from 'node:path';
import { durable, step } from '@devs/core/langgraph';
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import { CHAIN_CALLS } from './world.mjs';

const Post = Annotation.Root({ round: Annotation(), draft: Annotation(), log: Annotation() });
const show = ({ draft }) => ({ draft });

function writer({ paidCall, die }) {
  return async ({ round = 0 }) => {
    const draft = await step('call', async () => {
      const answer = await paidCall(`draft ${round + 1}`);
      die('before its record');
      return answer;
    });
    die('after its record');
    return { round: round + 1, draft };
  };
}

const FLOWS = {
  post: (world) => ({
    builder: new StateGraph(Post)
      .addNode('write', writer(world))
      .addNode('publish', async ({ draft }) => ({ log: await step('publish', () => world.publish(draft)) }))
      .addNode('announce', async () => ({ log: await step('announce', world.announce) }))
      .addEdge(START, 'write')
      .addEdge('write', 'publish')
      .addEdge('publish', 'announce')
      .addEdge('announce', END),
    gates: { publish: show, announce: show },
  }),

  review: (world) => ({
    builder: new StateGraph(Post)
      .addNode('write', writer(world))
      .addNode('publish', async ({ draft }) => ({ log: await step('publish', () => world.publish(draft)) }))
      .addEdge(START, 'write')
      .addEdge('write', 'publish')
      .addConditionalEdges('publish', ({ log }) => (log === 'published' ? END : 'write'), ['write', END]),
    gates: { publish: { show, onReject: () => ({ log: 'rejected' }) } },
  }),

  chain: (world) => {
    const calls = async () => {
      for (let call = 1; call <= CHAIN_CALLS; call += 1)
        await step(`call ${call}`, () => world.paidCall(call));
      return { log: 'done' };
    };
    const builder = new StateGraph(Post)
      .addNode('calls', calls)
      .addEdge(START, 'calls')
      .addEdge('calls', END);
    return { builder, gates: {} };
  },
};

export async function connect({ folder, world, flow, run }) {
  const { builder, gates } = FLOWS[flow](world);
  const app = durable(builder, { file: join(folder, 'state.sqlite'), gates });
  return {
    work: async () => {
      const { gates: open } = await app.run(run, {});
      if (open.length > 0) world.note('asked');
    },
    /** Who answers drives on: no process waits. */
    readPage: async () => {
      const [gate] = await app.gates(run);
      if (gate === undefined) throw new Error('No gate is open.');
      return {
        answer: async (approved) => {
          const feedback = approved ? {} : { feedback: 'Shorter.' };
          await app.decide(gate, { approved, ...feedback, by: { kind: 'human', id: 'ada' } });
          await app.run(run);
        },
      };
    },
    close: async () => app.close(),
  };
}
