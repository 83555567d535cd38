import type { AtOnce, Decisions } from '../server/measures.ts';
import type { Processes } from '../server/processes.ts';
import { STANDS, type StandName } from '../server/stands.ts';
import { barPlot, LOOKS, linePlot } from './plots.ts';

/** What one look costs as what is not looked at grows. */
export interface Grown {
  readonly subject: string;
  readonly what: string;
  readonly of: string;
  readonly sizes: readonly number[];
  /** CPU milliseconds for one look, by size. */
  readonly ms: readonly number[];
  readonly exponent: number;
  /** `null` where it is known to grow. */
  readonly target: number | null;
}

/** What `--json` of `pnpm bench:growth` has, as far as it is shown. */
export interface GrowthFigures {
  readonly grown: readonly Grown[];
}

/** Of `pnpm bench:drivers`. */
export interface DriverFigures {
  readonly figures: readonly {
    readonly drivers: number;
    readonly perSecond: number;
    readonly medianMs: number;
    readonly p95Ms: number;
    readonly mostMs: number;
  }[];
}

/** Of `pnpm bench:crowd`. */
export interface CrowdFigures {
  readonly runs: number;
  readonly parts: readonly {
    readonly minute: number;
    readonly perSecond: number;
    readonly medianMs: number;
    readonly p99Ms: number;
    readonly loopP99Ms: number;
  }[];
}

/** Of `pnpm bench:cli`. */
export interface CliFigures {
  readonly rows: readonly {
    readonly process: string;
    readonly cpuRatio: number;
    readonly wallRatio: number;
  }[];
}

/** Of `pnpm bench:wakes`. */
export interface WakeFigures {
  readonly figures: readonly {
    readonly name: string;
    readonly ownMs: { readonly median: number; readonly p95: number };
  }[];
}

/** Of `pnpm bench:overhead`. */
export interface OverheadFigures {
  readonly results: readonly {
    readonly subject: string;
    readonly ratios: readonly { readonly pair: string; readonly median: number }[];
  }[];
}

/** Of `pnpm bench:cluster --only runs`. */
export interface ClusterFigures {
  readonly runs: {
    readonly counts: readonly number[];
    readonly keepers: readonly {
      readonly keeper: string;
      readonly workerCpuMs: readonly number[];
      readonly serverCpuMs: readonly number[];
    }[];
  };
}

/** Of `pnpm bench:server`. */
export interface ServerFigures {
  readonly once: readonly AtOnce[];
  readonly decisions: readonly Decisions[];
  readonly processes: readonly Processes[];
}

/** SVG documents by name. */
export type Pictures = Readonly<Record<string, string>>;

type Drawn = Promise<Pictures>;

/** The plots of each bench's figures; the same figures give the same bytes. */
export const PICTURES = {
  growth: growthPictures,
  drivers: driverPictures,
  cluster: clusterPictures,
  crowd: crowdPictures,
  server: serverPictures,
  cli: async ({ rows }: CliFigures): Drawn => ({
    cli: await barPlot({
      title: 'Starting the command',
      says: 'times what a Node.js that does nothing takes',
      series: ['processor', 'clock'],
      rows: rows
        .filter(({ process }) => process.startsWith('devs '))
        .map(({ process, cpuRatio, wallRatio }) => ({ name: process, values: [cpuRatio, wallRatio] })),
      aim: 2.5,
    }),
  }),
  wakes: async ({ figures }: WakeFigures): Drawn => ({
    wakes: await barPlot({
      title: 'From a decision to the node behind it',
      says: 'ms, without the queue for a processor',
      kind: 'log',
      series: ['median', 'p95'],
      rows: figures.map(({ name, ownMs }) => ({ name, values: [ownMs.median, ownMs.p95] })),
    }),
  }),
  overhead: async ({ results }: OverheadFigures): Drawn => ({
    overhead: await barPlot({
      title: 'What a super-step takes beside another way to keep the run',
      says: 'median ratio of times',
      series: results.map(({ subject }) => subject),
      rows: (results[0]?.ratios ?? []).map(({ pair }, at) => ({
        name: pair,
        values: results.map(({ ratios }) => ratios[at]?.median ?? Number.NaN),
      })),
      aim: 1,
    }),
  }),
} as const;

/** One for each thing that grows; first what must not grow with it. */
async function growthPictures({ grown }: GrowthFigures): Drawn {
  const subjects = [...new Set(grown.map(({ subject }) => subject))];
  const pictures = await Promise.all(
    subjects.map(async (subject) => {
      const its = grown.filter((each) => each.subject === subject);
      const shown = its
        .toSorted((a, b) => Number(a.target === null) - Number(b.target === null))
        .slice(0, LOOKS);
      const svg = await linePlot({
        title: its[0]?.of ?? subject,
        x: { says: 'how many', kind: 'log' },
        y: { says: 'CPU ms', kind: 'log' },
        series: shown.map(({ what, sizes, ms, exponent, target }) => ({
          name: `${what}: ${target === null ? 'may grow, ' : ''}exponent ${exponent}`,
          points: sizes.map((size, at) => [size, ms[at] ?? Number.NaN] as const),
        })),
      });
      return [`growth-${subject}`, svg] as const;
    }),
  );
  return Object.fromEntries(pictures);
}

async function driverPictures({ figures }: DriverFigures): Drawn {
  const x = { says: 'drivers on one file, each a process', kind: 'log' } as const;
  const of = (name: string, value: (one: DriverFigures['figures'][number]) => number) => ({
    name,
    points: figures.map((one) => [one.drivers, value(one)] as const),
  });
  return {
    'drivers-throughput': await linePlot({
      title: 'Drivers on one file: super-steps in all',
      ...{ x, y: { says: 'super-steps a second' } },
      series: [of('all drivers together', ({ perSecond }) => perSecond)],
    }),
    'drivers-times': await linePlot({
      title: 'Drivers on one file: one super-step',
      ...{ x, y: { says: 'ms', kind: 'log' } },
      series: [
        of('median', ({ medianMs }) => medianMs),
        of('95 of 100 take no longer', ({ p95Ms }) => p95Ms),
        of('the longest', ({ mostMs }) => mostMs),
      ],
    }),
  };
}

async function crowdPictures({ runs, parts }: CrowdFigures): Drawn {
  const x = { says: 'minutes' } as const;
  const of = (name: string, value: (part: CrowdFigures['parts'][number]) => number) => ({
    name,
    points: parts.map((part) => [part.minute, value(part)] as const),
  });
  return {
    'crowd-throughput': await linePlot({
      title: `${runs} runs at once in one process`,
      ...{ x, y: { says: 'super-steps a second' } },
      series: [of('all runs together', ({ perSecond }) => perSecond)],
    }),
    'crowd-times': await linePlot({
      title: `${runs} runs at once: recording one call`,
      ...{ x, y: { says: 'ms', kind: 'log' } },
      series: [
        of('median', ({ medianMs }) => medianMs),
        of('99 of 100 take no longer', ({ p99Ms }) => p99Ms),
        of('the loop stands still, p99', ({ loopP99Ms }) => loopP99Ms),
      ],
    }),
  };
}

async function serverPictures({ once, decisions, processes }: ServerFigures): Drawn {
  const lines = <Figures>(
    figures: readonly Figures[],
    x: (one: Figures) => number,
    shown: readonly (readonly [says: string, value: (one: Figures, name: StandName) => number])[],
  ) =>
    STANDS.flatMap((name) =>
      shown.map(([says, value]) => ({
        name: says === '' ? name : `${name}, ${says}`,
        points: figures.map((one) => [x(one), value(one, name)] as const),
      })),
    );
  const inProcess = { says: 'runs at once in a process', kind: 'log' } as const;
  return {
    'server-throughput': await linePlot({
      title: 'Short runs at once in one process',
      ...{ x: inProcess, y: { says: 'runs a second' } },
      series: lines(once, (one) => one.atOnce, [['', (one, name) => one.stands[name].runsPerSecond]]),
    }),
    'server-loop': await linePlot({
      title: 'Short runs at once: how long the loop does not turn',
      ...{ x: inProcess, y: { says: 'processor ms', kind: 'log' } },
      series: lines(once, (one) => one.atOnce, [
        ['median', (one, name) => one.stands[name].turnP50Ms],
        ['p99', (one, name) => one.stands[name].turnP99Ms],
      ]),
    }),
    'server-decisions': await linePlot({
      title: 'From a decision to its effect',
      x: { says: 'runs decided at the same moment', kind: 'log' },
      y: { says: 'ms', kind: 'log' },
      series: lines(decisions, (one) => one.atOnce, [
        ['median', (one, name) => one.stands[name].p50Ms],
        ['p99', (one, name) => one.stands[name].p99Ms],
      ]),
    }),
    'server-processes': await linePlot({
      title: 'Short runs by processes on one file',
      x: { says: 'processes', kind: 'log' },
      y: { says: 'runs a second, all together' },
      series: lines(processes, (one) => one.processes, [['', (one, name) => one.stands[name].runsPerSecond]]),
    }),
  };
}

async function clusterPictures({ runs: { counts, keepers } }: ClusterFigures): Drawn {
  const drawn = (title: string, of: 'workerCpuMs' | 'serverCpuMs', whose: typeof keepers): Promise<string> =>
    linePlot({
      title,
      x: { says: 'runs at the same time', kind: 'log' },
      y: { says: 'CPU ms of a super-step', kind: 'log' },
      series: whose.map((each) => ({
        name: each.keeper,
        points: counts.map((count, at) => [count, each[of][at] ?? Number.NaN] as const),
      })),
    });
  const onServer = keepers.filter(({ serverCpuMs }) => serverCpuMs.every((ms) => ms > SERVER_MS));
  return {
    'cluster-workers': await drawn('Processor time of the worker', 'workerCpuMs', keepers),
    'cluster-servers': await drawn('Processor time of PostgreSQL', 'serverCpuMs', onServer),
  };
}

/** Of a server that only waits, ms in the time of a super-step. */
const SERVER_MS = 0.05;
