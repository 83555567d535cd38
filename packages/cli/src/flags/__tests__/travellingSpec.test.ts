import { describe, expect, it } from 'vitest';
import { projectConfigSchema } from '../../config/ProjectConfig.ts';
import { newSpec, type RunSpec, specHere, travellingSpec } from '../runSpec.ts';

const URL = 'https://git.example.org/shop.git';
const config = (repository: string | boolean) => projectConfigSchema.parse({ agents: 'none', repository });
const specOf = (repository: string | boolean): RunSpec =>
  newSpec({}, { cwd: '/project', dir: '/project', config: config(repository) });

describe('a spec that travels', () => {
  it('works for the URL of a repository, or for none', () => {
    expect(travellingSpec(specOf(URL), '/project').repository).toBe(URL);
    expect(travellingSpec(specOf(false), '/project').repository).toBeNull();
  });

  it('names no folder of this machine', () => {
    const local = { ...specOf(false), repository: '/project' };
    expect(() => travellingSpec(local, '/project')).toThrow(/other machines do not have it/);
    const far = { ...specOf(false), agents: 'replay:/elsewhere/calls.jsonl' };
    expect(() => travellingSpec(far, '/project')).toThrow(/other machines do not have it/);
  });

  it('names a recording from the project folder, wherever that is', () => {
    const there = travellingSpec({ ...specOf(false), agents: 'replay:/project/rec/calls.jsonl' }, '/project');
    expect(there.agents).toBe('replay:rec/calls.jsonl');
    expect(specHere(there, '/home/two').agents).toBe('replay:/home/two/rec/calls.jsonl');
    expect(specHere(specOf(false), '/home/two').agents).toBe('none');
  });

  it('takes no URL that starts a program', () => {
    expect(() => config('ext::sh -c touch')).toThrow();
  });
});
