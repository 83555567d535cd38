import { durable } from '@devs/core/langgraph';
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import { median, round } from '../../../core/bench/state/figures.ts';
import { postgres } from '../../src/postgres.ts';
import type { Place } from './keepers.ts';
import { proseOf } from './prose.ts';
import { serverCpuMs } from './serverCpu.ts';

/** Runs that a process starts and that others would drive. */
export interface Starts {
  /** At the same time. */
  readonly atOnce: number;
  /** Processor time of a start, ms. */
  readonly callerCpuMs: number;
  readonly serverCpuMs: number;
  /** Of one processor of the caller. */
  readonly perSecond: number;
}

/** Of an input, bytes. */
const INPUT_BYTES = 1024;
/** Before what is measured: the program is compiled as it is executed. */
const WARM_UP = 300;
const EACH = 400;

const State = Annotation.Root({ text: Annotation<string>(), n: Annotation<number>() });

export async function starts(
  { url, dir }: Place,
  { rounds, tell }: { readonly rounds: number; readonly tell: (line: string) => void },
): Promise<readonly Starts[]> {
  const builder = new StateGraph(State)
    .addNode('a', () => ({ n: 1 }))
    .addNode('b', () => ({ n: 2 }))
    .addEdge(START, 'a')
    .addEdge('a', 'b')
    .addEdge('b', END);
  const app = durable(builder, { runs: postgres({ url, dir, schema: 'starts' }), graph: 'starts' });
  const input = { text: proseOf(0, INPUT_BYTES), n: 0 };
  let next = 0;
  const startAll = async (count: number, atOnce: number): Promise<void> => {
    const last = next + count;
    const one = async (): Promise<void> => {
      while (next < last) {
        next += 1;
        await app.start(`start-${next}`, input);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, one));
  };
  const timed = async (atOnce: number) => {
    const [before, server] = [process.cpuUsage(), serverCpuMs(Number(new URL(url).port))];
    await startAll(EACH, atOnce);
    const { user, system } = process.cpuUsage(before);
    return {
      caller: (user + system) / 1000 / EACH,
      server: (serverCpuMs(Number(new URL(url).port)) - server) / EACH,
    };
  };
  await startAll(WARM_UP, 10);
  const found: Starts[] = [];
  for (const atOnce of [1, 10]) {
    const laps: Awaited<ReturnType<typeof timed>>[] = [];
    for (let lap = 0; lap < rounds; lap += 1) laps.push(await timed(atOnce));
    const caller = median(laps.map((lap) => lap.caller));
    tell(`starts, ${atOnce} at once: ${round(caller)} ms of the caller`);
    found.push({
      atOnce,
      callerCpuMs: round(caller),
      serverCpuMs: round(median(laps.map((lap) => lap.server))),
      perSecond: round(1000 / caller, 0),
    });
  }
  await app.close();
  return found;
}
