import type { RunWorkspace, Workspace } from '@devs/core';
import { die } from './Ledger.ts';

/** Kills the process before branch and folder follow what is recorded of a rewind. */
export const killingWorkspace = (git: Workspace): Workspace => ({
  dirOf: (id) => git.dirOf(id),
  open: async (id, options) => {
    const folder = await git.open(id, options);
    return new Proxy<RunWorkspace>(folder, {
      get(target, name: keyof RunWorkspace) {
        const member = target[name];
        if (name === 'follow') return die;
        return typeof member === 'function' ? member.bind(target) : member;
      },
    });
  },
});
