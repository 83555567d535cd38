import { app } from './post.ts';

const { status, gates } = await app.run('post-42', { topic: 'green tea' });
console.log(
  status,
  gates.map(({ artifact }) => artifact),
);
app.close();
