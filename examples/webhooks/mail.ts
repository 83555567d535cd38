// SECRET=… node --import tsx mail.ts 8090 reviewers@example.org    receives webhooks and sends each as an e-mail, once
import { spawn } from 'node:child_process';
import { createServer, type Server } from 'node:http';
import { argv, env } from 'node:process';
import { fileURLToPath } from 'node:url';
import { isGenuine } from './verify.ts';

/** Sends a mail; rejects if it could not. */
export type Mail = (to: string, subject: string, text: string) => Promise<void>;

/** A program that most servers have; use your mail service instead. */
const sendmail: Mail = (to, subject, text) =>
  new Promise((resolve, reject) => {
    const child = spawn('sendmail', ['-t'], { stdio: ['pipe', 'ignore', 'inherit'] });
    child.once('error', reject);
    child.once('close', (code) => (code === 0 ? resolve() : reject(new Error(`sendmail: ${code}`))));
    child.stdin.end(`To: ${to}\nSubject: ${subject}\n\n${text}\n`);
  });

/** Knows each event by its id. A real one keeps the ids where they outlive it. */
export function mailServer(to: string, secret: string, mail: Mail = sendmail): Server {
  const known = new Set<string>();
  return createServer((request, response) => {
    const answer = (status: number) => response.writeHead(status).end();
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      if (!isGenuine(request.headers, body, secret)) return answer(401);
      const { id, type, run, data } = JSON.parse(body);
      if (known.has(id)) return answer(204);
      const subject = `${oneLine(run)}: ${type}`;
      return void mail(to, subject, JSON.stringify(data, null, 2)).then(
        () => answer(known.add(id) && 204),
        () => answer(503), // devs sends it again
      );
    });
  });
}

const oneLine = (text: string): string => String(text).replaceAll(/[\r\n]+/g, ' ');

if (argv[1] === fileURLToPath(import.meta.url)) {
  const [, , port = '8090', to = 'reviewers@example.org'] = argv;
  const { SECRET } = env;
  if (SECRET === undefined) throw new Error('Set SECRET to the secret of the webhook.');
  mailServer(to, SECRET).listen(Number(port), '127.0.0.1');
}
