import type { EventBus } from '../../events/EventBus.ts';
import { Run } from '../Run.ts';
import { onlyHere } from './onlyHere.ts';
import type { PipelineRuns } from './PipelineRuns.ts';

/** `look`: at a copy. `hold`: nobody drives the run meanwhile. `here`: nothing of it can be done where the run is elsewhere. */
type AccessWay = 'look' | 'hold' | 'here';

/** Methods that tell the run something, drive it, or do not need its file. */
type Own = 'resume' | 'decide' | 'edit' | 'pause' | 'cancel' | 'onActivity';

type Plain = Exclude<keyof Run, 'id' | Own>;

/** How a method reaches the file of its run; a new one has to say. */
const WAYS: Readonly<Record<Plain, AccessWay>> = {
  status: 'look',
  budget: 'look',
  gates: 'look',
  closedGates: 'look',
  lastViewed: 'look',
  exchanges: 'look',
  draft: 'look',
  rewinds: 'look',
  log: 'look',
  steps: 'look',
  graph: 'look',
  checkpoints: 'look',
  valuesAt: 'look',
  transcript: 'look',
  transcriptStages: 'look',
  state: 'look',
  documents: 'look',
  recursionDepth: 'look',
  agentsRef: 'look',
  quotableSections: 'look',
  lastComments: 'look',
  askUnavailableReason: 'look',
  // What a person was shown is not kept: it would wait for whoever drives the run.
  recordViewed: 'look',
  previewRewind: 'look',
  ask: 'hold',
  reveal: 'hold',
  prune: 'hold',
  acceptGraph: 'hold',
  revive: 'hold',
  skipSandboxOnce: 'hold',
  sync: 'hold',
  rewind: 'hold',
  undoRewind: 'hold',
  // The folder that they are about is on the machine of its driver.
  adopt: 'here',
  commits: 'here',
};

type Method = (...args: unknown[]) => Promise<unknown>;

/** A handle on a run that is not here: each method is called on an ordinary one over the file as it is then. */
export function runElsewhere(id: string, open: () => Promise<PipelineRuns>, events: EventBus): Run {
  const plain = (Object.keys(WAYS) as Plain[]).map((name) => [name, methodOf(name, id, open)] as const);
  const decide: Run['decide'] = async (gate, answer) => (await open()).decide(id, gate, answer);
  const own: Pick<Run, Own> = {
    resume: async (options = {}) => (await open()).driveHere(id, options),
    decide,
    edit: async (gate, { by, ...edit }) => decide(gate, { action: 'edit', ...edit, by }),
    pause: async () => (await open()).request(id, 'pause'),
    cancel: async () => (await open()).request(id, 'cancel'),
    onActivity: (listener) =>
      events.onActivity((activity, scope, at) => {
        if (scope.threadId === id) listener(activity, scope, at);
      }),
  };
  return Object.assign(Object.create(Run.prototype) as Run, { id }, Object.fromEntries(plain), own);
}

function methodOf(name: Plain, id: string, open: () => Promise<PipelineRuns>): Method {
  const way = WAYS[name];
  const call =
    (args: unknown[]) =>
    (run: Run): Promise<unknown> =>
      (run[name] as Method).apply(run, args);
  if (way === 'look') return async (...args) => (await open()).look(id, call(args));
  // One that is brought back is driven.
  if (way === 'hold') return async (...args) => (await open()).change(id, call(args), name === 'revive');
  return async () => {
    throw onlyHere(name, id);
  };
}
