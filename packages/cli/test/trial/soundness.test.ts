import { expect, test } from 'vitest';
import { howMany } from '../../../core/test/support/howMany.ts';
import { BY_SPEED } from './combinations.ts';
import { unsound } from './soundness.ts';
import { LOCAL } from './Toolbox.ts';

const WANTED = howMany('DEVS_SOUND_REPOSITORIES', 2);

test.for(BY_SPEED.slice(0, WANTED).map((repository) => [repository.name, repository] as const))(
  'the checks of %s tell right work from wrong',
  async ([, repository]) => {
    expect(await unsound(repository, LOCAL)).toEqual([]);
  },
);
