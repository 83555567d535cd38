import { expect, test } from 'vitest';
import { LOCAL_REPOSITORIES } from './combinations.ts';
import { unsound } from './soundness.ts';
import { LOCAL } from './Toolbox.ts';

test.for(LOCAL_REPOSITORIES.map((repository) => [repository.name, repository] as const))(
  'the checks of %s tell right work from wrong',
  async ([, repository]) => {
    expect(await unsound(repository, LOCAL)).toEqual([]);
  },
);
