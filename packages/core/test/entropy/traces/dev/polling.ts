import { did, failed, rounds, type Trace } from '../Trace.ts';

// Waiting for something outside by asking again. The tool is declared as polling.

export const polling: readonly Trace[] = [
  {
    kind: 'polling',
    about: 'waits for a build',
    polling: ['ci'],
    turns: [
      did('git push', 'main -> main'),
      ...rounds(9, () => did('ci status 812', 'running')),
      did('ci status 812', 'passed'),
    ],
  },
  {
    kind: 'polling',
    about: 'waits for a batch job with a progress figure',
    polling: ['job'],
    turns: rounds(10, (i) =>
      did('job get b-17', `state RUNNING, ${i * 10} % of 5,000 items done, no errors so far`),
    ),
  },
  {
    kind: 'polling',
    about: 'waits for a port to open',
    polling: ['curl'],
    turns: [
      did('docker run -d db', 'c0ffee'),
      ...rounds(6, () => failed('curl localhost:5432', 'connect ECONNREFUSED 127.0.0.1:5432')),
      did('curl localhost:5432', 'ready'),
      did('npm run migrate', '14 migrations applied'),
    ],
  },
  {
    kind: 'polling',
    about: 'waits for a pod',
    polling: ['kubectl'],
    turns: rounds(8, (i) => did('kubectl get pod web-0', `web-0 0/1 ContainerCreating 0 ${i * 5}s`)),
  },
  {
    kind: 'polling',
    about: 'waits for mail, with work in between',
    polling: ['mail'],
    turns: rounds(6, (i) => [
      did('mail check inbox', 'No new messages.'),
      did(`edit notes/chapter-${i}.md`, 'Updated.', { tree: `n${i}` }),
    ]),
  },
  {
    kind: 'polling',
    about: 'waits for a lock',
    polling: ['lock'],
    turns: [
      ...rounds(7, () => failed('lock acquire deploy', 'held by release-41')),
      did('lock acquire deploy', 'acquired'),
    ],
  },
  {
    kind: 'polling',
    about: 'waits for a queue to drain, figures hardly move',
    polling: ['queue'],
    turns: rounds(9, (i) => did('queue depth', `depth ${1000 - Math.floor(i / 2)}`)),
  },
  {
    kind: 'polling',
    about: 'waits for DNS',
    polling: ['dig'],
    turns: [did('dns set shop 10.0.0.7', 'accepted'), ...rounds(8, () => did('dig shop', 'NXDOMAIN'))],
  },
  {
    kind: 'polling',
    about: 'waits for a person to answer in a chat',
    polling: ['chat'],
    turns: [did('chat post "which region?"', 'sent'), ...rounds(8, () => did('chat read', 'no reply yet'))],
  },
  {
    kind: 'polling',
    about: 'waits for a file',
    polling: ['stat'],
    turns: rounds(8, () =>
      failed('stat /data/export.csv', "ENOENT: no such file or directory, stat '/data/export.csv'"),
    ),
  },
  {
    kind: 'polling',
    about: 'sleeps and looks in turns',
    polling: ['sleep', 'gh'],
    turns: rounds(6, () => [did('sleep 30', ''), did('gh run view 9', 'status: in_progress')]),
  },
  {
    kind: 'polling',
    about: 'waits for two services in turns',
    polling: ['health'],
    turns: rounds(6, () => [did('health api', 'starting'), did('health worker', 'starting')]),
  },
  {
    kind: 'polling',
    about: 'waits for a model to be fine-tuned',
    polling: ['tune'],
    turns: rounds(9, (i) => did('tune status ft-2', `running, step ${i * 50} of 900, no checkpoint yet`)),
  },
  {
    kind: 'polling',
    about: 'waits for a replica to catch up',
    polling: ['psql'],
    turns: rounds(8, (i) => did('psql lag', `replica lag ${900 - i} MB`)),
  },
  {
    kind: 'polling',
    about: 'waits for an index, then works on',
    polling: ['index'],
    turns: [
      ...rounds(6, () => did('index state', 'BUILDING')),
      did('index state', 'READY'),
      ...rounds(4, (i) => did(`query q${i}`, `${i * 12} rows in ${i} ms`)),
    ],
  },
];
