// The programs of docs/guide/quick-start.md that are not in posts/.
import { app } from './posts/post.ts';

export async function record(): Promise<void> {
  await app.start('post-43', { topic: 'black tea' });
}

export async function work(): Promise<void> {
  await app.work();
}
