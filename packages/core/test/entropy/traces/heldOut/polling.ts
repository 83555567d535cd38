import { did, failed, rounds, said, type Trace, tested } from '../Trace.ts';

export const polling: readonly Trace[] = [
  {
    kind: 'polling',
    about: 'waits for a package to appear in a mirror',
    polling: ['npm-view'],
    turns: [
      did('publish till@1.2.0', 'accepted'),
      ...rounds(8, () => failed('npm-view till@1.2.0', 'E404 no match found for version 1.2.0')),
    ],
  },
  {
    kind: 'polling',
    about: 'waits for a transcription',
    polling: ['transcript'],
    turns: [
      ...rounds(9, () => did('transcript get t-5', 'processing')),
      did('transcript get t-5', 'Good morning and welcome.'),
    ],
  },
  {
    kind: 'polling',
    about: 'waits for a parcel between other questions',
    polling: ['parcel'],
    turns: rounds(5, (i) => [
      did('parcel track 00340', 'In the delivery centre, waiting for the next tour.'),
      did(`faq lookup ${i}`, `Article ${i}: what to do if a parcel of kind ${i} is late.`),
    ]),
  },
  {
    kind: 'polling',
    about: 'waits for a machine to boot',
    polling: ['ssh'],
    turns: [
      ...rounds(7, () => failed('ssh vm-3 true', 'connect to host vm-3 port 22: Connection refused')),
      did('ssh vm-3 true', ''),
    ],
  },
  {
    kind: 'polling',
    about: 'waits for a vote',
    polling: ['vote'],
    turns: rounds(8, (i) => did('vote count', `${Math.floor(i / 3)} of 5 votes cast`)),
  },
  {
    kind: 'polling',
    about: 'waits for a certificate',
    polling: ['acme'],
    turns: rounds(8, () => did('acme order 4', 'status: pending, challenge not yet validated')),
  },
  {
    kind: 'polling',
    about: 'waits for a test farm, then works with its results',
    polling: ['farm'],
    turns: [
      ...rounds(6, () => did('farm result 11', 'devices busy')),
      did('farm result 11', '3 devices failed'),
      did('edit src/touch.ts', 'Updated.', { tree: 'to' }),
      tested('npm test', 17, []),
    ],
  },
  {
    kind: 'polling',
    about: 'waits for a backup, log lines grow',
    polling: ['backup'],
    turns: rounds(8, (i) =>
      did(
        'backup log',
        rounds(i, (n) => did('', `copied shard ${n}`))
          .map(({ output }) => output)
          .join('\n'),
      ),
    ),
  },
  {
    kind: 'polling',
    about: 'waits with two tools and says so',
    polling: ['wait', 'export'],
    turns: rounds(5, () => [did('wait 60', 'waited'), did('export state', 'queued')]),
  },
  {
    kind: 'polling',
    about: 'waits for a rate limit to pass',
    polling: ['quota'],
    turns: rounds(8, (i) => did('quota left', `0 left, resets in ${80 - i * 10} s`)),
  },
  {
    kind: 'polling',
    about: 'waits for a reviewer, writes documentation meanwhile',
    polling: ['pr'],
    turns: rounds(6, (i) => [
      did('pr view 88', 'review required, 0 approvals'),
      did(`write docs/part-${i}.md`, 'saved', { tree: `pd${i}` }),
      said(
        `Part ${i} now explains ${['how to start', 'the options', 'the errors', 'the limits', 'upgrades', 'removal'][i - 1]}.`,
      ),
    ]),
  },
  {
    kind: 'polling',
    about: 'waits for a sensor value',
    polling: ['sensor'],
    turns: rounds(10, (i) => did('sensor read boiler', `${58 + (i % 2)}.0 degrees`)),
  },
  {
    kind: 'polling',
    about: 'waits for a cache to be invalidated',
    polling: ['curl'],
    turns: rounds(7, () => did('curl -I https://cdn.test/app.js', 'x-cache: HIT, age: 3600, etag: "v1"')),
  },
  {
    kind: 'polling',
    about: 'waits for a simulation',
    polling: ['slurm'],
    turns: rounds(9, (i) => did('slurm queue 77', `77 wind R ${i}:00:00 node-4`)),
  },
  {
    kind: 'polling',
    about: 'waits for money to arrive',
    polling: ['bank'],
    turns: [
      did('invoice send 9', 'sent'),
      ...rounds(7, () => did('bank transactions since invoice 9', 'none')),
      did('invoice close 9', 'closed'),
    ],
  },
];
