import { appendFileSync } from 'node:fs';
import { chatGraph, echoGraph, mailAgent, postGraph, stepsGraph } from './graphs.ts';

// What the reference server loads: the same programs, without the engine. Their calls are lines of a file.

const world = process.env['DEVS_TEST_WORLD'];
if (world === undefined) throw new Error('DEVS_TEST_WORLD names no file.');
const call = (what: string): void => appendFileSync(world, `${what}\n`);

export const echo = echoGraph(call).compile();
export const steps = stepsGraph(call).compile();
export const post = postGraph(call).compile();
export const chat = chatGraph(call).compile();
export const agent = mailAgent(call);
