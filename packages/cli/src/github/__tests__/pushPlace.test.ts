import { describe, expect, test } from 'vitest';
import { pushPlace } from '../pullRequest.ts';

const URL = 'https://github.com/acme/app';

describe('where a run is pushed to', () => {
  test.each([
    ['https://github.com/acme/app.git', 'acme/app'],
    ['https://ada@github.com/acme/app/', 'acme/app'],
    ['ssh://git@ssh.github.com:443/acme/app.git', 'acme/app'],
    ['git@github.com:acme/app', 'acme/app'],
    ['https://git.example.org/acme/app.git', 'git.example.org/acme/app'],
    ['file:///srv/acme/app.git', null],
    ['https://git.example.org/deep/acme/app', null],
  ])('reads the repository of the remote %s', (url, repository) => {
    expect(pushPlace(new Map([['origin', url]]), undefined)).toEqual({ remote: 'origin', url, repository });
  });

  test('is the named remote, else origin, else the only one', () => {
    const remotes = (...names: readonly string[]) => new Map(names.map((name) => [name, `${URL}-${name}`]));
    expect(pushPlace(remotes('fork', 'origin'), undefined).remote).toBe('origin');
    expect(pushPlace(remotes('fork', 'origin'), 'fork').remote).toBe('fork');
    expect(pushPlace(remotes('fork'), undefined).remote).toBe('fork');
    expect(() => pushPlace(remotes('a', 'b'), undefined)).toThrow('It has a, b.');
    expect(() => pushPlace(remotes(), undefined)).toThrow('It has none.');
  });
});
