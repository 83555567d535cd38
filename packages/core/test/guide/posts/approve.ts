import { app } from './post.ts';

for (const gate of await app.gates('post-42'))
  await app.decide(gate, { approved: true, by: { kind: 'human', id: 'ada' } });

const { status, values } = await app.run('post-42');
console.log(status, values?.url);
app.close();
