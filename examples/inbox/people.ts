import { randomBytes, scryptSync, timingSafeEqual } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

/** Of a password what cannot be turned back into it: salt and scrypt, both hex. */
interface Secret {
  readonly salt: string;
  readonly key: string;
}

const KEY_BYTES = 32;
const NOBODY: Secret = { salt: '00', key: '00'.repeat(KEY_BYTES) };

const peopleIn = (file: string): ReadonlyMap<string, Secret> =>
  new Map(existsSync(file) ? Object.entries(JSON.parse(readFileSync(file, 'utf8')) as object) : []);

/** Whether somebody of this name has this password. Takes as long for a name that nobody has. */
export function isPerson(file: string, name: string, password: string): boolean {
  const known = peopleIn(file).get(name);
  const { salt, key } = known ?? NOBODY;
  const given = scryptSync(password, Buffer.from(salt, 'hex'), KEY_BYTES);
  return timingSafeEqual(given, Buffer.from(key, 'hex')) && known !== undefined;
}

/** Adds somebody, or gives them another password. */
export function addPerson(file: string, name: string, password: string): void {
  const salt = randomBytes(16);
  const secret = { salt: salt.toString('hex'), key: scryptSync(password, salt, KEY_BYTES).toString('hex') };
  const people = new Map([...peopleIn(file), [name, secret]]);
  writeFileSync(file, JSON.stringify(Object.fromEntries(people), null, 2), { mode: 0o600 });
}
