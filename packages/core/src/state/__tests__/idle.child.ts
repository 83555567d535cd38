// Names itself and stays.
import { localHost, ownerToken } from '../threads/hostIdentity.ts';

process.stdout.write(`${JSON.stringify({ token: ownerToken(localHost()) })}\n`);
process.stdin.resume();
