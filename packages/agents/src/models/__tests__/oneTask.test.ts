import { expect, test } from 'vitest';
import { oneTaskPage } from '../../../test/support/oneTaskPage.ts';

test('docs/internals/one-task.md shows the prompts of a task as they are sent', async () => {
  await expect(oneTaskPage()).toMatchFileSnapshot('../../../../../docs/internals/one-task.md');
});
