// @mastra/core 1.71.0 with @mastra/libsql 1.23.1. Mastra docs, Workflows: "Human-in-the-loop" (suspend, resume),
// "Suspend and resume" (the step that waits, read from storage), "Overview" (a run that lost its process: restart).
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Mastra } from '@mastra/core';
import { createStep, createWorkflow, createWorkflowStateReader } from '@mastra/core/workflows';
import { LibSQLStore } from '@mastra/libsql';
import { z } from 'zod';
import { CHAIN_CALLS } from './world.mjs';

const post = z.object({ round: z.number(), draft: z.string(), approved: z.boolean() });
const answer = z.object({ approved: z.boolean(), draft: z.string().optional() });
const EMPTY = { round: 0, draft: '', approved: false };

function makeStep(id, execute, schemas = {}) {
  return createStep({ id, inputSchema: post, outputSchema: post, execute, ...schemas });
}

const writer = ({ paidCall, die }) =>
  makeStep('write', async ({ inputData: { round } }) => {
    const draft = await paidCall(`draft ${round + 1}`);
    die('before its record');
    return { round: round + 1, draft, approved: false };
  });

/** `bound`: an answer that names another draft than the one at hand is not taken. */
const gate = ({ die }, name, bound = false) =>
  makeStep(
    `${name} gate`,
    async ({ inputData, resumeData, suspend }) => {
      die('after its record');
      const { draft, round } = inputData;
      const isOther = bound && resumeData?.draft !== draft;
      if (resumeData === undefined || isOther) return suspend({ gate: name, round, draft });
      return { ...inputData, approved: resumeData.approved };
    },
    {
      resumeSchema: answer,
      suspendSchema: z.object({ gate: z.string(), round: z.number(), draft: z.string() }),
    },
  );

const publisher = (world) =>
  makeStep('publish', async ({ inputData }) => {
    await world.publish(inputData.draft);
    return inputData;
  });

const flowOf = (id) => createWorkflow({ id, inputSchema: post, outputSchema: post });

const FLOWS = {
  post: (world) =>
    flowOf('post')
      .then(writer(world))
      .then(gate(world, 'publish'))
      .then(publisher(world))
      .then(gate(world, 'announce'))
      .then(
        makeStep('announce', async ({ inputData }) => {
          await world.announce();
          return inputData;
        }),
      )
      .commit(),

  review: (world, bound) => {
    const round = flowOf('round')
      .then(writer(world))
      .then(gate(world, 'publish', bound))
      .commit();
    return flowOf('review')
      .dountil(round, async ({ inputData }) => inputData.approved)
      .then(publisher(world))
      .commit();
  },

  chain: (world) => {
    const calls = Array.from({ length: CHAIN_CALLS }, (_, index) =>
      makeStep(`call ${index + 1}`, async ({ inputData }) => {
        await world.paidCall(index + 1);
        return inputData;
      }),
    );
    return calls.reduce((flow, call) => flow.then(call), flowOf('chain')).commit();
  },
};

export async function connect({ folder, world, flow, run: runId, bound }) {
  const workflow = FLOWS[flow](world, bound);
  const storage = new LibSQLStore({ id: 'peers', url: `file:${join(folder, 'mastra.db')}` });
  const mastra = new Mastra({ storage, workflows: { [flow]: workflow }, logger: false });
  const registered = mastra.getWorkflow(flow);

  async function readPage(name = 'publish', round = 1) {
    for (;;) {
      const state = await registered.getWorkflowRunById(runId);
      const waiting = state?.status === 'suspended' && createWorkflowStateReader(state).getSuspendedStep();
      const page = waiting?.suspendPayload;
      if (page?.gate === name && page.round >= round) return { path: waiting.path, draft: page.draft };
      await sleep(5);
    }
  }

  return {
    work: async () => {
      const status = (await registered.getWorkflowRunById(runId))?.status ?? 'pending';
      if (status === 'success' || status === 'suspended') return;
      const run = await registered.createRun({ runId });
      const result = status === 'pending' ? await run.start({ inputData: EMPTY }) : await run.restart();
      if (result.status === 'suspended') world.note('asked');
    },
    readPage: async (name, round) => {
      const { path, draft } = await readPage(name, round);
      return {
        answer: async (approved) => {
          const run = await registered.createRun({ runId });
          const result = await run.resume({ step: path, resumeData: { approved, draft } });
          if (result.status === 'failed') throw result.error;
        },
      };
    },
    close: async () => {},
  };
}
